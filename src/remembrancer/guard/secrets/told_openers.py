"""Finds a code by what it opens: "the safe opens with 44-12-90", "press 3312 at the gate"."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from remembrancer.guard.patterns import compile_pattern
from remembrancer.guard.secrets.ascii_view import Span
from remembrancer.guard.secrets.value_readers import read_code
from remembrancer.guard.secrets.wording import pattern_of

_NUMBER = r"(?:^|[ \n(])([#*]?[0-9]{1,2}[0-9 -][0-9])"
_BEFORE = 70
_AFTER = 50
_WORDS = r"(?:[a-z]+[ ]){0,2}?"


def find_openers(data: bytes) -> Iterator[Span]:
    done = 0
    for number in compile_pattern(_NUMBER).finditer(data):
        at = number.start(1)
        near = data[max(0, at - _BEFORE) : at + _AFTER]
        if at < done or not _thing().search(near):
            continue
        for span in read_code(data, at):
            if _opens(data, span):
                done = span.end
                yield span


def _opens(data: bytes, span: Span) -> bool:
    before = data[max(0, span.start - _BEFORE) : span.start]
    if _says_opens().search(before):
        return True
    if _lock().search(before):
        return bool(compile_pattern(r"[ ]?(?:[.,;!)\n]|$|to[ ])").match(data, span.end))
    after = data[span.end : span.end + _AFTER]
    if _unlocks().match(after):
        return True
    return bool(_types_in().search(before) and _types_at().match(after))


@cache
def _says_opens() -> Any:
    thing = pattern_of("protected")
    gap = r"\b[^\n.,;:?!]{0,20}?[ ]"
    sources = (
        rf"{thing}{gap}{pattern_of('opens')}",
        rf"{pattern_of('opening')}{gap}{thing}[ ]{pattern_of('and')}",
        rf"(?:for|fur|para|pour|per)[ ]{_WORDS}{thing},?[ ]{pattern_of('references')}",
    )
    return compile_pattern(rf"(?i)\b(?:{'|'.join(sources)})[ ]$")


@cache
def _thing() -> Any:
    return compile_pattern(rf"(?i)\b{pattern_of('protected', 'locks')}\b")


@cache
def _lock() -> Any:
    return compile_pattern(rf"(?i)\b{pattern_of('locks')}(?:[ ]?:|[ ]{pattern_of('links')})[ ]$")


@cache
def _unlocks() -> Any:
    return compile_pattern(rf"(?i)[ ]{pattern_of('unlocks')}[ ]{_WORDS}{pattern_of('protected')}\b")


@cache
def _types_in() -> Any:
    return compile_pattern(rf"(?i)\b{pattern_of('types_in')}[ ]$")


@cache
def _types_at() -> Any:
    return compile_pattern(
        rf"(?i)[ ]{pattern_of('types_at')}[ ]{_WORDS}{pattern_of('protected')}\b"
    )
