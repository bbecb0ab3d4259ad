"""A command in a terminal."""

from __future__ import annotations

import os
import pty
import subprocess
from collections.abc import Mapping, Sequence


def run_in_terminal(
    command: Sequence[str], typed: bytes, environment: Mapping[str, str]
) -> tuple[int, bytes]:
    """Run a command in a terminal and type into it; its exit code, and what it showed."""
    controller, terminal = pty.openpty()
    with subprocess.Popen(
        command, stdin=terminal, stdout=terminal, stderr=terminal, env=environment
    ) as running:
        os.close(terminal)
        os.write(controller, typed)
        shown = b""
        try:
            while piece := os.read(controller, 65536):
                shown += piece
        except OSError:
            pass
    os.close(controller)
    return running.returncode, shown
