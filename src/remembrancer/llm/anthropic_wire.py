"""Anthropic's messages protocol: request bodies, and what responses and streams contain."""

from __future__ import annotations

from dataclasses import dataclass

from remembrancer.llm import ModelUnavailable, Question
from remembrancer.llm.chat import ChatPrompt, StreamState, ToolRound
from remembrancer.llm.http import error_for_status
from remembrancer.llm.json_answer import (
    declined_error,
    join_text_parts,
    parse_object,
    render_schema_instructions,
    truncated_error,
)
from remembrancer.types import Json

MAX_REPLY_TOKENS = 4096
CACHE_BREAKPOINT: dict[str, Json] = {"cache_control": {"type": "ephemeral"}}
STATUS_BY_ERROR_TYPE = {"overloaded_error": 529, "rate_limit_error": 429}


def build_question(
    question: Question, model: str, max_tokens: int, *, forced: bool
) -> dict[str, Json]:
    """Has no temperature, because models since Claude Opus 4.7 reject it."""
    tool: dict[str, Json] = {
        "name": question.name,
        "description": "Give the answer.",
        "input_schema": dict(question.schema),
    }
    return {
        "model": model,
        "max_tokens": question.max_tokens or max_tokens,
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


def extract_object(envelope: Json, question: Question) -> dict[str, Json]:
    match envelope:
        case {"stop_reason": "refusal"}:
            raise declined_error()
        # The input of a truncated tool call is a valid object that lacks values.
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


def build_chat(prompt: ChatPrompt, model: str) -> dict[str, Json]:
    body: dict[str, Json] = {
        "model": model,
        "max_tokens": MAX_REPLY_TOKENS,
        "stream": True,
        "system": [{"type": "text", "text": prompt.system, **CACHE_BREAKPOINT}],
        "messages": _build_messages(prompt),
    }
    if prompt.tools:
        body["tools"] = [
            {"name": tool.name, "description": tool.description, "input_schema": dict(tool.schema)}
            for tool in prompt.tools
        ]
        if not prompt.allow_tool_calls:
            body["tool_choice"] = {"type": "none"}
    return body


def _build_messages(prompt: ChatPrompt) -> list[Json]:
    """The history with a cache breakpoint at its end, then the current message with its note."""
    last = len(prompt.history) - 1
    messages: list[Json] = [
        {
            "role": message.role,
            "content": [
                {"type": "text", "text": message.text, **(CACHE_BREAKPOINT if n == last else {})}
            ],
        }
        for n, message in enumerate(prompt.history)
    ]
    current: list[Json] = [
        {"type": "text", "text": text} for text in (prompt.note, prompt.message) if text
    ]
    messages.append({"role": "user", "content": current})
    for tool_round in prompt.tool_rounds:
        messages += _build_round(tool_round)
    return messages


def _build_round(tool_round: ToolRound) -> list[Json]:
    request: list[Json] = (
        [{"type": "text", "text": tool_round.text}] if tool_round.text.strip() else []
    )
    request += [
        {"type": "tool_use", "id": call.id, "name": call.name, "input": dict(call.arguments or {})}
        for call in tool_round.calls
    ]
    results: list[Json] = [
        {"type": "tool_result", "tool_use_id": call.id, "content": result}
        for call, result in zip(tool_round.calls, tool_round.results, strict=True)
    ]
    return [{"role": "assistant", "content": request}, {"role": "user", "content": results}]


@dataclass(slots=True)
class AnthropicStream(StreamState):
    """Collects the events of a streamed answer."""

    def feed(self, event: Json) -> str:
        """Record an event; returns the text in it."""
        match event:
            case {"type": "content_block_start", "index": int(index), "content_block": dict(block)}:
                if block.get("type") == "tool_use":
                    self.calls[index] = [str(block.get("id")), str(block.get("name")), ""]
            case {"type": "content_block_delta", "index": int(index), "delta": dict(delta)}:
                return self._apply_delta(index, delta)
            case {"type": "message_delta", "delta": {"stop_reason": "refusal"}}:
                self.declined = True
            case {"type": "error", "error": {"type": str(error_type)}}:
                raise _error_for_type(error_type)
        return ""

    def _apply_delta(self, index: int, delta: dict[str, Json]) -> str:
        match delta:
            case {"type": "text_delta", "text": str(text)}:
                self.has_text |= bool(text)
                return text
            case {"type": "input_json_delta", "partial_json": str(part)} if index in self.calls:
                self.calls[index][2] += part
        return ""


def _error_for_type(error_type: str) -> ModelUnavailable:
    """An error inside a stream, by the HTTP status it has outside of one."""
    return error_for_status(STATUS_BY_ERROR_TYPE.get(error_type, 500))
