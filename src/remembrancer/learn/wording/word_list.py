"""Word lists by language, from the TOML files beside this module. No I/O but that."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from remembrancer.search.language import Language, detect_language
from remembrancer.search.word_tables import load_tables

_PLACEHOLDER = re.compile(r"\{([a-z_]+)\}")
_APOSTROPHES = str.maketrans("‘’ʼ", "'''")


@dataclass(frozen=True, slots=True)
class WordList:
    """Patterns of whole words, one for each language."""

    patterns: Mapping[Language, re.Pattern[str]]

    def search(self, text: str, languages: frozenset[Language]) -> re.Match[str] | None:
        """The first match of any of the languages."""
        return next(self.find_all(text, languages), None)

    def find_all(self, text: str, languages: frozenset[Language]) -> Iterator[re.Match[str]]:
        """All matches of the languages, one language after the other."""
        for language, pattern in self.patterns.items():
            if language in languages:
                yield from pattern.finditer(text)


@cache
def load_word_lists(file: str) -> Mapping[str, WordList]:
    """The word lists of a file: tables of regular expressions, by name and language."""
    tables = load_tables(__package__, file)
    return {
        name: WordList({Language(code): _compile(tables, name, code) for code in table})
        for name, table in tables.items()
    }


def straighten(text: str) -> str:
    """Replace typographic apostrophes, character by character."""
    return text.translate(_APOSTROPHES)


def list_languages(*texts: str) -> frozenset[Language]:
    """The languages of the texts; all of them for a text whose language is not clear."""
    found: set[Language] = set()
    for text in texts:
        language = detect_language(text)
        found |= set(Language) if language is None else {language}
    return frozenset(found)


def _compile(
    tables: Mapping[str, Mapping[str, list[str]]], name: str, code: str
) -> re.Pattern[str]:
    """The pattern of a list, with the words of other lists for their names in braces."""
    words = _PLACEHOLDER.sub(
        lambda one: "|".join(tables[one[1]][code]), "|".join(tables[name][code])
    )
    return re.compile(rf"(?<![\w'])(?:{words})(?!\w)", re.IGNORECASE)
