"""Splits text into the units that get a vector: long turns sentence by sentence."""

from __future__ import annotations

import re
from dataclasses import dataclass

from remembrancer.search.features import detect_features

MIN_SPLIT_CHARS = 100
MAX_SENTENCES = 16
MAX_SPLIT_CHARS = 20_000

CODE_FENCE_PATTERN = re.compile(r"```.*?(?:```|\Z)", re.S)
SENTENCE_END_PATTERN = re.compile(r"(?<=[.!?])\s+|\n+")
WORD_PATTERN = re.compile(r"[^\W\d_]{2,}")


@dataclass(frozen=True, slots=True)
class EmbeddingUnit:
    """A text to embed, its number (0 is the whole text), and its features."""

    text: str
    part: int = 0
    marks: int = 0


def split_into_units(text: str, whole: str, *, by_sentence: bool) -> list[EmbeddingUnit]:
    """The sentences of a long text, else `whole`, the text with its speaker."""
    if by_sentence and len(text) > MIN_SPLIT_CHARS:
        found = split_sentences(text)
        if len(found) > 1:
            return [
                EmbeddingUnit(one, number, detect_features(one))
                for number, one in enumerate(found, 1)
            ]
    return [EmbeddingUnit(whole)]


def split_sentences(text: str) -> list[str]:
    """The first sentences of a text that have enough words for a vector."""
    prose = CODE_FENCE_PATTERN.sub("\n", text[:MAX_SPLIT_CHARS])
    found = (sentence.strip() for sentence in SENTENCE_END_PATTERN.split(prose))
    return [one for one in found if len(WORD_PATTERN.findall(one)) >= 3][:MAX_SENTENCES]
