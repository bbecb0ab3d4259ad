"""Loads the words of `words/persons.toml`, which show that a sentence is about one person."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib import resources

from remembrancer.guard.persons.normalise import fold_to_ascii


@cache
def _load() -> dict[str, dict[str, str]]:
    path = resources.files("remembrancer.guard") / "words" / "persons.toml"
    return tomllib.loads(path.read_text(encoding="utf-8"))


@cache
def words_of(section: str, language: str = "") -> frozenset[str]:
    """The words of all languages in a section, or of one, without accents."""
    listed = _load()[section]
    chosen = [listed[language]] if language else [*listed.values()]
    return frozenset(fold_to_ascii(" ".join(chosen)).split())


@cache
def pattern_of(section: str, language: str = "") -> str:
    """A pattern for any word of a section; longer words are tried first."""
    words = sorted(words_of(section, language), key=len, reverse=True)
    return "(?:" + "|".join(word.replace("_", "[ ]") for word in words) + ")"
