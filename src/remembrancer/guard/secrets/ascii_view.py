"""Converts a text to ASCII bytes, one per visible character, so that offsets can be mapped back."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

_BLANK_BYTE = 0xFF
_INVISIBLE = frozenset(
    map(chr, (0xAD, 0x61C, 0x180E, 0xFEFF, *range(0x300, 0x370), *range(0x200B, 0x2010),
              *range(0x202A, 0x202F), *range(0x2060, 0x2070), *range(0xFE00, 0xFE10),
              *range(0xE0000, 0xE0080)))
)  # fmt: skip
_ACCENTED = {
    char: base
    for char in map(chr, range(0xC0, 0x250))
    if (base := unicodedata.normalize("NFD", char)[0]).isascii()
} | dict(zip("ßøØæÆœŒđĐłŁı", "soOaAoOdDlLi", strict=True))
_LOOKALIKES: dict[int, int | str] = {
    **{ord(char): base for char, base in _ACCENTED.items()},
    **{0xFEE0 + code: code for code in range(0x21, 0x7F)},
    **dict.fromkeys((0xA0, 0x1680, *range(0x2000, 0x200B), 0x202F, 0x205F, 0x3000), " "),
    **dict.fromkeys((0x2028, 0x2029, 0x85), "\n"),
    **dict.fromkeys((0xAB, 0xBB, *range(0x201C, 0x2020)), '"'),
    **dict.fromkeys((*range(0x2018, 0x201C), 0x2039, 0x203A), "'"),
    **dict.fromkeys((*range(0x2010, 0x2016), 0x2212), "-"),
}
# "è" alone is a verb in Italian, and "e" is "and": it must not become one.
_VERB_OF_ONE_LETTER = re.compile(r"(?<!\w)[èÈéÉ](?!\w)")
# Each value has the length of its key, so that offsets do not change.
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
    """A range of the bytes, and the kind of secret found there."""

    start: int
    end: int
    kind: str


def group_span(match: Any, group: int, kind: str) -> Span:
    return Span(match.start(group), match.end(group), kind)


def to_ascii(text: str) -> tuple[bytes, list[int] | None]:
    """The text as ASCII bytes, and the offset of each byte in the text if they differ."""
    if text.isascii():
        return text.encode("ascii"), None
    offsets = None
    if not _INVISIBLE.isdisjoint(text):
        offsets = [offset for offset, char in enumerate(text) if char not in _INVISIBLE]
        text = "".join(text[offset] for offset in offsets)
    if "è" in text or "é" in text or "È" in text or "É" in text:
        text = _VERB_OF_ONE_LETTER.sub("?", text)
    for foreign, name in _FOREIGN_NAMES.items():
        text = text.replace(foreign, name)
    return text.translate(_LOOKALIKES).encode("ascii", "replace"), offsets


def fold_accents(text: str) -> str:
    """The text with every accented letter replaced by its base letter."""
    return text.translate(_LOOKALIKES)


def blank_spans(data: bytes, spans: Iterable[Span]) -> bytes:
    """Overwrite each span with a byte that no text is converted to."""
    blanked = bytearray(data)
    for span in spans:
        blanked[span.start : span.end] = bytes((_BLANK_BYTE,)) * (span.end - span.start)
    return bytes(blanked)


def merge_spans(spans: Iterable[Span]) -> list[Span]:
    """Merge overlapping spans; the earliest in the given order determines the kind."""
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
