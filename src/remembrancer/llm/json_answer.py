"""Asks a model for a JSON object and parses its answer, which can be malformed or hostile."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from typing import Any, NoReturn

from remembrancer.llm import InvalidModelResponse, Question, TruncatedAnswer
from remembrancer.types import Json

MAX_ANSWER_SIZE = 1_000_000
MAX_JSON_DEPTH = 100
MAX_TOKEN_COUNT = 1_000_000_000

OPENING_BRACKET_PATTERN = re.compile(r"[{\[]")
OBJECT_START_PATTERN = re.compile(r'\{\s*["}]')
# Possessive, and the closing quote is optional, so that each character is read only once.
STRING_OR_BRACKET_PATTERN = re.compile(r'"(?:[^"\\]++|\\.)*+"?|[{}\[\]]', re.DOTALL)
UNSTORABLE_ESCAPE_PATTERN = re.compile(r"\\u(?:[dD][89a-fA-F]|0000)")
FENCE = "```"


def render_schema_instructions(question: Question) -> str:
    """The part of the prompt that asks for an object of the question's schema."""
    return (
        "Answer with one JSON object and nothing else. "
        f"It must be valid against this JSON schema:\n{json.dumps(dict(question.schema))}"
    )


def render_question(question: Question) -> str:
    """The question as a single prompt, for models that take one text and for token counts."""
    return f"{question.system}\n\n{question.prompt}\n\n{render_schema_instructions(question)}\n"


def count_tokens(reported: object, text: str) -> int:
    """The reported token count, or an estimate from the text if the report is not a count."""
    if type(reported) is int and 0 <= reported < MAX_TOKEN_COUNT:
        return reported
    return math.ceil(len(text) / 4)


def read_usage(envelope: Json) -> dict[str, Json]:
    """The token counts in a response; empty if it has none."""
    match envelope:
        case {"usage": dict(counts)}:
            return counts
    return {}


def join_text_parts(parts: list[Json]) -> str:
    return "".join(_part_text(part) for part in parts)


def truncated_error() -> TruncatedAnswer:
    return TruncatedAnswer(
        "The model's answer was cut off: raise its max_tokens, or ask about less at a time."
    )


def empty_answer_error() -> InvalidModelResponse:
    return InvalidModelResponse("The model gave an empty answer: try again, or try another model.")


def declined_error() -> InvalidModelResponse:
    return InvalidModelResponse("The model declined to answer: rephrase it, or try another model.")


def parse_object(text: str, *, schema: Mapping[str, Json] | None = None) -> dict[str, Json]:
    """The JSON object in a text: the whole text, a fenced block or part of the prose.

    Takes linear time. Skips a copy of the schema, which models like to repeat before they answer.
    """
    if len(text) > MAX_ANSWER_SIZE:
        raise InvalidModelResponse(
            "The model sent more than 1 MB: ask for less at a time, or try another model."
        )
    if not text.strip():
        raise empty_answer_error()
    for candidate in _candidates(text.strip("\ufeff \t\r\n")):
        found = _parse_or_none(candidate)
        if isinstance(found, dict) and not (schema and found == schema):
            return found
    raise InvalidModelResponse(
        "The model did not answer with a JSON object: "
        "try again, or use a model that can follow a schema."
    )


def parse_json(text: str) -> Json:
    """Parse JSON with finite numbers, limited depth and valid Unicode; ValueError otherwise."""
    if _max_depth(text) > MAX_JSON_DEPTH:
        raise ValueError("nested too deeply")
    value: Json = json.loads(
        text, parse_constant=_reject_constant, parse_float=_parse_finite, parse_int=_parse_integer
    )
    # JSON can escape a lone surrogate or a NUL, which can be neither stored nor sent.
    return _replace_unencodable(value) if UNSTORABLE_ESCAPE_PATTERN.search(text) else value


def _candidates(text: str) -> Iterator[str]:
    """The parts that can be the object, most likely first; never a part of a larger value.

    A part of a truncated answer or of a list means something else than the whole.
    """
    yield text
    answer = _strip_thinking(text)
    yield from _iter_fenced_blocks(answer)
    yield from _iter_balanced_blocks(answer)


def _strip_thinking(text: str) -> str:
    """The text after the thinking that local servers leave in an answer."""
    if text.startswith("<think>"):
        text = text.partition("</think>")[2]
    # Some leave only the end tag. At the start of a line it is not inside a JSON string.
    return text.rpartition("\n</think>")[2]


def _iter_fenced_blocks(text: str) -> Iterator[str]:
    """The contents of fenced blocks that are marked as JSON or not marked at all."""
    opening = text.find(FENCE)
    while opening >= 0:
        start = text.find("\n", opening)
        end = text.find(FENCE, max(start, opening + len(FENCE)))
        if start < 0 or end < 0:
            return
        if text[opening + len(FENCE) : start].strip().lower() in ("", "json"):
            yield text[start:end].strip()
        opening = text.find(FENCE, end + len(FENCE))


def _iter_balanced_blocks(text: str) -> Iterator[str]:
    """The outermost {…} and […] of a text, up to the first that is not closed."""
    opening = OPENING_BRACKET_PATTERN.search(text)
    while opening is not None:
        end = _find_end(text, opening.start())
        if end is None:
            return
        yield text[opening.start() : end]
        opening = OPENING_BRACKET_PATTERN.search(text, end)


def _find_end(text: str, start: int) -> int | None:
    depth = 0
    for mark in STRING_OR_BRACKET_PATTERN.finditer(text, start):
        depth += _depth_change(mark[0])
        if depth == 0:
            return mark.end()
    return None


def _max_depth(text: str) -> int:
    depth = deepest = 0
    for mark in STRING_OR_BRACKET_PATTERN.finditer(text):
        depth += _depth_change(mark[0])
        deepest = max(deepest, depth)
    return deepest


def _depth_change(bracket: str) -> int:
    if bracket in "{[":
        return 1
    return -1 if bracket in "}]" else 0


def _parse_or_none(text: str) -> Json:
    if not OBJECT_START_PATTERN.match(text):
        return None
    try:
        return parse_json(text)
    except ValueError:
        return None


def _part_text(part: Json) -> str:
    match part:
        case {"type": "text", "text": str(text)}:
            return text
    return ""


def _reject_constant(constant: str) -> NoReturn:
    raise ValueError(constant)


def _parse_finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError("too large for a float")
    return number


def _parse_integer(digits: str) -> int:
    _parse_finite(digits)
    return int(digits)


def _replace_unencodable(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8").replace("\x00", "\ufffd")
    if isinstance(value, list):
        return [_replace_unencodable(item) for item in value]
    if isinstance(value, dict):
        return {
            _replace_unencodable(key): _replace_unencodable(item) for key, item in value.items()
        }
    return value
