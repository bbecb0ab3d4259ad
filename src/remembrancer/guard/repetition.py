"""Tells whether a text repeats the words of another; it sees no translations. Pure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator

RUN = 5
"""So many words in a row are a repetition."""

MIN_RUN = 3
"""A text with fewer words than a run is repeated as a whole, if it has at least so many."""

# Scripts without spaces between words: each letter counts as a word.
_WORD = re.compile(r"[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W_]+")

Run = tuple[str, ...]


def repeats_words(text: str, sources: Iterable[str], own: Iterable[str] = ()) -> bool:
    """True if the text has a run of words of a source that is in none of the person's own texts."""
    words = _split_words(text)
    if len(words) < MIN_RUN:
        return False
    said = [_split_words(one) for one in own]
    return any(_shares_run(words, _split_words(source), said) for source in sources)


def _shares_run(words: list[str], source: list[str], said: list[list[str]]) -> bool:
    length = min(RUN, len(source))
    if length < MIN_RUN:
        return False
    shared = set(_iter_runs(words, length)).intersection(_iter_runs(source, length))
    return bool(shared) and not shared.issubset(
        run for one in said for run in _iter_runs(one, length)
    )


def _iter_runs(words: list[str], length: int) -> Iterator[Run]:
    return zip(*(words[start:] for start in range(length)), strict=False)


def _split_words(text: str) -> list[str]:
    if not text.isascii():
        text = "".join(char for char in text if unicodedata.category(char) != "Cf")
        text = unicodedata.normalize("NFKC", text)
    return _WORD.findall(text.casefold())
