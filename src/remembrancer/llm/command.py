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
from remembrancer.llm.json_answer import LARGEST, parsed, tokens, whole


class CommandModel:
    """Runs the command once per question, without a shell; what it complains of is dropped."""

    def __init__(
        self, command: Sequence[str], *, timeout: float = 120.0, name: str | None = None
    ) -> None:
        if isinstance(command, str) or not command:
            raise ModelUnavailable(
                "The model's command is not a list of words: give it as one, such as "
                '["claude", "-p"].',
                passing=False,
            )
        self._command = list(command)
        self._timeout = timeout
        self._name = name or PurePath(command[0]).name

    @property
    def name(self) -> str:
        return self._name

    def answer(self, question: Question) -> Answer:
        asked = whole(question)
        said = self._run(asked.encode("utf-8", "replace")).decode("utf-8", "replace")
        return Answer(
            value=parsed(said, schema=question.schema),
            model=self._name,
            tokens_in=tokens(None, asked),
            tokens_out=tokens(None, said),
        )

    def close(self) -> None:
        """Nothing is held between questions."""

    def _run(self, asked: bytes) -> bytes:
        deadline = time.monotonic() + self._timeout
        process = _started(self._command)
        try:
            said = _conversation(process, asked, deadline)
            if len(said) <= LARGEST and _status(process, deadline) != 0:
                raise ModelUnavailable(
                    "The model's command failed: run it by hand to see why.", passing=True
                )
            return said
        finally:
            _end(process)


def _started(command: list[str]) -> subprocess.Popen[bytes]:
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
            passing=False,
        ) from None


def _conversation(process: subprocess.Popen[bytes], asked: bytes, deadline: float) -> bytes:
    """What the command says, while it is told the question: neither side may wait for the other."""
    assert process.stdin is not None
    assert process.stdout is not None
    said: list[bytes] = []
    teller = threading.Thread(target=_tell, args=(process.stdin, asked), daemon=True)
    hearer = threading.Thread(target=_hear, args=(process.stdout, said), daemon=True)
    teller.start()
    hearer.start()
    hearer.join(max(0.0, deadline - time.monotonic()))
    if hearer.is_alive():
        raise _late()
    return b"".join(said)


def _tell(stream: IO[bytes], asked: bytes) -> None:
    # A command may answer without having listened to the end.
    with contextlib.suppress(OSError), stream:
        stream.write(asked)


def _hear(stream: IO[bytes], said: list[bytes]) -> None:
    with stream:
        said.append(stream.read(LARGEST + 1))


def _status(process: subprocess.Popen[bytes], deadline: float) -> int:
    try:
        return process.wait(max(0.0, deadline - time.monotonic()))
    except subprocess.TimeoutExpired:
        raise _late() from None


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill the command and all it started, unless it has ended by itself."""
    # Until it is waited for, its process id, which is the group's, belongs to no one else.
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _late() -> ModelUnavailable:
    return ModelUnavailable(
        "The model's command did not answer in time: allow it more seconds.", passing=True
    )
