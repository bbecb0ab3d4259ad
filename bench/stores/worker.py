"""Runs one store in a process of its own: requests and replies are JSON lines.

Imports the standard library and one store, so that any interpreter can run it.
"""

from __future__ import annotations

import importlib
import json
import sys
import traceback
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from bench.stores import NoteStore
from bench.systems import ENTRIES
from bench.systems.worker import private_stdout, reply, versions

Json = dict[str, Any]


def main() -> None:
    """Start the store that the arguments name, and answer until there are no more requests."""
    replies = private_stdout()
    name, place = sys.argv[1:]
    try:
        module = importlib.import_module(f"bench.stores.{name.replace('-', '_')}")
        store: NoteStore = module.start(place)
        reply(replies, {"versions": versions(ENTRIES[name].packages)})
        for line in sys.stdin:
            reply(replies, {"result": answer(store, json.loads(line))})
        store.close()
    except Exception as error:  # whatever a product does wrong is a result of the benchmark
        traceback.print_exc()
        reply(replies, {"error": f"{type(error).__name__}: {error}"})
        sys.exit(1)


def answer(store: NoteStore, request: Json) -> Any:
    """Do what is asked; a refused write is counted, anything else that fails is an error."""
    match request:
        case {"write": texts, "threads": threads}:
            return write_all(store, texts, threads)
        case {"write_untrusted": text}:
            return store.write_untrusted(text)
        case {"texts": _}:
            return store.texts()
        case {"search": query}:
            return store.search(query)
        case {"delete_all": _}:
            return store.delete_all()
        case {"purge": _}:
            return store.purge()
    raise ValueError(f"not a request: {sorted(request)}")


def write_all(store: NoteStore, texts: list[str], threads: int) -> Json:
    """Write each text; say which were acknowledged and why the others were not."""
    acknowledged, errors = [], []

    def write(text: str) -> None:
        try:
            store.write(text)
            acknowledged.append(text)
        except Exception as error:
            errors.append(f"{type(error).__name__}: {error}")

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(write, texts))
    return {"acknowledged": acknowledged, "errors": errors}


if __name__ == "__main__":
    main()
