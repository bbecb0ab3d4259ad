"""Answers from a command, such as `claude -p`: question on stdin, answer on stdout."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
import time
from collections.abc import Sequence
from pathlib import PurePath
from typing import IO

from remembrancer.llm import Answer, ModelUnavailable, Question
from remembrancer.llm.json_answer import (
    MAX_ANSWER_SIZE,
    count_tokens,
    parse_object,
    render_question,
)


class CommandModel:
    """Runs the command once per question, without a shell; what it complains of is dropped."""

    def __init__(
        self, command: Sequence[str], *, timeout: float = 120.0, name: str | None = None
    ) -> None:
        if isinstance(command, str) or not command:
            raise ModelUnavailable(
                "The model's command is not a list of words: give it as one, such as "
                '["claude", "-p"].',
                transient=False,
            )
        self._command = list(command)
        self._timeout = timeout
        self._name = name or PurePath(command[0]).name

    @property
    def name(self) -> str:
        return self._name

    def answer(self, question: Question) -> Answer:
        asked = render_question(question)
        said = self._run(asked.encode("utf-8", "replace")).decode("utf-8", "replace")
        return Answer(
            value=parse_object(said, schema=question.schema),
            model=self._name,
            tokens_in=count_tokens(None, asked),
            tokens_out=count_tokens(None, said),
        )

    def close(self) -> None:
        """Nothing is held between questions."""

    def _run(self, asked: bytes) -> bytes:
        deadline = time.monotonic() + self._timeout
        process = _start_process(self._command)
        try:
            said = _communicate(process, asked, deadline)
            if len(said) <= MAX_ANSWER_SIZE and _wait_for_exit(process, deadline) != 0:
                raise ModelUnavailable(
                    "The model's command failed: run it by hand to see why.", transient=True
                )
            return said
        finally:
            _kill_process(process)


def _start_process(command: list[str]) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(  # noqa: S603  the user's own command, from the user's settings
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except (OSError, ValueError):
        raise ModelUnavailable(
            "The model's command could not be started: "
            "check that it is installed, and give its full path.",
            transient=False,
        ) from None


def _communicate(process: subprocess.Popen[bytes], asked: bytes, deadline: float) -> bytes:
    """What the command says, while it is told the question: neither side may wait for the other."""
    assert process.stdin is not None
    assert process.stdout is not None
    said: list[bytes] = []
    teller = threading.Thread(target=_write_stdin, args=(process.stdin, asked), daemon=True)
    hearer = threading.Thread(target=_read_stdout, args=(process.stdout, said), daemon=True)
    teller.start()
    hearer.start()
    hearer.join(max(0.0, deadline - time.monotonic()))
    if hearer.is_alive():
        raise _timeout_error()
    return b"".join(said)


def _write_stdin(stream: IO[bytes], asked: bytes) -> None:
    # A command may answer without having listened to the end.
    with contextlib.suppress(OSError), stream:
        stream.write(asked)


def _read_stdout(stream: IO[bytes], said: list[bytes]) -> None:
    with stream:
        said.append(stream.read(MAX_ANSWER_SIZE + 1))


def _wait_for_exit(process: subprocess.Popen[bytes], deadline: float) -> int:
    try:
        return process.wait(max(0.0, deadline - time.monotonic()))
    except subprocess.TimeoutExpired:
        raise _timeout_error() from None


def _kill_process(process: subprocess.Popen[bytes]) -> None:
    """Kill the command and all it started, unless it has ended by itself."""
    # Until it is waited for, its process id, which is the group's, belongs to no one else.
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _timeout_error() -> ModelUnavailable:
    return ModelUnavailable(
        "The model's command did not answer in time: allow it more seconds.", transient=True
    )
