"""Runs a program transparently and captures the end of its output.

Exit code, signals and terminal are forwarded.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from remembrancer.errors import InvalidInput

MAX_TAIL_BYTES = 4_000
"""Bytes that are kept of the end of the output."""

CHUNK_BYTES = 65_536
DRAIN_TIMEOUT_SECONDS = 1.0
"""Time for the children of a program to print after it has ended."""


@dataclass(frozen=True, slots=True)
class ProcessResult:
    """The exit code as in a shell, the duration, and the end of the output."""

    exit_code: int
    seconds: float
    output: str


class OutputTail:
    """Keeps the end of the output; safe to use from several threads."""

    def __init__(self) -> None:
        self._kept = b""
        self._lock = threading.Lock()

    def add(self, data: bytes) -> None:
        with self._lock:
            self._kept = (self._kept + data)[-MAX_TAIL_BYTES:]

    def __str__(self) -> str:
        return self._kept.decode("utf-8", "replace")


def run(command: Sequence[str], environment: Mapping[str, str]) -> ProcessResult:
    """Run a program until it ends; raises `InvalidInput` if it cannot be started."""
    tail = OutputTail()
    started = time.monotonic()
    on_terminal = sys.platform != "win32" and sys.stdin.isatty() and sys.stdout.isatty()
    try:
        code = (_run_on_terminal if on_terminal else _run_on_pipes)(command, environment, tail)
    except OSError as error:
        raise InvalidInput(f"{command[0]!r} cannot be run: {error.strerror}.") from error
    return ProcessResult(code if code >= 0 else 128 - code, time.monotonic() - started, str(tail))


def _run_on_pipes(command: Sequence[str], environment: Mapping[str, str], tail: OutputTail) -> int:
    """Run it with our stdin, and copy its output to ours."""
    child = subprocess.Popen(  # noqa: S603 - the user's own command
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert child.stdout is not None
    assert child.stderr is not None
    threads = [
        threading.Thread(target=_copy, args=(stream.fileno(), target, tail), daemon=True)
        for stream, target in ((child.stdout, 1), (child.stderr, 2))
    ]
    with _forward_signals(child):
        for thread in threads:
            thread.start()
        code = child.wait()
    for thread in threads:
        thread.join(DRAIN_TIMEOUT_SECONDS)
    return code


def _copy(source: int, target: int, tail: OutputTail) -> None:
    with suppress(OSError):  # our own reader has closed the pipe
        while data := os.read(source, CHUNK_BYTES):
            tail.add(data)
            _write_all(target, data)
    with suppress(OSError):
        os.close(source)


def _write_all(target: int, data: bytes) -> None:
    while data:
        data = data[os.write(target, data) :]


@contextmanager
def _forward_signals(child: subprocess.Popen[bytes]) -> Iterator[None]:
    """Forward signals to the child; a terminal sends SIGINT to both processes itself."""

    def forward(number: int, _: Any) -> None:
        if number != signal.SIGINT or not sys.stdin.isatty():
            child.send_signal(number)

    names = ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2")
    numbers = [getattr(signal, name) for name in names if hasattr(signal, name)]
    before = {number: signal.signal(number, forward) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


if sys.platform != "win32":

    def _run_on_terminal(
        command: Sequence[str], environment: Mapping[str, str], tail: OutputTail
    ) -> int:
        """Run it on a pseudo-terminal that is relayed to ours."""
        import fcntl
        import pty
        import termios
        import tty

        primary, secondary = pty.openpty()

        def resize(*_: Any) -> None:
            size = fcntl.ioctl(1, termios.TIOCGWINSZ, bytes(8))
            fcntl.ioctl(primary, termios.TIOCSWINSZ, size)

        resize()
        child = subprocess.Popen(  # noqa: S603 - the user's own command
            command,
            env=environment,
            stdin=secondary,
            stdout=secondary,
            stderr=secondary,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # noqa: PLW1509 - no lock
        )
        os.close(secondary)
        before = termios.tcgetattr(0)
        resizing = signal.signal(signal.SIGWINCH, resize)
        try:
            tty.setraw(0)
            with _forward_signals(child):
                _relay_terminal(child, primary, tail)
                return child.wait()
        finally:
            termios.tcsetattr(0, termios.TCSADRAIN, before)
            signal.signal(signal.SIGWINCH, resizing)
            os.close(primary)

    def _relay_terminal(child: subprocess.Popen[bytes], terminal: int, tail: OutputTail) -> None:
        watched = [terminal, 0]
        with suppress(OSError):  # a terminal signals in this way that its other side is closed
            while True:
                ready, _, _ = select.select(watched, [], [], DRAIN_TIMEOUT_SECONDS)
                if not ready and child.poll() is not None:
                    return
                if terminal in ready:
                    data = os.read(terminal, CHUNK_BYTES)
                    tail.add(data)
                    _write_all(1, data)
                if 0 in ready:
                    typed = os.read(0, CHUNK_BYTES)
                    _write_all(terminal, typed)
                    if not typed:
                        watched.remove(0)
