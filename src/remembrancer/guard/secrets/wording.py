"""Loads the words in which secrets are told from `words/secrets.toml`."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from importlib import resources

from remembrancer.guard.secrets.ascii_view import fold_accents

_VERB_OF_ONE_LETTER = re.compile(r"(?<![^\W_])è(?![^\W_])")
"""The text that is searched has a question mark for it, see `to_ascii`."""


@cache
def _load() -> dict[str, dict[str, str]]:
    path = resources.files("remembrancer.guard") / "words" / "secrets.toml"
    return tomllib.loads(path.read_text(encoding="utf-8"))


@cache
def words_of(section: str) -> frozenset[str]:
    """The words of all languages in a section, folded as the text is."""
    listed = _VERB_OF_ONE_LETTER.sub(r"\\?", " ".join(_load()[section].values()))
    return frozenset(fold_accents(listed).split())


@cache
def pattern_of(*sections: str) -> str:
    """A pattern for any word of these sections; longer words are tried first."""
    listed = sorted({word for name in sections for word in words_of(name)}, key=len, reverse=True)
    return "(?:" + "|".join(word.replace("_", "[ -]") for word in listed) + ")"


@cache
def _full(section: str) -> re.Pattern[str]:
    return re.compile(pattern_of(section))


def is_word_of(section: str, word: str) -> bool:
    """True if the section has the word, which may be written as a pattern there."""
    return bool(_full(section).fullmatch(word.lower()))
