"""Runs one system in a process of its own: requests and replies are JSON lines.

Imports the standard library and one system, so that any interpreter can run it. Times are taken
here, around the system's own work.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import asdict
from importlib import metadata
from pathlib import Path
from typing import Any, TextIO

from bench.data import history_from, parse_date
from bench.systems import ENTRIES, Query, System

Json = dict[str, Any]
STATUS = Path("/proc/self/status")


def main() -> None:
    """Start the system that the arguments name, and answer until there are no more requests."""
    replies = private_stdout()
    name, place = sys.argv[1:]
    try:
        system: System = importlib.import_module(ENTRIES[name].module).start(place)
        reply(replies, {"versions": versions(ENTRIES[name].packages)})
        for line in sys.stdin:
            reply(replies, answer(system, json.loads(line)))
        system.close()
    except Exception as error:  # whatever a peer does wrong is a result of the benchmark
        traceback.print_exc()
        reply(replies, {"error": f"{type(error).__name__}: {error}"})
        sys.exit(1)


def answer(system: System, request: Json) -> Json:
    """Do what is asked, and say how long it took."""
    match request:
        case {"add": row}:
            history = history_from(row)
            return timed(lambda: system.add(history))
        case {"search": {"history": history, "text": text, "date": date}, "limit": limit}:
            query = Query(history, text, parse_date(date))
            return timed(lambda: asdict(system.search(query, limit)))
        case {"embed": text} if system.embed:
            embed = system.embed
            return timed(lambda: embed(text) is None)
        case {"embed": _}:
            return {}
        case {"memory": _}:
            return memory()
    raise ValueError(f"not a request: {sorted(request)}")


def timed(act: Callable[[], Any]) -> Json:
    started = time.perf_counter()
    result = act()
    return {"seconds": time.perf_counter() - started, "result": result}


def memory() -> Json:
    """Megabytes resident now and at most, where the system tells.

    Not getrusage: its maximum includes the process that started this one.
    """
    if not STATUS.exists():
        return {}
    status = STATUS.read_text()

    def megabytes(name: str) -> float:
        return int(status.split(f"{name}:")[1].split()[0]) * 1024 / 1e6

    return {"now": megabytes("VmRSS"), "peak": megabytes("VmHWM")}


def versions(packages: tuple[str, ...]) -> dict[str, str]:
    names = [package.split("[")[0].split("=")[0] for package in packages]
    return {name: metadata.version(name) for name in names}


def private_stdout() -> TextIO:
    """Where replies go; what a system prints goes to standard error instead."""
    private = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    return private


def reply(replies: TextIO, reply: Json) -> None:
    print(json.dumps(reply), file=replies, flush=True)


if __name__ == "__main__":
    main()
