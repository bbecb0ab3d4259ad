"""Conversation with an endpoint that speaks OpenAI's chat protocol."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from remembrancer.llm.chat import Pieces, Prompt, Step, ToolCall
from remembrancer.llm.http import PATIENT, Line, Patience, refused, sendable
from remembrancer.llm.json_answer import declined, silent
from remembrancer.llm.streaming import TurnedDown, events
from remembrancer.types import Json

THINK, THOUGHT = "<think>", "</think>"


class OpenAICompatibleChat:
    """Streams answers; does without tools where the server does not know them."""

    def __init__(
        self,
        url: str,
        model: str,
        *,
        key: str | None = None,
        timeout: float = 60.0,
        patience: Patience = PATIENT,
    ) -> None:
        headers = {"Authorization": f"Bearer {sendable(key)}"} if key else {}
        address = url.rstrip("/") + "/chat/completions"
        self._line = Line(address, headers, timeout=timeout, patience=patience)
        self._model = model
        self._takes_tools = True

    @property
    def name(self) -> str:
        return self._model

    def reply(self, prompt: Prompt) -> Pieces:
        if not self._takes_tools:
            prompt = replace(prompt, offers=())
        try:
            yield from self._streamed(prompt)
        except TurnedDown as error:
            about_tools = error.reply.status in (400, 404, 422) and "tool" in error.reply.text
            if not (prompt.offers and about_tools):
                raise refused(error.reply.status) from None
            self._takes_tools = False
            yield from self.reply(prompt)

    def close(self) -> None:
        """Nothing is held between answers."""

    def _streamed(self, prompt: Prompt) -> Pieces:
        heard, thinking = _Heard(), _Thinking()
        for event in events(self._line, _request(prompt, self._model)):
            if text := thinking.without(heard.take(event)):
                heard.spoke = True
                yield text
        if text := thinking.left():
            heard.spoke = True
            yield text
        yield from heard.ended()


@dataclass(slots=True)
class _Thinking:
    """Leaves out what local servers let through before the answer: `<think>` … `</think>`."""

    held: str = ""
    over: bool = False

    def without(self, text: str) -> str:
        """As much as is known to be of the answer."""
        if self.over:
            return text
        self.held = (self.held + text).lstrip()
        if self.held.startswith(THINK):
            answer = self.held.partition(THOUGHT)[2].lstrip()
            self.over = bool(answer)
            return answer
        if THINK.startswith(self.held):
            return ""
        self.over = True
        return self.held

    def left(self) -> str:
        """What was held back and is no thought, now that all has come."""
        return "" if self.over or self.held.startswith(THINK) else self.held


@dataclass(slots=True)
class _Heard:
    """What has come so far: whether there was text, and the calls as they grow."""

    spoke: bool = False
    refused: bool = False
    calls: dict[int, list[str]] = field(default_factory=dict)

    def take(self, event: Json) -> str:
        """The text in an event; the rest is kept."""
        match event:
            # Some report what failed behind them inside a good reply.
            case {"error": {"code": int(status)}} if 400 <= status < 600:
                raise refused(status)
            case {"error": dict()}:
                raise refused(500)
            case {"choices": [dict(choice), *_]}:
                return self._said(choice)
        return ""

    def _said(self, choice: dict[str, Json]) -> str:
        self.refused |= choice.get("finish_reason") == "content_filter"
        # A server that does not stream sends the whole message at once.
        said = choice.get("delta") or choice.get("message")
        if not isinstance(said, dict):
            return ""
        self.refused |= bool(said.get("refusal"))
        called = said.get("tool_calls")
        for place, call in enumerate(called if isinstance(called, list) else ()):
            self._grow(place, call)
        text = said.get("content")
        return text if isinstance(text, str) else ""

    def _grow(self, place: int, call: Json) -> None:
        if not isinstance(call, dict) or not isinstance(function := call.get("function"), dict):
            return
        index = call.get("index", place)
        known = self.calls.setdefault(index if isinstance(index, int) else 0, [""] * 3)
        values = (call.get("id"), function.get("name"), function.get("arguments"))
        for part, value in enumerate(values):
            known[part] += value if isinstance(value, str) else ""

    def ended(self) -> Iterator[ToolCall]:
        """The calls, now that they are whole; an answer with nothing in it is none."""
        if not (self.spoke or self.calls):
            raise declined() if self.refused else silent()
        for number, (name, function, arguments) in sorted(self.calls.items()):
            yield ToolCall.read(name or f"call_{number}", function, arguments)


def _request(prompt: Prompt, model: str) -> dict[str, Json]:
    """The system's words and the history first, the same each time: such servers cache a prefix."""
    messages: list[Json] = [{"role": "system", "content": prompt.system}]
    messages += [{"role": one.role, "content": one.text} for one in prompt.history]
    messages.append({"role": "user", "content": prompt.latest})
    for step in prompt.steps:
        messages += _step(step)
    body: dict[str, Json] = {"model": model, "messages": messages, "stream": True}
    if prompt.offers:
        body["tools"] = [
            {
                "type": "function",
                "function": {
                    "name": one.name,
                    "description": one.description,
                    "parameters": dict(one.schema),
                },
            }
            for one in prompt.offers
        ]
        if not prompt.may_call:
            body["tool_choice"] = "none"
    return body


def _step(step: Step) -> list[Json]:
    calls: list[Json] = [
        {
            "id": one.id,
            "type": "function",
            "function": {"name": one.name, "arguments": json.dumps(dict(one.arguments or {}))},
        }
        for one in step.calls
    ]
    said: Json = {"role": "assistant", "content": step.text or None, "tool_calls": calls}
    results: list[Json] = [
        {"role": "tool", "tool_call_id": call.id, "content": result}
        for call, result in zip(step.calls, step.results, strict=True)
    ]
    return [said, *results]
