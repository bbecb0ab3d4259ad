"""Answers from Anthropic's messages protocol, given as the input of a tool that must be called."""

from __future__ import annotations

import json

from remembrancer.llm import Answer, Question
from remembrancer.llm.http import PATIENT, Line, Patience, Reply, refused, sendable
from remembrancer.llm.json_answer import (
    cut_short,
    declined,
    form,
    parsed,
    tokens,
    usage,
    whole,
    words,
)
from remembrancer.types import Json

ANTHROPIC = "https://api.anthropic.com"
VERSION = "2023-06-01"


class AnthropicModel:
    """Forces the tool where the model lets itself be forced, and asks for it where not.

    `timeout` is for one whole answer; a busy server may be asked several times.
    """

    def __init__(
        self,
        model: str,
        *,
        key: str,
        url: str = ANTHROPIC,
        timeout: float = 60.0,
        patience: Patience = PATIENT,
    ) -> None:
        headers = {"x-api-key": sendable(key), "anthropic-version": VERSION}
        address = url.rstrip("/").removesuffix("/v1") + "/v1/messages"
        self._line = Line(address, headers, timeout=timeout, patience=patience)
        self._model = model
        self._forced = True

    @property
    def name(self) -> str:
        return self._model

    def answer(self, question: Question) -> Answer:
        envelope = self._asked(question).json()
        value = _object(envelope, question)
        counts = usage(envelope)
        return Answer(
            value=value,
            model=self._model,
            tokens_in=tokens(counts.get("input_tokens"), whole(question)),
            tokens_out=tokens(counts.get("output_tokens"), json.dumps(value)),
        )

    def close(self) -> None:
        """Nothing is held between questions."""

    def _asked(self, question: Question) -> Reply:
        forced = self._forced
        reply = self._line.post(_request(question, self._model, forced=forced))
        # Models that always think refuse a forced tool, and say so.
        if forced and reply.status == 400 and "tool_choice" in reply.text:
            reply = self._line.post(_request(question, self._model, forced=False))
            self._forced = not reply.good
        if not reply.good:
            raise refused(reply.status)
        return reply


def _request(question: Question, model: str, *, forced: bool) -> dict[str, Json]:
    """Without a temperature, which models since Claude Opus 4.7 refuse."""
    tool: dict[str, Json] = {
        "name": question.name,
        "description": "Give the answer.",
        "input_schema": dict(question.schema),
    }
    return {
        "model": model,
        "max_tokens": question.most_tokens,
        "system": question.system if forced else _insistent(question),
        "messages": [{"role": "user", "content": question.prompt}],
        "tools": [tool],
        "tool_choice": {"type": "tool", "name": question.name} if forced else {"type": "auto"},
    }


def _insistent(question: Question) -> str:
    return (
        f"{question.system}\n\nCall the tool {question.name} once with your answer. "
        f"If you cannot: {form(question)}"
    )


def _object(envelope: Json, question: Question) -> dict[str, Json]:
    match envelope:
        case {"stop_reason": "refusal"}:
            raise declined()
        # The input of a tool that was cut short is an object too, with things missing.
        case {"stop_reason": "max_tokens" | "model_context_window_exceeded"}:
            raise cut_short()
        case {"content": [*blocks]}:
            return _input(blocks, question)
    return parsed("")


def _input(blocks: list[Json], question: Question) -> dict[str, Json]:
    for block in blocks:
        match block:
            case {"type": "tool_use", "input": dict(value)}:
                return value
    return parsed(words(blocks), schema=question.schema)
