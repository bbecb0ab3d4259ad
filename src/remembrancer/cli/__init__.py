"""The `rem` command: each verb parses its arguments, calls one library verb and prints the result.

Heavy modules are imported on first use: `--help` loads no database, and a recall loads the
embedding model while the store is being imported.
"""

from __future__ import annotations

import contextlib
import gc
import io
import os
import sys

_DEFAULT_THRESHOLD = gc.get_threshold()


def main() -> None:
    """Run `rem` and end the process with its exit code."""
    # Most commands end before they create this many objects; collecting garbage earlier would take
    # a sixth of their time.
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
    if sys.argv[1:2] == ["hook"]:  # A coding agent waits for it, so skip the other imports.
        from remembrancer.integrations.hooks.hook import main

        main(sys.argv[2:])
        return
    from remembrancer.cli.app import app

    app()


def restore_default_gc() -> None:
    """Collect garbage as usual, in a command that can run for weeks."""
    gc.set_threshold(*_DEFAULT_THRESHOLD)


def _report_lost_output(error: OSError) -> int:
    """Report that the end of the output is missing, although the command is done."""
    from remembrancer.cli.exit_codes import describe_os_error, exit_code

    lost = describe_os_error(error)
    with contextlib.suppress(OSError):
        print(f"Error: {lost}", file=sys.stderr, flush=True)
    return exit_code(lost)


def _exit_process(code: int) -> None:
    """Exit without tearing down the interpreter: the store is closed, and teardown takes time."""
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except BrokenPipeError:
        code = code or 1
    except OSError as error:
        code = code or _report_lost_output(error)
    os._exit(code)
