"""Finds a secret that is an answer: "What's the wifi password?", "GreenGoose7"."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

from remembrancer.guard.patterns import compile_pattern
from remembrancer.guard.secrets.ascii_view import Span
from remembrancer.guard.secrets.mentions import NamedSecret, SecretName, find_mentions
from remembrancer.guard.secrets.plain_words import is_clearly_made_up, is_predicate
from remembrancer.guard.secrets.told_values import can_have_value
from remembrancer.guard.secrets.value_readers import read_value
from remembrancer.guard.secrets.wording import is_word_of, pattern_of

REMEMBERED_TURNS = 2
_QUESTION = 300
_MAX_REPLY = 160
_MAX_PLAIN_DIGITS = 5


def may_be_reply(text: str) -> bool:
    """True if the text is short enough to be nothing but the answer to a question."""
    return len(text) <= _MAX_REPLY


def find_reply(data: bytes, previous: Sequence[bytes]) -> Iterator[Span]:
    """The value in a short reply, if the turns before asked for a secret or spoke of a new one."""
    recent = [turn[-_QUESTION:] for turn in previous[-REMEMBERED_TURNS:]]
    if len(data) > _MAX_REPLY or not recent:
        return
    mention = _find_asked(recent[-1])
    asked = bool(mention)
    if not mention and b"?" not in recent[-1] and len(recent) > 1:
        mention = _find_asked(recent[0])
    if not mention and _reference().match(data):
        mention = next(iter(reversed([*find_mentions(recent[-1])])), None)
    if not mention:
        return
    for span in read_value(data, _opening().match(data).end(), mention, introduced=True):
        value = data[span.start : span.end].decode("latin-1")
        is_code = mention.name not in (SecretName.PASSWORD, SecretName.WEAK_PASSWORD)
        if is_code or is_clearly_made_up(value) or (asked and _is_whole_reply(data, span, value)):
            yield span


@cache
def _reference() -> Any:
    return compile_pattern(rf"(?i)\s*(?:[a-z]{{1,6}}[ ,]{{1,2}})?{pattern_of('references')}[ :]")


def _find_asked(question: bytes) -> NamedSecret | None:
    asked = None
    for mention in find_mentions(question):
        if can_have_value(question, mention) and _is_asked(question, mention):
            asked = mention
    return asked


def _is_asked(question: bytes, mention: NamedSecret) -> bool:
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
