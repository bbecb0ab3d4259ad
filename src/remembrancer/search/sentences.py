"""Which units of a text get a vector: a long turn is found by what its sentences say."""

from __future__ import annotations

import re
from dataclasses import dataclass

from remembrancer.search.features import marks

LONG = 100
MOST = 16
READ = 20_000

FENCE = re.compile(r"```.*?(?:```|\Z)", re.S)
END = re.compile(r"(?<=[.!?])\s+|\n+")
WORD = re.compile(r"[^\W\d_]{2,}")


@dataclass(frozen=True, slots=True)
class Unit:
    """A text to be embedded, its place in the whole (0 is the whole), and what it does."""

    text: str
    part: int = 0
    marks: int = 0


def units(text: str, whole: str, *, by_sentence: bool) -> list[Unit]:
    """The sentences of a long text, or `whole`, the text with its speaker."""
    if by_sentence and len(text) > LONG:
        found = _sentences(text)
        if len(found) > 1:
            return [Unit(one, number, marks(one)) for number, one in enumerate(found, 1)]
    return [Unit(whole)]


def _sentences(text: str) -> list[str]:
    prose = FENCE.sub("\n", text[:READ])
    found = (sentence.strip() for sentence in END.split(prose))
    return [one for one in found if len(WORD.findall(one)) >= 3][:MOST]
