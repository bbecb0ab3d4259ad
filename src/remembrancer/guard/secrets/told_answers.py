"""Finds the answer to a security question where one is spoken of."""

from __future__ import annotations

from functools import cache
from typing import Any

from remembrancer.guard.patterns import compile_pattern
from remembrancer.guard.secrets.ascii_view import Span, group_span
from remembrancer.guard.secrets.mentions import NamedSecret
from remembrancer.guard.secrets.plain_words import is_function_word, is_predicate
from remembrancer.guard.secrets.wording import pattern_of

ANSWER_WINDOW = 160
_MAX_WORDS = 4


@cache
def _answers() -> Any:
    link = rf"[^\n:,;.!\xff]{{0,60}}?(?:[ ]{pattern_of('links')}[ ]|[ ]?[:=?][ ]*)"
    return compile_pattern(
        rf"(?i)\b{pattern_of('answers')}\b(?:{link}|[ ])"
        r"[\"'`]?([A-Za-z0-9?][^\n.,;:!\"'`()\xff]{2,60})"
    )


def read_answers(data: bytes, question: NamedSecret) -> list[Span]:
    """The answers on the line of a security question that is spoken of."""
    start = data.rfind(b"\n", max(0, question.start - ANSWER_WINDOW), question.start) + 1
    start = max(start, question.start - ANSWER_WINDOW)
    end = data.find(b"\n", question.end, question.end + ANSWER_WINDOW)
    end = question.end + ANSWER_WINDOW if end < 0 else end
    spans = []
    for match in _answers().finditer(data, start, end):
        beside = match[0][: match.start(1) - match.start()]
        if length := _count_answer(match[1].decode("latin-1"), beside):
            spans.append(Span(match.start(1), match.start(1) + length, "security-answer"))
    return spans


@cache
def _chosen_answers() -> Any:
    """`for the question about my first pet I put …`, `bei der Frage nach … habe ich … genommen`."""
    question = rf"{pattern_of('questions')}\b[^\n.;!\xff]{{0,90}}?"
    value = r"[\"'`]?([A-Z0-9?][A-Za-z0-9'?-]{2,30}(?:[ ][A-Z][A-Za-z0-9'?-]{2,30}){0,2})"
    put, done = pattern_of("puts_answers"), pattern_of("has_put")
    return compile_pattern(
        rf"{question}(?:[ ,](?:{put})[ :]{{1,2}}{value}|[ ]{value}[\"'`]?[ ]{done}\b)"
    )


@cache
def _is_personal() -> Any:
    return compile_pattern(rf"(?i)\b{pattern_of('personal_questions', 'security_questions')}\b")


@cache
def _registered() -> Any:
    """`the answer I registered is …`."""
    value = r"[\"'`]?([A-Z0-9?][A-Za-z0-9'?-]{2,30}(?:[ ][A-Z][A-Za-z0-9'?-]{2,30}){0,2})"
    said = rf"(?:[ ]{pattern_of('links')}|:)[ ]"
    return compile_pattern(rf"{pattern_of('answer_names')}\b[^\n.;!?\xff]{{0,40}}?{said}{value}")


def read_registered_answer(data: bytes, start: int, end: int) -> Span | None:
    """The answer to a personal question that was told before it."""
    match = _registered().match(data, start, end + ANSWER_WINDOW)
    before = data[max(0, start - 100) : start].rpartition(b"\n")[2].rpartition(b"\xff")[2]
    if match and _is_personal().search(before):
        return group_span(match, 1, "security-answer")
    return None


def read_chosen_answer(data: bytes, start: int, end: int) -> Span | None:
    """What somebody put as the answer to a question about their family, pets or childhood."""
    match = _chosen_answers().match(data, start, end + ANSWER_WINDOW)
    if not match:
        return None
    group = 1 if match[1] else 2
    before = data[max(0, start - 20) : match.start(group)].rpartition(b"\xff")[2]
    return group_span(match, group, "security-answer") if _is_personal().search(before) else None


def _count_answer(text: str, before: bytes) -> int:
    """The length of the words that are the answer, up to the next clause."""
    words: list[str] = []
    for word in text.split(" "):
        if len(words) == _MAX_WORDS or is_function_word(word) or not word:
            break
        words.append(word)
    if not words or is_predicate(words[0]) or words[0].endswith("?"):
        return 0
    linked = before.rstrip().endswith((b":", b"=")) or not before.rstrip().isalpha()
    capital = any(word[:1].isupper() or word[:1].isdigit() for word in words)
    told = capital if len(words) > 1 or not linked else True
    return len(" ".join(words)) if told else 0
