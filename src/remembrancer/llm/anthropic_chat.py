"""Conversation over Anthropic's messages protocol, with the cache breakpoints marked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from remembrancer.llm import ModelUnavailable
from remembrancer.llm.anthropic import ANTHROPIC_URL, API_VERSION
from remembrancer.llm.chat import ChatPrompt, ReplyStream, ToolCall, ToolRound
from remembrancer.llm.http import (
    DEFAULT_RETRY_POLICY,
    Endpoint,
    RetryPolicy,
    error_for_status,
    validate_key,
)
from remembrancer.llm.json_answer import declined_error, empty_answer_error
from remembrancer.llm.streaming import Rejected, stream_events
from remembrancer.types import Json

MAX_REPLY_TOKENS = 4096
CACHE_BREAKPOINT: dict[str, Json] = {"cache_control": {"type": "ephemeral"}}


class AnthropicChat:
    """Streams answers."""

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

    @property
    def name(self) -> str:
        return self._model

    def reply(self, prompt: ChatPrompt) -> ReplyStream:
        heard = _StreamState()
        try:
            for event in stream_events(self._endpoint, _build_request(prompt, self._model)):
                if text := heard.feed(event):
                    yield text
        except Rejected as error:
            raise error_for_status(error.reply.status) from None
        yield from heard.finish()

    def close(self) -> None:
        """Nothing is held between answers."""


@dataclass(slots=True)
class _StreamState:
    """What has come so far: whether there was text, and the calls as they grow."""

    has_text: bool = False
    declined: bool = False
    calls: dict[int, list[str]] = field(default_factory=dict)

    def feed(self, event: Json) -> str:
        """The text in an event; the rest is kept."""
        match event:
            case {"type": "content_block_start", "index": int(place), "content_block": dict(block)}:
                if block.get("type") == "tool_use":
                    self.calls[place] = [str(block.get("id")), str(block.get("name")), ""]
            case {"type": "content_block_delta", "index": int(place), "delta": dict(delta)}:
                return self._apply_delta(place, delta)
            case {"type": "message_delta", "delta": {"stop_reason": "refusal"}}:
                self.declined = True
            case {"type": "error", "error": {"type": str(kind)}}:
                raise _error_for_type(kind)
        return ""

    def _apply_delta(self, place: int, delta: dict[str, Json]) -> str:
        match delta:
            case {"type": "text_delta", "text": str(text)}:
                self.has_text |= bool(text)
                return text
            case {"type": "input_json_delta", "partial_json": str(part)} if place in self.calls:
                self.calls[place][2] += part
        return ""

    def finish(self) -> Iterator[ToolCall]:
        """The calls, now that they are whole; an answer with nothing in it is none."""
        if not (self.has_text or self.calls):
            raise declined_error() if self.declined else empty_answer_error()
        for _, (name, function, arguments) in sorted(self.calls.items()):
            yield ToolCall.parse(name, function, arguments)


def _error_for_type(kind: str) -> ModelUnavailable:
    """An error in the middle of an answer, by the status it would have had at its start."""
    return error_for_status({"overloaded_error": 529, "rate_limit_error": 429}.get(kind, 500))


def _build_request(prompt: ChatPrompt, model: str) -> dict[str, Json]:
    body: dict[str, Json] = {
        "model": model,
        "max_tokens": MAX_REPLY_TOKENS,
        "stream": True,
        "system": [{"type": "text", "text": prompt.system, **CACHE_BREAKPOINT}],
        "messages": _build_messages(prompt),
    }
    if prompt.tools:
        body["tools"] = [
            {"name": one.name, "description": one.description, "input_schema": dict(one.schema)}
            for one in prompt.tools
        ]
        if not prompt.allow_tool_calls:
            body["tool_choice"] = {"type": "none"}
    return body


def _build_messages(prompt: ChatPrompt) -> list[Json]:
    """The history up to its breakpoint, then what is said now with its note."""
    last = len(prompt.history) - 1
    messages: list[Json] = [
        {
            "role": one.role,
            "content": [
                {"type": "text", "text": one.text, **(CACHE_BREAKPOINT if n == last else {})}
            ],
        }
        for n, one in enumerate(prompt.history)
    ]
    said: list[Json] = [
        {"type": "text", "text": text} for text in (prompt.note, prompt.message) if text
    ]
    messages.append({"role": "user", "content": said})
    for step in prompt.tool_rounds:
        messages += _build_round_messages(step)
    return messages


def _build_round_messages(tool_round: ToolRound) -> list[Json]:
    said: list[Json] = (
        [{"type": "text", "text": tool_round.text}] if tool_round.text.strip() else []
    )
    said += [
        {"type": "tool_use", "id": one.id, "name": one.name, "input": dict(one.arguments or {})}
        for one in tool_round.calls
    ]
    results: list[Json] = [
        {"type": "tool_result", "tool_use_id": call.id, "content": result}
        for call, result in zip(tool_round.calls, tool_round.results, strict=True)
    ]
    return [{"role": "assistant", "content": said}, {"role": "user", "content": results}]
