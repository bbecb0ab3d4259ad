"""The function words, limits and modal verbs of English statements. No I/O."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from remembrancer.agreement.lexicon import stem
from remembrancer.search.word_tables import load_tables


@cache
def load_sets() -> Mapping[str, frozenset[str]]:
    tables = {
        name: frozenset(words.split()) for name, words in _load().items() if isinstance(words, str)
    }
    light = frozenset(stem(word) for word in tables["light"])
    phrases = frozenset(
        " ".join(stem(word) for word in phrase.split()) for phrase in _load()["light_phrases"]
    )
    silent = ("articles", "members", "auxiliaries", "prepositions")
    stems = frozenset(stem(word) for name in silent for word in tables[name])
    return tables | {"light": light | phrases, "silent": stems}


@cache
def load_bounds() -> Mapping[tuple[str, ...], str]:
    bounds = {
        tuple(phrase.split()): bound
        for bound, phrases in _load()["bounds"].items()
        for phrase in phrases
    }
    return dict(sorted(bounds.items(), key=lambda one: -len(one[0])))


@cache
def load_modals() -> Mapping[str, str]:
    return {word: modal for modal, words in _load()["modals"].items() for word in words.split()}


def _load() -> Mapping[str, Any]:
    return load_tables(__package__, "word_sets.toml")
