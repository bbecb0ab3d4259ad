"""Finds the relatives and other close people that a text speaks of, in four languages. No I/O."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from remembrancer.search.language import Language, detect_language, list_other_languages
from remembrancer.search.word_tables import load_tables
from remembrancer.search.words import iter_tokens


def find_relations(text: str) -> frozenset[str]:
    """The relations that the kinship words of a text name."""
    language = detect_language(text)
    found = (_relation_of(word, language) for token in iter_tokens(text) for word in _parts(token))
    return frozenset(one for one in found if one)


def widen_relations(relations: frozenset[str]) -> frozenset[str]:
    """The relations, and those that they cover: children are sons and daughters."""
    covered: Mapping[str, list[str]] = load_tables(__package__, "kinship.toml")["includes"]
    return relations.union(*(covered.get(name, ()) for name in relations))


def _parts(token: str) -> list[str]:
    """A word, and the parts of one with hyphens: "mother-in-law" is no mother."""
    return [token] if any(token in _load_words(one) for one in Language) else token.split("-")


def _relation_of(word: str, language: Language | None) -> str | None:
    if language is not None and word in _load_words(language):
        return _load_words(language)[word]
    others = map(_load_words, list_other_languages(word, language))
    return next((words[word] for words in others if word in words), None)


@cache
def _load_words(language: Language) -> Mapping[str, str]:
    relations: Mapping[str, str] = load_tables(__package__, "kinship.toml")[language]
    return {word: name for name, words in relations.items() for word in words.split()}
