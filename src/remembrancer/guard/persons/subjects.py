"""Detects a person by what only persons do: a surname that is a word, a family, a login.

"Brown fixed the test" is about a person, "Brown noise is louder" is not.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from remembrancer.guard.patterns import compile_pattern
from remembrancer.guard.persons import name_lists as lists
from remembrancer.guard.persons.person_words import pattern_of, words_of

_START = r"(?:^|[.!?:;\n][ ]*|[ ](?:that|because|and|dass|weil|que|perche)[ ])"
_CLEAR_LOG_ODDS = 4
_NAME = r"([A-Z][a-z]{2,20})"


def has_surname_as_subject(data: bytes) -> bool:
    """True for a listed surname that does what only a person does."""
    return any(
        any(map(_can_be_surname, filter(None, match.groups())))
        for match in _subject().finditer(data)
        if not _tells_of_a_thing(data[match.end() - 1 :])
    )


def _tells_of_a_thing(rest: bytes) -> bool:
    return bool(compile_pattern(rf"^[ ]?(?:of|for|by)[ ]{pattern_of('no_persons')}\b").search(rest))


@cache
def _subject() -> Any:
    verbs = (
        rf"{pattern_of('subject_verbs', 'en')}[ ]{pattern_of('subject_verbs', 'objects')}",
        pattern_of("whole_verbs"),
        pattern_of("done"),
        r"(?:is|was)[ ](?:moving|relocating|flying)[ ]to[ ](?-i:[A-Z])[a-z]+",
        r"(?:moved|moves|flew)[ ]to[ ](?-i:[A-Z])[a-z]+",
    )
    ends = r"(?:$|[^A-Za-z0-9_-])"
    both = rf"{_NAME}(?:[ ](?:and|und|y|et|e)[ ]{_NAME})?"
    return compile_pattern(rf"{_START}{both}[ ](?i:{'|'.join(verbs)}){ends}")


def _can_be_surname(found: bytes) -> bool:
    word = found.decode("latin-1").lower()
    return lists.is_surname(word) or word in words_of("word_surnames")


def has_family(data: bytes) -> bool:
    """True for a family that is called by its name, such as `the Okafors`."""
    for match in _family().finditer(data):
        word = match[1].decode("latin-1").lower()
        if lists.is_technical(word) or lists.is_technical(f"{word}s") or lists.is_ordinary(word):
            continue
        if lists.is_surname(word) or lists.name_log_odds(word) > 0:
            return True
    return False


@cache
def _family() -> Any:
    verb = (
        r"(?:are|were|have|had|live|moved|invited|host|hosted|came|come|left|bought|sold|will)[ ]"
        r"(?:[a-z]+ing|[a-z]+ed|the|a|an|in|to|on|back|over|sick|here|our|next|near|at)\b"
    )
    return compile_pattern(rf"\b[Tt]he[ ]([A-Z][a-z]{{2,18}}?)e?s[ ]{verb}")


def has_login_as_subject(data: bytes) -> bool:
    """True for an account that is called after a person and does what a person does."""
    return any(
        _is_personal_login(next(filter(None, match.groups())).decode("latin-1").lower())
        for match in _login().finditer(data)
    )


@cache
def _login() -> Any:
    login = r"([a-z][a-z0-9]*[._-]?[a-z0-9]+)"
    verb = pattern_of("account_verbs")
    account = rf"\b(?i:{pattern_of('account_words')})[ ]{login}[ ](?:{verb})"
    return compile_pattern(rf"{account}|(?:^|[.!?\n,][ ]*|\b(?:and|but)[ ]){login}[ ](?:{verb})\b")


def _is_personal_login(login: str) -> bool:
    """True for an initial with a surname, or a given name, with or without digits."""
    letters = login.rstrip("0123456789")
    if _is_of_a_thing(letters):
        return False
    parts = [part for part in letters.replace("_", ".").replace("-", ".").split(".") if part]
    if len(parts) > 1:
        return any(map(lists.is_given_name, parts)) or any(map(_is_clear_surname, parts))
    word = parts[0] if parts else ""
    with_digits = letters != login
    if with_digits and lists.is_given_name(word) and not lists.is_technical(word):
        return True
    if with_digits and lists.is_surname(word[1:]):
        return True
    return len(word) >= 4 and _is_clear_surname(word[1:])


def _is_clear_surname(word: str) -> bool:
    if lists.is_technical(word):
        return False
    return lists.is_surname(word) or (len(word) > 3 and lists.name_log_odds(word) > _CLEAR_LOG_ODDS)


def _is_of_a_thing(letters: str) -> bool:
    first = letters.replace("_", "-").split("-")[0]
    things = words_of("account_things")
    return first in things or lists.is_technical(letters) or lists.is_ordinary(letters)
