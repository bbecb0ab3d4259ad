"""The form of an answer: asked for in words, read with distrust; knows no model."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from typing import Any, NoReturn

from remembrancer.llm import ModelMisspoke, Question
from remembrancer.types import Json

LARGEST = 1_000_000
DEEPEST = 100
MOST_TOKENS = 1_000_000_000

OPENING = re.compile(r"[{\[]")
OBJECT = re.compile(r'\{\s*["}]')
# Possessive, and a string may lack its end: every character is then looked at once.
STRING_OR_BRACKET = re.compile(r'"(?:[^"\\]++|\\.)*+"?|[{}\[\]]', re.DOTALL)
UNSTORABLE = re.compile(r"\\u(?:[dD][89a-fA-F]|0000)")
FENCE = "```"


def form(question: Question) -> str:
    """The words that ask for an object of the question's schema."""
    return (
        "Answer with one JSON object and nothing else. "
        f"It must be valid against this JSON schema:\n{json.dumps(dict(question.schema))}"
    )


def whole(question: Question) -> str:
    """All of a question as one text."""
    return f"{question.system}\n\n{question.prompt}\n\n{form(question)}\n"


def tokens(reported: object, text: str) -> int:
    """The tokens that were counted, or about as many as the text has when the count is no count."""
    if type(reported) is int and 0 <= reported < MOST_TOKENS:
        return reported
    return math.ceil(len(text) / 4)


def usage(envelope: Json) -> dict[str, Json]:
    """The counts that a protocol's envelope reports, if it does."""
    match envelope:
        case {"usage": dict(counts)}:
            return counts
    return {}


def words(parts: list[Json]) -> str:
    """The text among the parts of a message."""
    return "".join(_words(part) for part in parts)


def cut_short() -> ModelMisspoke:
    """The model ran out of tokens before it had finished."""
    return ModelMisspoke(
        "The model's answer was cut short: allow more tokens, or ask about less at a time."
    )


def silent() -> ModelMisspoke:
    """The model said nothing at all."""
    return ModelMisspoke("The model answered with nothing: try again, or try another model.")


def declined() -> ModelMisspoke:
    """The model would not answer."""
    return ModelMisspoke("The model declined to answer: rephrase it, or try another model.")


def parsed(text: str, *, schema: Mapping[str, Json] | None = None) -> dict[str, Json]:
    """The object a text is, or holds in a fenced block, or among its words; in linear time.

    The schema that was asked for is passed over: models like to repeat it before they answer.
    """
    if len(text) > LARGEST:
        raise ModelMisspoke(
            "The model answered with more than 1 MB: ask for less at a time, or try another model."
        )
    if not text.strip():
        raise silent()
    for candidate in _candidates(text.strip("\ufeff \t\r\n")):
        found = _loaded_or_none(candidate)
        if isinstance(found, dict) and not (schema and found == schema):
            return found
    raise ModelMisspoke(
        "The model did not answer with a JSON object: "
        "try again, or choose a model that can follow a schema."
    )


def loaded(text: str) -> Json:
    """JSON of finite numbers, limited depth and valid Unicode; ValueError for any other."""
    if _depth(text) > DEEPEST:
        raise ValueError("nested too deeply")
    value: Json = json.loads(
        text, parse_constant=_refused, parse_float=_finite, parse_int=_countable
    )
    # A lone surrogate or a NUL can be escaped in JSON, and then neither be stored nor sent.
    return _encodable(value) if UNSTORABLE.search(text) else value


def _candidates(text: str) -> Iterator[str]:
    """What might be the object, most likely first; never a part of something larger.

    Part of an answer that was cut short, or of a list, would say something else than the answer.
    """
    yield text
    spoken = _spoken(text)
    yield from _fenced(spoken)
    yield from _balanced(spoken)


def _spoken(text: str) -> str:
    """What follows the thinking that local servers leave in the answer."""
    if text.startswith("<think>"):
        text = text.partition("</think>")[2]
    # Some leave the end only. At the start of a line it is not within a JSON string.
    return text.rpartition("\n</think>")[2]


def _fenced(text: str) -> Iterator[str]:
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


def _balanced(text: str) -> Iterator[str]:
    """The outermost {…} and […] of a text, up to one that is never closed."""
    opening = OPENING.search(text)
    while opening is not None:
        end = _end(text, opening.start())
        if end is None:
            return
        yield text[opening.start() : end]
        opening = OPENING.search(text, end)


def _end(text: str, start: int) -> int | None:
    depth = 0
    for mark in STRING_OR_BRACKET.finditer(text, start):
        depth += _step(mark[0])
        if depth == 0:
            return mark.end()
    return None


def _depth(text: str) -> int:
    depth = deepest = 0
    for mark in STRING_OR_BRACKET.finditer(text):
        depth += _step(mark[0])
        deepest = max(deepest, depth)
    return deepest


def _step(mark: str) -> int:
    if mark in "{[":
        return 1
    return -1 if mark in "}]" else 0


def _loaded_or_none(text: str) -> Json:
    if not OBJECT.match(text):
        return None
    try:
        return loaded(text)
    except ValueError:
        return None


def _words(part: Json) -> str:
    match part:
        case {"type": "text", "text": str(text)}:
            return text
    return ""


def _refused(constant: str) -> NoReturn:
    raise ValueError(constant)


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError("no float is that large")
    return number


def _countable(digits: str) -> int:
    _finite(digits)
    return int(digits)


def _encodable(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8").replace("\x00", "\ufffd")
    if isinstance(value, list):
        return [_encodable(item) for item in value]
    if isinstance(value, dict):
        return {_encodable(key): _encodable(item) for key, item in value.items()}
    return value
