"""The form of an answer: asked for in words, read with distrust; knows no model."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from typing import Any, NoReturn

from remembrancer.llm import InvalidModelResponse, Question
from remembrancer.types import Json

MAX_ANSWER_SIZE = 1_000_000
MAX_JSON_DEPTH = 100
MAX_TOKEN_COUNT = 1_000_000_000

OPENING_BRACKET_PATTERN = re.compile(r"[{\[]")
OBJECT_START_PATTERN = re.compile(r'\{\s*["}]')
# Possessive, and a string may lack its end: every character is then looked at once.
STRING_OR_BRACKET_PATTERN = re.compile(r'"(?:[^"\\]++|\\.)*+"?|[{}\[\]]', re.DOTALL)
UNSTORABLE_ESCAPE_PATTERN = re.compile(r"\\u(?:[dD][89a-fA-F]|0000)")
FENCE = "```"


def render_schema_instructions(question: Question) -> str:
    """The words that ask for an object of the question's schema."""
    return (
        "Answer with one JSON object and nothing else. "
        f"It must be valid against this JSON schema:\n{json.dumps(dict(question.schema))}"
    )


def render_question(question: Question) -> str:
    """All of a question as one text."""
    return f"{question.system}\n\n{question.prompt}\n\n{render_schema_instructions(question)}\n"


def count_tokens(reported: object, text: str) -> int:
    """The tokens that were counted, or about as many as the text has when the count is no count."""
    if type(reported) is int and 0 <= reported < MAX_TOKEN_COUNT:
        return reported
    return math.ceil(len(text) / 4)


def read_usage(envelope: Json) -> dict[str, Json]:
    """The counts that a protocol's envelope reports, if it does."""
    match envelope:
        case {"usage": dict(counts)}:
            return counts
    return {}


def join_text_parts(parts: list[Json]) -> str:
    """The text among the parts of a message."""
    return "".join(_part_text(part) for part in parts)


def truncated_error() -> InvalidModelResponse:
    """The model ran out of tokens before it had finished."""
    return InvalidModelResponse(
        "The model's answer was cut short: allow more tokens, or ask about less at a time."
    )


def empty_answer_error() -> InvalidModelResponse:
    """The model said nothing at all."""
    return InvalidModelResponse("The model answered with nothing: try again, or try another model.")


def declined_error() -> InvalidModelResponse:
    """The model would not answer."""
    return InvalidModelResponse("The model declined to answer: rephrase it, or try another model.")


def parse_object(text: str, *, schema: Mapping[str, Json] | None = None) -> dict[str, Json]:
    """The object a text is, or holds in a fenced block, or among its words; in linear time.

    The schema that was asked for is passed over: models like to repeat it before they answer.
    """
    if len(text) > MAX_ANSWER_SIZE:
        raise InvalidModelResponse(
            "The model answered with more than 1 MB: ask for less at a time, or try another model."
        )
    if not text.strip():
        raise empty_answer_error()
    for candidate in _candidates(text.strip("\ufeff \t\r\n")):
        found = _parse_or_none(candidate)
        if isinstance(found, dict) and not (schema and found == schema):
            return found
    raise InvalidModelResponse(
        "The model did not answer with a JSON object: "
        "try again, or choose a model that can follow a schema."
    )


def parse_json(text: str) -> Json:
    """JSON of finite numbers, limited depth and valid Unicode; ValueError for any other."""
    if _max_depth(text) > MAX_JSON_DEPTH:
        raise ValueError("nested too deeply")
    value: Json = json.loads(
        text, parse_constant=_reject_constant, parse_float=_parse_finite, parse_int=_parse_integer
    )
    # A lone surrogate or a NUL can be escaped in JSON, and then neither be stored nor sent.
    return _replace_unencodable(value) if UNSTORABLE_ESCAPE_PATTERN.search(text) else value


def _candidates(text: str) -> Iterator[str]:
    """What might be the object, most likely first; never a part of something larger.

    Part of an answer that was cut short, or of a list, would say something else than the answer.
    """
    yield text
    spoken = _strip_thinking(text)
    yield from _iter_fenced_blocks(spoken)
    yield from _iter_balanced_blocks(spoken)


def _strip_thinking(text: str) -> str:
    """What follows the thinking that local servers leave in the answer."""
    if text.startswith("<think>"):
        text = text.partition("</think>")[2]
    # Some leave the end only. At the start of a line it is not within a JSON string.
    return text.rpartition("\n</think>")[2]


def _iter_fenced_blocks(text: str) -> Iterator[str]:
    """The contents of blocks fenced as JSON or as nothing in particular."""
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
    """The outermost {…} and […] of a text, up to one that is never closed."""
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
        raise ValueError("no float is that large")
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
