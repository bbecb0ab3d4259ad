"""Conversation over Anthropic's messages protocol, with the cache breakpoints marked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from remembrancer.llm import ModelUnavailable
from remembrancer.llm.anthropic import ANTHROPIC, VERSION
from remembrancer.llm.chat import Pieces, Prompt, Step, ToolCall
from remembrancer.llm.http import PATIENT, Line, Patience, refused, sendable
from remembrancer.llm.json_answer import declined, silent
from remembrancer.llm.streaming import TurnedDown, events
from remembrancer.types import Json

MOST_TOKENS = 4096
UP_TO_HERE: dict[str, Json] = {"cache_control": {"type": "ephemeral"}}


class AnthropicChat:
    """Streams answers."""

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

    @property
    def name(self) -> str:
        return self._model

    def reply(self, prompt: Prompt) -> Pieces:
        heard = _Heard()
        try:
            for event in events(self._line, _request(prompt, self._model)):
                if text := heard.take(event):
                    yield text
        except TurnedDown as error:
            raise refused(error.reply.status) from None
        yield from heard.ended()

    def close(self) -> None:
        """Nothing is held between answers."""


@dataclass(slots=True)
class _Heard:
    """What has come so far: whether there was text, and the calls as they grow."""

    spoke: bool = False
    declined: bool = False
    calls: dict[int, list[str]] = field(default_factory=dict)

    def take(self, event: Json) -> str:
        """The text in an event; the rest is kept."""
        match event:
            case {"type": "content_block_start", "index": int(place), "content_block": dict(block)}:
                if block.get("type") == "tool_use":
                    self.calls[place] = [str(block.get("id")), str(block.get("name")), ""]
            case {"type": "content_block_delta", "index": int(place), "delta": dict(delta)}:
                return self._grown(place, delta)
            case {"type": "message_delta", "delta": {"stop_reason": "refusal"}}:
                self.declined = True
            case {"type": "error", "error": {"type": str(kind)}}:
                raise _failed(kind)
        return ""

    def _grown(self, place: int, delta: dict[str, Json]) -> str:
        match delta:
            case {"type": "text_delta", "text": str(text)}:
                self.spoke |= bool(text)
                return text
            case {"type": "input_json_delta", "partial_json": str(part)} if place in self.calls:
                self.calls[place][2] += part
        return ""

    def ended(self) -> Iterator[ToolCall]:
        """The calls, now that they are whole; an answer with nothing in it is none."""
        if not (self.spoke or self.calls):
            raise declined() if self.declined else silent()
        for _, (name, function, arguments) in sorted(self.calls.items()):
            yield ToolCall.read(name, function, arguments)


def _failed(kind: str) -> ModelUnavailable:
    """An error in the middle of an answer, by the status it would have had at its start."""
    return refused({"overloaded_error": 529, "rate_limit_error": 429}.get(kind, 500))


def _request(prompt: Prompt, model: str) -> dict[str, Json]:
    body: dict[str, Json] = {
        "model": model,
        "max_tokens": MOST_TOKENS,
        "stream": True,
        "system": [{"type": "text", "text": prompt.system, **UP_TO_HERE}],
        "messages": _messages(prompt),
    }
    if prompt.offers:
        body["tools"] = [
            {"name": one.name, "description": one.description, "input_schema": dict(one.schema)}
            for one in prompt.offers
        ]
        if not prompt.may_call:
            body["tool_choice"] = {"type": "none"}
    return body


def _messages(prompt: Prompt) -> list[Json]:
    """The history up to its breakpoint, then what is said now with its note."""
    last = len(prompt.history) - 1
    messages: list[Json] = [
        {
            "role": one.role,
            "content": [{"type": "text", "text": one.text, **(UP_TO_HERE if n == last else {})}],
        }
        for n, one in enumerate(prompt.history)
    ]
    said: list[Json] = [
        {"type": "text", "text": text} for text in (prompt.note, prompt.said) if text
    ]
    messages.append({"role": "user", "content": said})
    for step in prompt.steps:
        messages += _step(step)
    return messages


def _step(step: Step) -> list[Json]:
    said: list[Json] = [{"type": "text", "text": step.text}] if step.text.strip() else []
    said += [
        {"type": "tool_use", "id": one.id, "name": one.name, "input": dict(one.arguments or {})}
        for one in step.calls
    ]
    results: list[Json] = [
        {"type": "tool_result", "tool_use_id": call.id, "content": result}
        for call, result in zip(step.calls, step.results, strict=True)
    ]
    return [{"role": "assistant", "content": said}, {"role": "user", "content": results}]
