"""The `rem` command. Each verb parses, calls one verb of the library, and says what came of it.

Nothing heavy is imported before it is needed: help costs no database, and a recall loads the
embedding model while the store is still being imported.
"""

from __future__ import annotations

import gc
import io
import os
import sys

_USUAL = gc.get_threshold()


def main() -> None:
    """Run `rem`, and end the process with its exit code."""
    # Most commands end before they have made as many objects; collecting garbage any earlier would
    # take a sixth of their time.
    gc.set_threshold(500_000)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    try:
        _run()
        code = 0
    except KeyboardInterrupt:
        code = 130
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1
    _exit_process(code)


def _run() -> None:
    if sys.argv[1:2] == ["hook"]:  # Somebody waits for each of these: they come before the rest.
        from remembrancer.integrations.hooks.hook import main

        main(sys.argv[2:])
        return
    from remembrancer.cli.app import app

    app()


def restore_default_gc() -> None:
    """Collect garbage as usual, in a command that may run for weeks."""
    gc.set_threshold(*_USUAL)


def _exit_process(code: int) -> None:
    """End at once: the store is closed, and taking the interpreter apart only takes time."""
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except BrokenPipeError:
        code = code or 1
    os._exit(code)
