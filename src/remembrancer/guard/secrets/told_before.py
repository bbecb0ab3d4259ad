"""Finds a secret that stands before its name: "Xylo7! is my password", "4410 is my PIN"."""

from __future__ import annotations

from functools import cache
from typing import Any

from remembrancer.guard.patterns import compile_pattern
from remembrancer.guard.secrets import plain_words
from remembrancer.guard.secrets.ascii_view import Span
from remembrancer.guard.secrets.mentions import NamedSecret, SecretName
from remembrancer.guard.secrets.value_readers import CODES, PASSWORDS, is_code
from remembrancer.guard.secrets.wording import pattern_of

_BEFORE = 110
_VALUE = r"[\"'`]?([^\s\"'`,;\xff]{3,64})[\"'`]?"
_QUALIFIERS = r"(?:[a-z0-9'-]+[ ]){0,3}$"


@cache
def _is_name() -> Any:
    """`VALUE is my`, `VALUE, that's the wifi`, up to the name."""
    opening = r"(?:^|[.!?:,;\n(][ ]*|\b(?:that|remember|and|dass|que|che)[ ])"
    links, references = pattern_of("links"), pattern_of("references")
    verb = rf"(?:[ ]{links}[ ]|,?[ ](?:[a-z]{{2,6}}[ ])?{references}[ ]|,[ ])"
    return compile_pattern(
        rf"(?i){opening}{_VALUE}{verb}({pattern_of('possessives')}[ ]){_QUALIFIERS}"
    )


@cache
def _used_as_name() -> Any:
    """`use VALUE as the wifi`, up to the name; the first group is the verb."""
    role = rf"(?:{pattern_of('as')}[ ](?:{pattern_of('possessives')}[ ])?|for[ ]my[ ])"
    verb = rf"(?:\b({pattern_of('used')})[ ](?:[a-z]+[ ]){{0,2}}?|^|[ ])"
    return compile_pattern(rf"(?i){verb}{_VALUE}[ ]{role}{_QUALIFIERS}")


@cache
def _corrected() -> Any:
    """`it's VALUE, the old`, up to the name."""
    return compile_pattern(
        rf"(?i)(?:^|[ ,.]){pattern_of('references')}[ ]{_VALUE},[ ][^.!?\n\xff]{{0,30}}$"
    )


_MINE = r"(?i)^(?:my|mein|meine|mi|mon|ma|mia|la[ ]mia|il[ ]mio)[ ]"
_NAME_ENDS = r"(?i)[ ]?[.!,;)\n]|$|[ ][a-z]+"


def read_before(data: bytes, mention: NamedSecret) -> list[Span]:
    if mention.name not in (*PASSWORDS, *CODES):
        return []
    if not compile_pattern(_NAME_ENDS).match(data, mention.end, mention.end + 20):
        return []
    start = max(0, mention.start - _BEFORE)
    before = data[start : mention.start]
    kind = "password" if mention.name in PASSWORDS else "pin"
    told = _is_name().search(before)
    if told and _is_told(told[1], told[2], mention):
        return [Span(start + told.start(1), start + told.end(1), kind)]
    used = _used_as_name().search(before)
    if used and _is_used(used[2], bool(used[1]), mention):
        return [Span(start + used.start(2), start + used.end(2), kind)]
    corrected = mention.name in PASSWORDS and _corrected().search(before)
    if corrected and plain_words.is_clearly_made_up(corrected[1].decode("latin-1")):
        return [Span(start + corrected.start(1), start + corrected.end(1), kind)]
    return []


def _is_told(found: bytes, possessive: bytes, mention: NamedSecret) -> bool:
    value = found.decode("latin-1")
    if mention.name in CODES:
        return is_code(found)
    if plain_words.is_made_up(value):
        return mention.name is SecretName.PASSWORD or plain_words.is_clearly_made_up(value)
    mine = bool(compile_pattern(_MINE).match(possessive))
    return mine and value.isalpha() and not plain_words.is_predicate(value)


def _is_used(found: bytes, chosen: bool, mention: NamedSecret) -> bool:
    value = found.decode("latin-1")
    if mention.name in CODES:
        return is_code(found)
    if plain_words.is_made_up(value):
        return True
    return chosen and value.isalpha() and not plain_words.is_predicate(value)
