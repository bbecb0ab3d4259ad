"""Answers from Anthropic's messages protocol, given as the input of a tool that must be called."""

from __future__ import annotations

import json

from remembrancer.llm import Answer, Question
from remembrancer.llm.http import (
    DEFAULT_RETRY_POLICY,
    Endpoint,
    EndpointResponse,
    RetryPolicy,
    error_for_status,
    validate_key,
)
from remembrancer.llm.json_answer import (
    count_tokens,
    declined_error,
    join_text_parts,
    parse_object,
    read_usage,
    render_question,
    render_schema_instructions,
    truncated_error,
)
from remembrancer.types import Json

ANTHROPIC_URL = "https://api.anthropic.com"
API_VERSION = "2023-06-01"


class AnthropicModel:
    """Forces the tool where the model lets itself be forced, and asks for it where not.

    `timeout` is for one whole answer; a busy server may be asked several times.
    """

    def __init__(
        self,
        model: str,
        *,
        key: str,
        url: str = ANTHROPIC_URL,
        timeout: float = 60.0,
        retry_policy: RetryPolicy = DEFAULT_RETRY_POLICY,
    ) -> None:
        headers = {"x-api-key": validate_key(key), "anthropic-version": API_VERSION}
        address = url.rstrip("/").removesuffix("/v1") + "/v1/messages"
        self._endpoint = Endpoint(address, headers, timeout=timeout, retry_policy=retry_policy)
        self._model = model
        self._forces_tool = True

    @property
    def name(self) -> str:
        return self._model

    def answer(self, question: Question) -> Answer:
        envelope = self._post_question(question).json()
        value = _extract_object(envelope, question)
        counts = read_usage(envelope)
        return Answer(
            value=value,
            model=self._model,
            tokens_in=count_tokens(counts.get("input_tokens"), render_question(question)),
            tokens_out=count_tokens(counts.get("output_tokens"), json.dumps(value)),
        )

    def close(self) -> None:
        """Nothing is held between questions."""

    def _post_question(self, question: Question) -> EndpointResponse:
        forced = self._forces_tool
        reply = self._endpoint.post(_build_request(question, self._model, forced=forced))
        # Models that always think refuse a forced tool, and say so.
        if forced and reply.status == 400 and "tool_choice" in reply.text:
            reply = self._endpoint.post(_build_request(question, self._model, forced=False))
            self._forces_tool = not reply.is_success
        if not reply.is_success:
            raise error_for_status(reply.status)
        return reply


def _build_request(question: Question, model: str, *, forced: bool) -> dict[str, Json]:
    """Without a temperature, which models since Claude Opus 4.7 refuse."""
    tool: dict[str, Json] = {
        "name": question.name,
        "description": "Give the answer.",
        "input_schema": dict(question.schema),
    }
    return {
        "model": model,
        "max_tokens": question.max_tokens,
        "system": question.system if forced else _render_tool_instructions(question),
        "messages": [{"role": "user", "content": question.prompt}],
        "tools": [tool],
        "tool_choice": {"type": "tool", "name": question.name} if forced else {"type": "auto"},
    }


def _render_tool_instructions(question: Question) -> str:
    return (
        f"{question.system}\n\nCall the tool {question.name} once with your answer. "
        f"If you cannot: {render_schema_instructions(question)}"
    )


def _extract_object(envelope: Json, question: Question) -> dict[str, Json]:
    match envelope:
        case {"stop_reason": "refusal"}:
            raise declined_error()
        # The input of a tool that was cut short is an object too, with things missing.
        case {"stop_reason": "max_tokens" | "model_context_window_exceeded"}:
            raise truncated_error()
        case {"content": [*blocks]}:
            return _extract_tool_input(blocks, question)
    return parse_object("")


def _extract_tool_input(blocks: list[Json], question: Question) -> dict[str, Json]:
    for block in blocks:
        match block:
            case {"type": "tool_use", "input": dict(value)}:
                return value
    return parse_object(join_text_parts(blocks), schema=question.schema)
