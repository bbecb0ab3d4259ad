"""A model behind a command such as `claude -p`: question on stdin, answer on stdout."""

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
from remembrancer.llm.chat import ChatPrompt, ReplyStream
from remembrancer.llm.json_answer import (
    MAX_ANSWER_SIZE,
    count_tokens,
    empty_answer_error,
    parse_object,
    render_question,
)
from remembrancer.types import Json

REPLY_SCHEMA: dict[str, Json] = {
    "type": "object",
    "properties": {"answer": {"type": "string"}},
    "required": ["answer"],
}


class CommandModel:
    """Runs the command once per question, without a shell. Ignores what it writes to stderr."""

    def __init__(
        self, command: Sequence[str], *, timeout: float = 120.0, name: str | None = None
    ) -> None:
        if isinstance(command, str) or not command:
            raise ModelUnavailable(
                'The model command is not a list: write it as ["claude", "-p"].',
                transient=False,
            )
        self._command = list(command)
        self._timeout = timeout
        self._name = name or PurePath(command[0]).name

    @property
    def name(self) -> str:
        return self._name

    def answer(self, question: Question) -> Answer:
        text = render_question(question)
        output = self._run(text.encode("utf-8", "replace")).decode("utf-8", "replace")
        return Answer(
            value=parse_object(output, schema=question.schema),
            model=self._name,
            tokens_in=count_tokens(None, text),
            tokens_out=count_tokens(None, output),
        )

    def reply(self, prompt: ChatPrompt) -> ReplyStream:
        """Yield the whole answer in one piece. A command cannot call tools."""
        lines = [f"{message.role}: {message.text}" for message in prompt.history]
        conversation = "\n\n".join([*lines, f"user: {prompt.latest_message}"])
        question = Question(prompt.system, conversation, REPLY_SCHEMA, "reply")
        answer = self.answer(question).value.get("answer")
        if not (isinstance(answer, str) and answer.strip()):
            raise empty_answer_error()
        yield answer

    def close(self) -> None:
        """Nothing is kept open between questions."""

    def _run(self, text: bytes) -> bytes:
        deadline = time.monotonic() + self._timeout
        process = _start_process(self._command)
        try:
            output = _communicate(process, text, deadline)
            if len(output) <= MAX_ANSWER_SIZE and _wait_for_exit(process, deadline) != 0:
                raise ModelUnavailable(
                    "The model command failed: run it by hand to see why.", transient=True
                )
            return output
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
            "The model command could not be started: "
            "check that it is installed, or give its full path.",
            transient=False,
        ) from None


def _communicate(process: subprocess.Popen[bytes], text: bytes, deadline: float) -> bytes:
    """Write the question and read the answer in parallel, so that neither side blocks the other."""
    assert process.stdin is not None
    assert process.stdout is not None
    output: list[bytes] = []
    writer = threading.Thread(target=_write_stdin, args=(process.stdin, text), daemon=True)
    reader = threading.Thread(target=_read_stdout, args=(process.stdout, output), daemon=True)
    writer.start()
    reader.start()
    reader.join(max(0.0, deadline - time.monotonic()))
    if reader.is_alive():
        raise _timeout_error()
    return b"".join(output)


def _write_stdin(stream: IO[bytes], text: bytes) -> None:
    # A command can answer without reading all of its input.
    with contextlib.suppress(OSError), stream:
        stream.write(text)


def _read_stdout(stream: IO[bytes], output: list[bytes]) -> None:
    with stream:
        output.append(stream.read(MAX_ANSWER_SIZE + 1))


def _wait_for_exit(process: subprocess.Popen[bytes], deadline: float) -> int:
    try:
        return process.wait(max(0.0, deadline - time.monotonic()))
    except subprocess.TimeoutExpired:
        raise _timeout_error() from None


def _kill_process(process: subprocess.Popen[bytes]) -> None:
    """Kill the command and all its children, unless it has already exited."""
    # Until it is waited for, its process id, which is also the group's, cannot be reused.
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _timeout_error() -> ModelUnavailable:
    return ModelUnavailable(
        "The model command did not answer in time: raise its timeout_seconds.", transient=True
    )
