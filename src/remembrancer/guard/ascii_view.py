"""The text as a page: one ASCII byte for each visible character, so that patterns meet plain bytes.

Keeps every place; must not know what a secret is.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any

import re2

_BLANK_BYTE = 0xFF
_INVISIBLE = frozenset(
    map(chr, (0xAD, 0x34F, 0x61C, 0x180E, 0xFEFF, *range(0x200B, 0x2010), *range(0x202A, 0x202F),
              *range(0x2060, 0x2070), *range(0xFE00, 0xFE10), *range(0xE0000, 0xE0080)))
)  # fmt: skip
_LOOKALIKES: dict[int, int | str] = {
    **{0xFEE0 + code: code for code in range(0x21, 0x7F)},
    **dict.fromkeys((0xA0, 0x1680, *range(0x2000, 0x200B), 0x202F, 0x205F, 0x3000), " "),
    **dict.fromkeys((0x2028, 0x2029, 0x85), "\n"),
    **dict.fromkeys((0xAB, 0xBB, *range(0x201C, 0x2020)), '"'),
    **dict.fromkeys((*range(0x2018, 0x201C), 0x2039, 0x203A), "'"),
    **dict.fromkeys((*range(0x2010, 0x2016), 0x2212), "-"),
}
# Same length on both sides, which keeps every offset.
_FOREIGN_NAMES = {
    "пароль": "passwd",
    "Пароль": "passwd",
    "密码是": "pw=",
    "密码": "pw",
    "密碼是": "pw=",
    "密碼": "pw",
    "パスワードは": "passwd",
    "パスワード": "pword",
    "비밀번호는": "pword",
    "비밀번호": "pwd ",
}


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A stretch of the page, and the kind of thing that was found there."""

    start: int
    end: int
    kind: str


def group_span(match: Any, group: int, kind: str) -> Span:
    """The place of one group of a match."""
    return Span(match.start(group), match.end(group), kind)


def to_ascii(text: str) -> tuple[bytes, list[int] | None]:
    """The text as ASCII bytes, and for each byte its place if characters were left out."""
    if text.isascii():
        return text.encode("ascii"), None
    places = None
    if not _INVISIBLE.isdisjoint(text):
        places = [place for place, char in enumerate(text) if char not in _INVISIBLE]
        text = "".join(text[place] for place in places)
    for foreign, name in _FOREIGN_NAMES.items():
        text = text.replace(foreign, name)
    return text.translate(_LOOKALIKES).encode("ascii", "replace"), places


def blank_spans(data: bytes, spans: Iterable[Span]) -> bytes:
    """The page with each span overwritten by a byte that no text becomes."""
    blanked = bytearray(data)
    for span in spans:
        blanked[span.start : span.end] = bytes((_BLANK_BYTE,)) * (span.end - span.start)
    return bytes(blanked)


def merge_spans(spans: Iterable[Span]) -> list[Span]:
    """Join overlapping spans; the kind is that of the first scan that saw any part."""
    ranked = sorted((span.start, rank, span) for rank, span in enumerate(spans))
    merged: list[tuple[int, Span]] = []
    for start, rank, span in ranked:
        if not merged or start >= merged[-1][1].end:
            merged.append((rank, span))
            continue
        best, last = merged[-1]
        kind = last.kind if best < rank else span.kind
        merged[-1] = min(best, rank), Span(last.start, max(last.end, span.end), kind)
    return [span for _, span in merged]


@cache
def compile_pattern(source: str) -> Any:
    """The pattern for a page, compiled when it is first used and linear in what it reads."""
    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1
    options.max_mem = 64 << 20
    return re2.compile(source.encode("latin-1"), options)
