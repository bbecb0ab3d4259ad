"""Finds a secret that is all the answer to a question: "What's the wifi password?", "GreenGoose7"."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from remembrancer.guard.patterns import compile_pattern
from remembrancer.guard.secrets.ascii_view import Span
from remembrancer.guard.secrets.mentions import Mention, SecretName, find_mentions
from remembrancer.guard.secrets.plain_words import is_clearly_made_up, is_predicate
from remembrancer.guard.secrets.told_values import can_have_value
from remembrancer.guard.secrets.value_readers import read_value
from remembrancer.guard.secrets.wording import is_word_of, pattern_of

_QUESTION = 300
_MAX_REPLY = 160
_MAX_PLAIN_DIGITS = 5


def find_reply(data: bytes, question: bytes) -> Iterator[Span]:
    """The value in a short reply, if the turn before asked for a secret."""
    if len(data) > _MAX_REPLY or not (mention := _find_asked(question[-_QUESTION:])):
        return
    start = _opening().match(data).end()
    for span in read_value(data, start, mention, introduced=True):
        value = data[span.start : span.end].decode("latin-1")
        if (
            mention.name not in (SecretName.PASSWORD, SecretName.WEAK_PASSWORD)
            or is_clearly_made_up(value)
            or _is_whole_reply(data, span, value)
        ):
            yield span


def _find_asked(question: bytes) -> Mention | None:
    asked = None
    for mention in find_mentions(question):
        if can_have_value(question, mention) and _is_asked(question, mention):
            asked = mention
    return asked


def _is_asked(question: bytes, mention: Mention) -> bool:
    before = question[max(0, mention.start - 60) : mention.start]
    mark = question.find(b"?", mention.end, mention.end + 80)
    asks = compile_pattern(rf"(?i)\b{pattern_of('asks')}\b[^.!?\n]*$").search(before)
    amount = compile_pattern(rf"(?i)\b{pattern_of('asks_other')}\b[^.!?\n]*$").search(before)
    return not amount and (mark >= 0 or bool(asks))


@cache
def _opening() -> Any:
    said = pattern_of("references", "fillers", "small_replies")
    return compile_pattern(rf"(?i)\s*(?:{said}(?:[ ,.:!-]+|$))*")


def _is_whole_reply(data: bytes, span: Span, value: str) -> bool:
    """True for a value with nothing beside it that is no small word or short number."""
    rest = data[span.end :].decode("latin-1").strip(" .!,\n")
    if rest or is_word_of("small_replies", value) or is_predicate(value):
        return False
    return not value.isdigit() or len(value) > _MAX_PLAIN_DIGITS
