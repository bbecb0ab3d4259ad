"""Conversation with an endpoint that speaks OpenAI's chat protocol."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

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

THINK_START, THINK_END = "<think>", "</think>"


class OpenAICompatibleChat:
    """Streams answers; does without tools where the server does not know them."""

    def __init__(
        self,
        url: str,
        model: str,
        *,
        key: str | None = None,
        timeout: float = 60.0,
        retry_policy: RetryPolicy = DEFAULT_RETRY_POLICY,
    ) -> None:
        headers = {"Authorization": f"Bearer {validate_key(key)}"} if key else {}
        address = url.rstrip("/") + "/chat/completions"
        self._endpoint = Endpoint(address, headers, timeout=timeout, retry_policy=retry_policy)
        self._model = model
        self._supports_tools = True

    @property
    def name(self) -> str:
        return self._model

    def reply(self, prompt: ChatPrompt) -> ReplyStream:
        if not self._supports_tools:
            prompt = replace(prompt, tools=())
        try:
            yield from self._stream_reply(prompt)
        except Rejected as error:
            about_tools = error.reply.status in (400, 404, 422) and "tool" in error.reply.text
            if not (prompt.tools and about_tools):
                raise error_for_status(error.reply.status) from None
            self._supports_tools = False
            yield from self.reply(prompt)

    def close(self) -> None:
        """Nothing is held between answers."""

    def _stream_reply(self, prompt: ChatPrompt) -> ReplyStream:
        heard, thinking = _StreamState(), _ThinkingFilter()
        for event in stream_events(self._endpoint, _build_request(prompt, self._model)):
            if text := thinking.feed(heard.feed(event)):
                heard.has_text = True
                yield text
        if text := thinking.flush():
            heard.has_text = True
            yield text
        yield from heard.finish()


@dataclass(slots=True)
class _ThinkingFilter:
    """Leaves out what local servers let through before the answer: `<think>` … `</think>`."""

    buffer: str = ""
    done: bool = False

    def feed(self, text: str) -> str:
        """As much as is known to be of the answer."""
        if self.done:
            return text
        self.buffer = (self.buffer + text).lstrip()
        if self.buffer.startswith(THINK_START):
            answer = self.buffer.partition(THINK_END)[2].lstrip()
            self.done = bool(answer)
            return answer
        if THINK_START.startswith(self.buffer):
            return ""
        self.done = True
        return self.buffer

    def flush(self) -> str:
        """What was held back and is no thought, now that all has come."""
        return "" if self.done or self.buffer.startswith(THINK_START) else self.buffer


@dataclass(slots=True)
class _StreamState:
    """What has come so far: whether there was text, and the calls as they grow."""

    has_text: bool = False
    declined: bool = False
    calls: dict[int, list[str]] = field(default_factory=dict)

    def feed(self, event: Json) -> str:
        """The text in an event; the rest is kept."""
        match event:
            # Some report what failed behind them inside a good reply.
            case {"error": {"code": int(status)}} if 400 <= status < 600:
                raise error_for_status(status)
            case {"error": dict()}:
                raise error_for_status(500)
            case {"choices": [dict(choice), *_]}:
                return self._apply_choice(choice)
        return ""

    def _apply_choice(self, choice: dict[str, Json]) -> str:
        self.declined |= choice.get("finish_reason") == "content_filter"
        # A server that does not stream sends the whole message at once.
        said = choice.get("delta") or choice.get("message")
        if not isinstance(said, dict):
            return ""
        self.declined |= bool(said.get("refusal"))
        called = said.get("tool_calls")
        for place, call in enumerate(called if isinstance(called, list) else ()):
            self._extend_call(place, call)
        text = said.get("content")
        return text if isinstance(text, str) else ""

    def _extend_call(self, place: int, call: Json) -> None:
        if not isinstance(call, dict) or not isinstance(function := call.get("function"), dict):
            return
        index = call.get("index", place)
        known = self.calls.setdefault(index if isinstance(index, int) else 0, [""] * 3)
        values = (call.get("id"), function.get("name"), function.get("arguments"))
        for part, value in enumerate(values):
            known[part] += value if isinstance(value, str) else ""

    def finish(self) -> Iterator[ToolCall]:
        """The calls, now that they are whole; an answer with nothing in it is none."""
        if not (self.has_text or self.calls):
            raise declined_error() if self.declined else empty_answer_error()
        for number, (name, function, arguments) in sorted(self.calls.items()):
            yield ToolCall.parse(name or f"call_{number}", function, arguments)


def _build_request(prompt: ChatPrompt, model: str) -> dict[str, Json]:
    """The system's words and the history first, the same each time: such servers cache a prefix."""
    messages: list[Json] = [{"role": "system", "content": prompt.system}]
    messages += [{"role": one.role, "content": one.text} for one in prompt.history]
    messages.append({"role": "user", "content": prompt.latest_message})
    for step in prompt.tool_rounds:
        messages += _build_round_messages(step)
    body: dict[str, Json] = {"model": model, "messages": messages, "stream": True}
    if prompt.tools:
        body["tools"] = [
            {
                "type": "function",
                "function": {
                    "name": one.name,
                    "description": one.description,
                    "parameters": dict(one.schema),
                },
            }
            for one in prompt.tools
        ]
        if not prompt.allow_tool_calls:
            body["tool_choice"] = "none"
    return body


def _build_round_messages(tool_round: ToolRound) -> list[Json]:
    calls: list[Json] = [
        {
            "id": one.id,
            "type": "function",
            "function": {"name": one.name, "arguments": json.dumps(dict(one.arguments or {}))},
        }
        for one in tool_round.calls
    ]
    said: Json = {"role": "assistant", "content": tool_round.text or None, "tool_calls": calls}
    results: list[Json] = [
        {"role": "tool", "tool_call_id": call.id, "content": result}
        for call, result in zip(tool_round.calls, tool_round.results, strict=True)
    ]
    return [said, *results]
