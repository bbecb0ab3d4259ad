"""Decides if a value next to a name such as `password` is a secret."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto
from itertools import pairwise

from remembrancer.guard.secrets import token_formats as table
from remembrancer.guard.secrets.plain_words import is_predicate
from remembrancer.guard.secrets.value_shape import (
    has_digit,
    is_digest,
    is_mixed,
    is_password,
    is_token,
)


class SecretClass(Enum):
    """The kind of secret that a name suggests for the value next to it."""

    PASSWORD = auto()
    PIN = auto()
    SECRET = auto()
    LOOSE = auto()


class ClaimSyntax(Enum):
    """The connection of name and value; each member is a group of the name pattern."""

    ASSIGNED = 1
    AS_ARGUMENT = 2
    IN_SENTENCE = 3
    BESIDE = 4


@dataclass(frozen=True, slots=True)
class Claim:
    """A value with its name and context."""

    words: tuple[str, ...]
    secret_class: SecretClass
    syntax: ClaimSyntax
    separator: str
    value: str
    quoted: bool
    after: str


def is_secret(claim: Claim) -> bool:
    """True if the value is a secret rather than code, prose or a placeholder."""
    has_key_prefix = _KEY_PREFIX_PATTERN.match(claim.value) and claim.syntax is ClaimSyntax.ASSIGNED
    return bool(has_key_prefix) or _ACCEPTS[claim.secret_class](claim)


_KEY_PREFIX_PATTERN = re.compile(
    r"(?:sk|pk|rk)[-_](?!.*(?:example|x{6}|\*{3}))[A-Za-z0-9_-]{24}", re.I
)
"""A prefix of several vendors; a value that has it and is called a key is a secret."""


def secret_kind(secret_class: SecretClass) -> str:
    return _KINDS.get(secret_class, "generic-token")


def classify_name(words: tuple[str, ...]) -> SecretClass | None:
    if not words or words[-1] in table.NON_VALUE_WORDS:
        return None
    expanded = _expand_words(words)
    if expanded & table.PASSWORD_WORDS or words[0] == "bundle":
        return SecretClass.PASSWORD
    if expanded & table.PIN_WORDS:
        return SecretClass.PIN
    if expanded & table.HARMLESS_WORDS:
        return None
    has_key = not expanded.isdisjoint(("key", "keys"))
    if expanded & table.SECRET_WORDS or (
        has_key and expanded & (table.VENDORS | table.KEY_QUALIFIERS)
    ):
        return SecretClass.SECRET
    return SecretClass.LOOSE if has_key or expanded & table.VENDORS else None


def _expand_words(words: tuple[str, ...]) -> set[str]:
    """The words, their known endings if written together, and each two joined."""
    endings = {end for word in words for end in table.GLUED_ENDINGS if word.endswith(end)}
    return {*words, *endings, *map("".join, pairwise(words))}


# The only pattern with a lookahead, so it uses re; its input has a bounded length.
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z?]+")


def split_name(name: str) -> list[str]:
    """The words of a snake_case, kebab-case, dotted or camelCase name, in lower case."""
    return [word.lower() for word in _WORD.findall(name)]


def _accepts_pin(claim: Claim) -> bool:
    return (
        claim.syntax is not ClaimSyntax.BESIDE
        and claim.value.isdigit()
        and 3 <= len(claim.value) <= 12
    )


def _accepts_secret(claim: Claim) -> bool:
    if claim.syntax is not ClaimSyntax.BESIDE:
        return is_token(claim.value)
    min_chars = 12 if claim.words[-1] == "bearer" else 16
    return len(claim.value) >= min_chars and has_digit(claim.value) and is_token(claim.value)


def _accepts_loose(claim: Claim) -> bool:
    if claim.syntax is ClaimSyntax.BESIDE or len(claim.value) < 14:
        return False
    if not table.HEX_KEY_VENDORS.isdisjoint(claim.words):
        return is_token(claim.value)
    return is_token(claim.value) and not is_digest(claim.value)


def _accepts_password(claim: Claim) -> bool:
    if not is_password(claim.value, may_have_spaces="passphrase" in claim.words):
        return False
    if claim.syntax is ClaimSyntax.BESIDE or claim.words == ("pass",):
        return _accepts_loose_password(claim)
    if claim.quoted:
        return True
    return not _is_variable(claim.value) and (is_mixed(claim.value) or _is_plain_password(claim))


def _is_variable(value: str) -> bool:
    named = not table.PASSWORD_WORDS.isdisjoint(split_name(value))
    return named and value.replace("_", "").isalpha()


def _accepts_loose_password(claim: Claim) -> bool:
    """For `password hunter2`, `set_password("...")` and `pass`, which is also a verb."""
    if claim.quoted:
        return claim.words != ("pass",) or claim.syntax is ClaimSyntax.ASSIGNED
    if claim.separator == "(" or len(claim.value) < 6 or "=" in claim.value:
        return False
    return has_digit(claim.value) and not claim.value.isdigit()


_LINE_ENDS = ("", "\n", "\r")


def _is_plain_password(claim: Claim) -> bool:
    """True if a plain word is the password rather than part of the sentence or the code."""
    if claim.separator.strip(" -") in ("", "to") or "\n" in claim.separator.strip(" "):
        return False
    if claim.syntax is ClaimSyntax.IN_SENTENCE and "?" in claim.separator:
        return False  # An Italian "is": the plain word after it is rarely English.
    if claim.syntax is ClaimSyntax.IN_SENTENCE and ":" not in claim.separator:
        return _ends_sentence(claim.after) and not is_predicate(claim.value)
    if claim.separator[-1:].isspace():
        return ":" in claim.separator and claim.after[:1] in _LINE_ENDS
    return claim.after[:1] in (*_LINE_ENDS, " ", "&", ";", "<")


def _ends_sentence(after: str) -> bool:
    return after.strip() in ("", ".", "!", ",") and not after.startswith(" ")


_KINDS = {SecretClass.PASSWORD: "password", SecretClass.PIN: "pin"}
_ACCEPTS: dict[SecretClass, Callable[[Claim], bool]] = {
    SecretClass.PASSWORD: _accepts_password,
    SecretClass.PIN: _accepts_pin,
    SecretClass.SECRET: _accepts_secret,
    SecretClass.LOOSE: _accepts_loose,
}
