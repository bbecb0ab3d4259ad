"""Scans a directory for traces of an erased person in a process of its own.

A process that closes any handle of a file loses all its POSIX locks on that file. Those of SQLite
keep other processes from deleting the log of a file that is open here.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from remembrancer.errors import StoreUnavailable
from remembrancer.store import trace_scan
from remembrancer.store.contract import ScanResult, TraceTerms
from remembrancer.store.faults import find_limit, translate_os_error

PROGRAM = (
    "import json, sys; sys.path[:] = json.loads(sys.stdin.buffer.readline()); "
    "from remembrancer.store.trace_scan import main; main()"
)


def scan_files(directory: Path, traces: TraceTerms) -> list[ScanResult]:
    """Scan every file below a directory, like `trace_scan.scan_files`."""
    if all(path.suffix == ".zip" for path in trace_scan.walk_files(directory)):
        return trace_scan.scan_files(directory, traces)  # SQLite has none of them open
    match _ask(_find_interpreter(), directory, traces):
        case ["scanned", [*places]]:
            return [ScanResult(*place) for place in places]
        case ["failed", int(number), str(reason), str(path)]:
            raise translate_os_error(Path(path), OSError(number, reason))
        case _:
            raise StoreUnavailable(
                "The scan for what an erasure has left was ended before it was done, so nothing "
                "says that the erasure is complete. Erase again to finish it."
            )


def _ask(interpreter: str, directory: Path, traces: TraceTerms) -> Any:
    """The answer of the process; None if it was killed or is no interpreter.

    The terms go over standard input: everyone on the machine can read the arguments of a process.
    """
    paths = [path for path in sys.path if isinstance(path, str)]
    lines = (paths, [str(directory), traces.ids, traces.words])
    try:
        done = subprocess.run(  # noqa: S603  our own program, in the interpreter of this process
            [interpreter, "-P", "-c", PROGRAM],
            input="".join(f"{json.dumps(line)}\n" for line in lines).encode(),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            check=False,
        )
        return json.loads(done.stdout.splitlines()[-1]) if done.returncode == 0 else None
    except OSError as error:
        raise find_limit(error) or StoreUnavailable(
            f"{interpreter} cannot be started: {error.strerror}. Without it nothing says that the "
            "erasure is complete. Erase again to finish it."
        ) from error
    except (ValueError, IndexError):
        return None


def _find_interpreter() -> str:
    """The interpreter that `multiprocessing` would start too; a frozen program is none."""
    from multiprocessing import spawn

    found = os.fsdecode(spawn.get_executable() or "")
    if not found or (getattr(sys, "frozen", False) and found == sys.executable):
        raise StoreUnavailable(
            "The scan for what an erasure has left needs a Python interpreter, and this program "
            "has none of its own. Name one with multiprocessing.set_executable(), then erase again."
        )
    return found
