"""OpenAI's chat completions protocol: request bodies, and what responses and streams contain."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Literal

from remembrancer.llm import InvalidModelResponse, Question
from remembrancer.llm.chat import ChatPrompt, StreamState, ToolDefinition, ToolRound
from remembrancer.llm.http import error_for_status
from remembrancer.llm.json_answer import (
    declined_error,
    join_text_parts,
    parse_object,
    render_schema_instructions,
    truncated_error,
)
from remembrancer.types import Json

ResponseFormat = Literal["json_schema", "json_object", "words"]
FALLBACK_FORMATS: dict[ResponseFormat, ResponseFormat] = {
    "json_schema": "json_object",
    "json_object": "words",
}
FORMAT_COMPLAINT_WORDS = ("format", "schema", "json_object", "grammar", "structured", "guided")
THINK_START, THINK_END = "<think>", "</think>"


@dataclass(frozen=True, slots=True)
class Dialect:
    """The parameters in which servers differ; `confirmed` once a server has accepted them."""

    format: ResponseFormat = "json_schema"
    limit: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    temperature: bool = True
    confirmed: bool = False

    def choose_fallback(self, complaint: str) -> Dialect | None:
        """The dialect to try after a rejection; None if the dialect is not the cause."""
        complaint = complaint.lower()
        # OpenAI's reasoning models reject max_tokens and any temperature.
        if "max_completion_tokens" in complaint and self.limit == "max_tokens":
            return replace(self, limit="max_completion_tokens")
        if "temperature" in complaint and self.temperature:
            return replace(self, temperature=False)
        if self.confirmed and not any(word in complaint for word in FORMAT_COMPLAINT_WORDS):
            return None
        fallback = FALLBACK_FORMATS.get(self.format)
        return replace(self, format=fallback) if fallback else None


def build_question(
    question: Question, model: str, dialect: Dialect, max_tokens: int
) -> dict[str, Json]:
    # The schema is in the prompt as well: many servers accept a response_format and ignore it.
    system = f"{question.system}\n\n{render_schema_instructions(question)}"
    body: dict[str, Json] = {
        "model": model,
        "messages": [
            {"role": "system", "content": system},
            {"role": "user", "content": question.prompt},
        ],
        dialect.limit: question.max_tokens or max_tokens,
    }
    if dialect.temperature:
        body["temperature"] = 0
    if dialect.format != "words":
        body["response_format"] = _build_response_format(question, dialect.format)
    return body


def _build_response_format(question: Question, format: ResponseFormat) -> Json:
    if format != "json_schema":
        return {"type": format}
    schema: Json = {"name": question.name, "schema": dict(question.schema), "strict": False}
    return {"type": format, "json_schema": schema}


def extract_text(envelope: Json) -> str:
    match envelope:
        case {"choices": [{"message": {"content": str(text)}}, *_]}:
            return text
        case {"choices": [{"message": {"content": [*parts]}}, *_]}:
            return join_text_parts(parts)
    return ""


def extract_object(text: str, envelope: Json, question: Question) -> dict[str, Json]:
    try:
        return parse_object(text, schema=question.schema)
    except InvalidModelResponse:
        _raise_reason(envelope)
        raise


def _raise_reason(envelope: Json) -> None:
    """Raise a more specific error if the envelope says why there is no object."""
    match envelope:
        # OpenRouter reports errors of its upstream inside a successful response.
        case {"error": {"code": int(status)}} if 400 <= status < 600:
            raise error_for_status(status) from None
        case {"choices": [{"message": {"refusal": str(refusal)}}, *_]} if refusal:
            raise declined_error() from None
        case {"choices": [{"finish_reason": "content_filter"}, *_]}:
            raise declined_error() from None
        case {"choices": [{"finish_reason": "length"}, *_]}:
            raise truncated_error() from None


def build_chat(prompt: ChatPrompt, model: str) -> dict[str, Json]:
    """The system prompt and the history come first, because servers cache a common prefix."""
    messages: list[Json] = [{"role": "system", "content": prompt.system}]
    messages += [{"role": message.role, "content": message.text} for message in prompt.history]
    messages.append({"role": "user", "content": prompt.latest_message})
    for tool_round in prompt.tool_rounds:
        messages += _build_round(tool_round)
    body: dict[str, Json] = {"model": model, "messages": messages, "stream": True}
    if prompt.tools:
        body["tools"] = [_build_tool(tool) for tool in prompt.tools]
        if not prompt.allow_tool_calls:
            body["tool_choice"] = "none"
    return body


def _build_tool(tool: ToolDefinition) -> Json:
    function: Json = {
        "name": tool.name,
        "description": tool.description,
        "parameters": dict(tool.schema),
    }
    return {"type": "function", "function": function}


def _build_round(tool_round: ToolRound) -> list[Json]:
    calls: list[Json] = [
        {
            "id": call.id,
            "type": "function",
            "function": {"name": call.name, "arguments": json.dumps(dict(call.arguments or {}))},
        }
        for call in tool_round.calls
    ]
    request: Json = {"role": "assistant", "content": tool_round.text or None, "tool_calls": calls}
    results: list[Json] = [
        {"role": "tool", "tool_call_id": call.id, "content": result}
        for call, result in zip(tool_round.calls, tool_round.results, strict=True)
    ]
    return [request, *results]


@dataclass(slots=True)
class OpenAIStream(StreamState):
    """Collects the chunks of a streamed answer."""

    def feed(self, chunk: Json) -> str:
        """Record a chunk; returns the text in it."""
        match chunk:
            # Some servers report errors of their upstream inside a successful response.
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
        delta = choice.get("delta") or choice.get("message")
        if not isinstance(delta, dict):
            return ""
        self.declined |= bool(delta.get("refusal"))
        calls = delta.get("tool_calls")
        for position, call in enumerate(calls if isinstance(calls, list) else ()):
            self._extend_call(position, call)
        text = delta.get("content")
        return text if isinstance(text, str) else ""

    def _extend_call(self, position: int, call: Json) -> None:
        if not isinstance(call, dict) or not isinstance(function := call.get("function"), dict):
            return
        index = call.get("index", position)
        collected = self.calls.setdefault(index if isinstance(index, int) else 0, [""] * 3)
        pieces = (call.get("id"), function.get("name"), function.get("arguments"))
        for field_number, piece in enumerate(pieces):
            collected[field_number] += piece if isinstance(piece, str) else ""


@dataclass(slots=True)
class ThinkingFilter:
    """Removes the `<think>` … `</think>` that local servers leave at the start of an answer."""

    buffer: str = ""
    done: bool = False

    def feed(self, text: str) -> str:
        """The text that certainly belongs to the answer."""
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
        """The text that is still buffered at the end, unless it is thinking."""
        return "" if self.done or self.buffer.startswith(THINK_START) else self.buffer
