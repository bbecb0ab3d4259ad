"""Finds names in a text that other texts do not contain. No I/O."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from functools import cache
from typing import Any

from remembrancer.guard.persons.name_lists import (
    is_common_given_name,
    is_given_name,
    is_ordinary,
)
from remembrancer.learn.details.numbers import fold, load_data, split_words
from remembrancer.search.language import Language, detect_language
from remembrancer.search.sentences import SENTENCE_END_PATTERN

MIN_NAME_CHARS = 3
MIN_COMMON_CHARS = 5
"""Letters at the beginning that two forms of a name have in common."""

SAME_NAME_RATIO, TRANSLATED_NAME_RATIO = 0.85, 0.7
"""How alike the letters of two forms of a name are, in one language and in two."""

_NAME = re.compile(r"[^\W\d_][\w’'-]*")
_CAPITALISED = re.compile(r"\b[A-ZÀ-Þ][\w’'-]*")
_NAME_LIST = re.compile(
    rf"{_CAPITALISED.pattern}(?:(?:[ ,\d]|\([^()]{{0,20}}\))+(?:(?:and|und|y|e|et|&) )?"
    rf"{_CAPITALISED.pattern})+"
)
_NAME_RUN = re.compile(rf"{_CAPITALISED.pattern}(?: {_CAPITALISED.pattern})+")
_SENTENCE_START = re.compile(r"(?:^|[.!?:;(\n\"“„«‘'/&]\s*|[-–—•] )$")
_WORD = re.compile(r"\b[^\W\d_]{2,}\b")
_CODE = re.compile(r"\b[a-z]+\d\w*")


def find_unknown_names(
    content: str, sources: Sequence[str], evidence: Sequence[str]
) -> Iterator[str]:
    """The names of a content that occur in no source, in no form."""
    vocabulary = frozenset(
        word for one in sources for word in (*split_words(one), *_CODE.findall(fold(one)))
    )
    said_in = detect_language(" ".join(evidence))
    language = detect_language(content) or said_in
    is_translated = None not in (language, said_in) and language != said_in
    spelled = _list_spelled_out(content, _list_acronyms(sources))
    previous = ""
    for match in _NAME.finditer(content):
        word, before = match[0], content[: match.start()]
        is_first = bool(_SENTENCE_START.search(before))
        if not word[0].isupper() or word.isupper() or any(one.isdigit() for one in word):
            previous = ""
            continue
        known = word in spelled or _is_known(word, vocabulary, is_translated)
        if not known and _is_name(word, is_first, language, is_translated, previous, before):
            yield word
        previous = word if known and not _is_common(word, is_first) else ""


def _list_acronyms(sources: Sequence[str]) -> set[str]:
    """Words that may be initials: short ones must be in capitals."""
    words = {word for one in sources for word in _WORD.findall(one)}
    return {fold(one) for one in words if one.isupper() or len(one) in (3, 4)}


def _list_spelled_out(content: str, acronyms: set[str]) -> set[str]:
    """The words of names whose initials occur: "New York City" for "NYC"."""
    runs = [one[0].split() for one in _NAME_RUN.finditer(content)]
    return {
        word
        for words in runs
        for start in range(len(words) - 1)
        for end in range(start + 2, len(words) + 1)
        if fold("".join(one[0] for one in words[start:end])) in acronyms
        for word in words[start:end]
    }


def _is_name(
    word: str,
    is_first: bool,
    language: Language | None,
    is_translated: bool,
    previous: str,
    before: str,
) -> bool:
    """True if an unknown capitalised word must be a name."""
    plain = _strip_ending(word)
    if len(plain) < MIN_NAME_CHARS or is_ordinary(plain) or language is None:
        return False
    if is_first:
        return language is Language.ENGLISH and is_common_given_name(plain)
    if language is Language.GERMAN:
        return is_common_given_name(plain)
    if before.endswith(", ") or is_translated:
        return is_given_name(plain) and not _is_place_after(before)
    if previous and before.endswith(" "):
        return is_given_name(_strip_ending(previous))
    return True


def _is_common(word: str, is_first: bool) -> bool:
    """True for a capitalised word that is no part of a name: a title, or the first word."""
    plain = _strip_ending(word)
    return plain in _no_names() or (is_first and not is_given_name(plain))


def _is_place_after(before: str) -> bool:
    """True in "Tromsø, Norway": the word after a name and a comma may be where it is."""
    return bool(re.search(r"\b(?:in|to|from|at|near) [A-Z][\w-]+, $", before))


def _is_known(word: str, vocabulary: frozenset[str], is_translated: bool) -> bool:
    """True if a word, a part of it or a form of it occurs, or if it is no name."""
    parts = [one for one in split_words(word) if len(one) > 1]
    if any(one in vocabulary or one in _no_names() for one in parts) or not parts:
        return True
    ratio = TRANSLATED_NAME_RATIO if is_translated else SAME_NAME_RATIO
    plain = _strip_ending(word)
    forms = {plain, *_same_words().get(plain, ())}
    return any(_is_form(one, other, ratio) for one in forms for other in vocabulary)


def _is_form(one: str, other: str, ratio: float) -> bool:
    if one == other:
        return True
    if len(other) < 4 or len(one) < 4 or one[0] != other[0]:
        return False
    if other.startswith(one[: max(MIN_COMMON_CHARS, len(one) * 3 // 4)]) or one.startswith(other):
        return True
    return SequenceMatcher(None, one, other).ratio() >= ratio


def _strip_ending(word: str) -> str:
    """The folded name without the ending of a genitive."""
    plain = re.sub(r"(?:'s|'|-)$", "", fold(word))
    return re.split(r"['-]", plain)[-1] if "-" in plain or "'" in plain else plain


def find_sentences_about(content: str, own: Sequence[str], person: str | None) -> list[str]:
    """The sentences of the person's own texts that name someone whom the content names."""
    mine = set(split_words(person or ""))
    names = {_strip_ending(one) for one in _NAME.findall(content) if one[0].isupper()} - mine
    return [
        sentence
        for text in own
        for sentence in SENTENCE_END_PATTERN.split(text)
        if names & set(split_words(sentence))
    ]


def count_listed_names(content: str) -> int:
    """How many names a content lists: "two cats, Mimi and Tom" counts them."""
    runs = [_CAPITALISED.findall(one[0]) for one in _NAME_LIST.finditer(content)]
    return max(map(len, runs), default=0)


@cache
def _load() -> Mapping[str, Any]:
    return load_data("grounding.toml")


@cache
def _no_names() -> frozenset[str]:
    """Words that are capitalised without being a name, or that are only a resolved form."""
    listed = " ".join(_load()[one]["words"] for one in ("titles", "kinds_of_places", "lands"))
    dates = load_data("said_dates.toml")
    times = [
        word
        for name in ("months", "weekdays", "seasons", "holidays")
        for phrases in dates[name].values()
        for phrase in phrases
        for word in (*split_words(phrase), f"{fold(phrase)}s")
    ]
    return frozenset([*listed.split(), *times, *_load()["weekdays"]["abbreviations"]])


@cache
def _same_words() -> Mapping[str, tuple[str, ...]]:
    groups = [tuple(one.split()) for one in _load()["same"]["groups"]]
    return {word: group for group in groups for word in group}
