"""Number words of four languages, and folded words of a text. No I/O."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from remembrancer.search.language import Language
from remembrancer.search.word_tables import load_tables

GERMAN_ENDINGS = ("e", "en", "er", "es", "em")

_WORD = re.compile(r"[^\W\d_]+")


def load_data(name: str) -> Mapping[str, Any]:
    """The tables of a TOML file beside this module."""
    return load_tables(__package__, name)


def fold(text: str) -> str:
    """Lower-case letters without accents, straight apostrophes and plain spaces."""
    if text.isascii():
        return text.casefold()
    decomposed = unicodedata.normalize("NFKD", text.replace("’", "'").casefold())
    return "".join(one for one in decomposed if not unicodedata.combining(one))


def split_words(text: str) -> tuple[str, ...]:
    """The folded words of a phrase, without digits and punctuation."""
    return tuple(_WORD.findall(fold(text)))


def expand_endings(words: Iterable[str]) -> list[str]:
    """Replace the `+` at the end of a German adjective by its endings."""
    return [
        word.removesuffix("+") + ending
        for word in words
        for ending in (GERMAN_ENDINGS if word.endswith("+") else ("",))
    ]


Phrase = tuple[str, ...]


@cache
def list_cardinals(language: Language | None = None) -> Mapping[Phrase, int]:
    """Number words from 0 to 99 and their values, of one language or of all."""
    if language is None:
        return {
            phrase: value for one in Language for phrase, value in list_cardinals(one).items()
        } | dict.fromkeys(list_articles(), 1)
    data = load_data("numbers.toml")[language]
    simple = {one: value for value, one in enumerate(data["below_20"].split())}
    tens = {one: 10 * value for value, one in enumerate(data["tens"].split(), 2)}
    found = simple | tens | _build_compounds(data["compound"], simple, tens) | data["others"]
    return {split_words(one): value for one, value in found.items()}


def _build_compounds(
    pattern: str, simple: Mapping[str, int], tens: Mapping[str, int]
) -> dict[str, int]:
    """The words from 21 to 99; French counts on to 19 after 60 and 80."""
    return {
        pattern.format(tens=ten, unit=unit): tens[ten] + value
        for ten in tens
        for unit, value in simple.items()
        if value > 0
    }


@cache
def list_articles() -> frozenset[Phrase]:
    """Words that are 1 only before a unit of time."""
    return frozenset((one,) for one in load_data("numbers.toml")["articles"]["words"].split())


@cache
def list_ordinals() -> Mapping[Phrase, int]:
    """Ordinal words of all languages and their values."""
    data = load_data("numbers.toml")
    found = dict(data["more_ordinals"])
    for language in Language:
        for value, word in enumerate(data[language]["ordinals"].split(), 1):
            found |= dict.fromkeys(expand_endings([word]), value)
    return {split_words(one): value for one, value in found.items()}
