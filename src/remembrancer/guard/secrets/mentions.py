"""Finds the words that name a secret, such as `password`, `alarm code` or `mot de passe`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto
from functools import cache
from typing import Any

from remembrancer.guard.patterns import compile_pattern
from remembrancer.guard.secrets.wording import pattern_of


class SecretName(Enum):
    """What a name says about its value; each member is a group of the pattern of names."""

    SEED_PHRASE = auto()
    RECOVERY_CODE = auto()
    KEY = auto()
    SECURITY_QUESTION = auto()
    CODE = auto()
    PASSWORD = auto()
    WEAK_PASSWORD = auto()
    OPEN_CODE = auto()


_SECTIONS = {
    SecretName.SEED_PHRASE: "seed_phrases",
    SecretName.RECOVERY_CODE: "recovery_codes",
    SecretName.KEY: "keys",
    SecretName.SECURITY_QUESTION: "security_questions",
    SecretName.CODE: "codes",
    SecretName.PASSWORD: "passwords",
    SecretName.WEAK_PASSWORD: "weak_passwords",
    SecretName.OPEN_CODE: "open_codes",
}


@dataclass(frozen=True, slots=True)
class NamedSecret:
    """The name of a secret in a sentence, and where it stands."""

    name: SecretName
    start: int
    end: int


@cache
def _name_pattern() -> Any:
    groups = "|".join(f"({pattern_of(section)})" for section in _SECTIONS.values())
    # German writes what a password is for in the same word.
    compound = r"[a-z]{2,20}?(?:passwort|kennwort|passphrase)"
    return compile_pattern(rf"(?i)\b(?:{groups}|({compound}|{_misspelt()}))\b")


_OFTEN_MISSPELT = (
    "password passwords passphrase passcode passwort kennwort contrasena contrasenas motdepasse"
).split()


def _misspelt() -> str:
    """The names that are one letter away from a common one, with the same first letter."""
    return "|".join(sorted({wrong for name in _OFTEN_MISSPELT for wrong in _one_edit(name)}))


def _one_edit(name: str) -> Iterator[str]:
    for at in range(1, len(name)):
        before, letter, after = name[:at], name[at], name[at + 1 :]
        yield f"{before}[a-z?]?{after}"
        yield f"{before}[a-z?]{letter}{after}"
        if after:
            yield f"{before}{after[0]}{letter}{after[1:]}"


def find_mentions(data: bytes) -> Iterator[NamedSecret]:
    """The names of secrets, without those that belong to something else or to an identifier."""
    names = tuple(_SECTIONS)
    for match in _name_pattern().finditer(data):
        compound = match.lastindex > len(names)
        name = SecretName.PASSWORD if compound else names[match.lastindex - 1]
        if not _is_of_something_else(data, match.start(), match.end()):
            yield NamedSecret(name, match.start(), match.end())


@cache
def _after_name() -> Any:
    return compile_pattern(
        rf"(?i)[ -]{pattern_of('after_names')}\b|-[a-z]{{4,}}|[(\[./\\]?[A-Za-z_]*\(|[./\\_]\w"
    )


def _is_of_something_else(data: bytes, start: int, end: int) -> bool:
    if data[start - 1 : start] in (b".", b"/", b"$", b"@", b"<", b"{") and start:
        return True
    if _before_name().search(data[max(0, start - 40) : start]):
        return True
    return bool(_after_name().match(data, end, end + 40))


@cache
def _before_name() -> Any:
    return compile_pattern(rf"(?i)\b{pattern_of('before_names')}[ ](?:of|for|de|di|des|d')?[ ]?$")


_BESIDE = 32
_AFTER = 50


def is_protected(data: bytes, mention: NamedSecret) -> bool:
    """True if the words beside a code say what it opens, and not that it is a public one."""
    before = data[max(0, mention.start - _BESIDE) : mention.start].decode("latin-1").lower()
    after = data[mention.end : mention.end + _AFTER].decode("latin-1").lower()
    beside = before.rsplit(".")[-1] + " " + re.split("[.:,]", after)[0]
    return bool(_protected().search(beside)) and not is_public(data, mention)


@cache
def _of_a_thing() -> Any:
    thing = r"(?:[a-z?'-]{2,20}[ ]){0,4}[a-z?'-]{3,20}"
    number = r"[#*]?[0-9]{4,8}[#*]?(?:[.,;!\n]|$)"
    return compile_pattern(
        rf"(?i)[ ]{pattern_of('for_things')}[ ']{pattern_of('possessives')}?[ ']?{thing}"
        rf"(?:[ ]{pattern_of('links')}[ ]|[ ]?:[ ]){number}"
    )


def is_of_a_thing(data: bytes, mention: NamedSecret) -> bool:
    """True for `the code for Ada's greenhouse is 4471`, whatever the thing is."""
    told = _of_a_thing().match(data, mention.end, mention.end + 90)
    return bool(told) and not is_public(data, mention)


def is_public(data: bytes, mention: NamedSecret) -> bool:
    before = data[max(0, mention.start - 20) : mention.start].decode("latin-1").lower()
    after = data[mention.end : mention.end + 25].decode("latin-1").lower()
    near = " ".join([*before.split()[-1:], *after.split()[:3]])
    return bool(_public().search(near))


@cache
def _protected() -> re.Pattern[str]:
    return re.compile(rf"\b{pattern_of('protected')}\b")


@cache
def _public() -> re.Pattern[str]:
    return re.compile(rf"\b{pattern_of('public_codes')}\b")
