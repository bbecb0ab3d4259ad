"""Finds a secret that is told with its name: "the wifi password is, um, …", "… is my PIN".

One grammar for all languages: a name, what it is for, a verb or a sign, hesitation, a value.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from remembrancer.guard.patterns import compile_pattern
from remembrancer.guard.secrets.ascii_view import Span, group_span
from remembrancer.guard.secrets.mentions import (
    NamedSecret,
    SecretName,
    find_mentions,
    is_of_a_thing,
    is_protected,
    is_public,
)
from remembrancer.guard.secrets.plain_words import is_clearly_made_up, is_predicate
from remembrancer.guard.secrets.told_answers import ANSWER_WINDOW, read_answers
from remembrancer.guard.secrets.told_before import read_before
from remembrancer.guard.secrets.told_lists import read_list
from remembrancer.guard.secrets.value_readers import (
    CODES,
    PASSWORDS,
    WINDOW,
    count_digits,
    read_code,
    read_value,
)
from remembrancer.guard.secrets.wording import pattern_of


def find_told_values(data: bytes) -> Iterator[Span]:
    done = asked = 0
    for mention in find_mentions(data):
        if mention.start < done:
            continue
        if mention.name is SecretName.SECURITY_QUESTION:
            spans = read_answers(data, mention) if mention.start >= asked else []
            asked = mention.end + ANSWER_WINDOW
        else:
            spans = _read_told(data, mention)
        done = max((done, *(span.end for span in spans)))
        yield from spans


def _read_told(data: bytes, mention: NamedSecret) -> list[Span]:
    if mention.name in (SecretName.SEED_PHRASE, SecretName.RECOVERY_CODE):
        return list(read_list(data, mention)) or _read_linked_phrase(data, mention)
    if mention.name in CODES and not _has_digits_near(data, mention):
        return []
    if not can_have_value(data, mention):
        return []
    return [*read_before(data, mention), *_read_after(data, mention)]


def _read_linked_phrase(data: bytes, mention: NamedSecret) -> list[Span]:
    """`la frase segreta è …`: also the name of a wallet's words, but with fewer of them."""
    if mention.name is not SecretName.SEED_PHRASE:
        return []
    link = _links(weak=True).match(data, mention.end, mention.end + WINDOW)
    return read_value(data, link.end(), mention, introduced=link[1] is not None) if link else []


def _has_digits_near(data: bytes, mention: NamedSecret) -> bool:
    near = data[max(0, mention.start - WINDOW) : mention.end + WINDOW]
    return bool(_digits().search(near))


@cache
def _digits() -> Any:
    return compile_pattern(
        rf"(?i)[0-9]|\b{pattern_of('digits')}[ ,-]{{1,2}}{pattern_of('digits')}\b"
    )


def can_have_value(data: bytes, mention: NamedSecret) -> bool:
    """True unless it is a code that opens nothing, or that is public."""
    if mention.name is SecretName.OPEN_CODE:
        return _is_combination(data, mention) or is_locked(data, mention)
    return mention.name is not SecretName.CODE or not is_public(data, mention)


def is_locked(data: bytes, mention: NamedSecret) -> bool:
    return is_protected(data, mention) or is_of_a_thing(data, mention)


def _is_combination(data: bytes, mention: NamedSecret) -> bool:
    return data[mention.start : mention.start + 5].lower() in (b"combi", b"kombi")


@cache
def _place() -> str:
    """What the secret is for: `for the NAS`, `(admin)`, `they sent me`."""
    opening = rf"{pattern_of('places')}(?:\b|')"
    return rf"(?:[ ](?:\([^()\n\xff]{{1,30}}\)|{opening}[^\n.:;=,?!\"\xff]{{1,45}}?))?"


@cache
def _hesitation() -> str:
    return rf"(?:[ ,.:-]*\b{pattern_of('fillers')}\b[ ,.:-]*)*"


@cache
def _links(weak: bool) -> Any:
    apposition = "" if weak else r"(?:[ ][A-Za-z0-9'-]{2,20}){0,2}?"
    hesitation = rf"(?:,?[ ]{pattern_of('fillers')},?)*"
    aside = r"(?:,(?:[ ][A-Za-z']{1,12}){2,7}?,?)?"
    change = rf"(?:[ ][a-z?]+){{0,3}}[ ]{pattern_of('changes')}[ ]{pattern_of('changes_to')}[ ]"
    verb = rf"[ ]{pattern_of('links')}(?:,?[ ]|[ ]?:[ ]*)"
    sign = r"[*_]{0,2}[ ]?(?::|=|->|=>)[*_]{0,2}[ ]*"
    relative = r"(?:,[ ](?:which|die|das|der|que|qui|che))?"
    link = rf"(?:'s[ ]|{change}|{relative}{verb}|({sign}))"
    return compile_pattern(rf"(?i){apposition}{_place()}{aside}{hesitation}{link}{_hesitation()}")


@cache
def _references() -> Any:
    clause = r"(?:[.,;:?!][ ]*(?:[a-z]{1,8}[ ])?|[ ](?:and|but|und|aber|y|pero|et|mais|e|ma)[ ])"
    return compile_pattern(
        rf"(?i)[^\n]{{0,90}}?{clause}{pattern_of('references')}[ :]+{_hesitation()}"
    )


@cache
def _taken_up() -> Any:
    """`… word and it's purple kettle,`."""
    word = r"([A-Za-z-]{3,20})"
    return compile_pattern(
        rf"(?i)(?:,|,?[ ](?:and|und|y|et|e))[ ]{pattern_of('references')}[ ]"
        rf"{word}(?:[ ]{word})?(?:[.,;!\n]|$)"
    )


def _read_taken_up(data: bytes, mention: NamedSecret) -> list[Span]:
    """One or two plain words that end their clause, right after the name of a password."""
    match = mention.name is SecretName.PASSWORD and _taken_up().match(
        data, mention.end, mention.end + 80
    )
    if not match:
        return []
    end = match.end(2) if match[2] else match.end(1)
    words = data[match.start(1) : end].decode("latin-1").split()
    if any(map(is_predicate, words)):
        return []
    return [Span(match.start(1), end, "password")]


@cache
def _change() -> Any:
    return compile_pattern(rf"(?i)\b(?:change|{pattern_of('changes')})\b")


def _read_after(data: bytes, mention: NamedSecret) -> list[Span]:
    """What follows the name: after a verb or a sign, in the next clause, or directly."""
    links = _links(mention.name is SecretName.WEAK_PASSWORD)
    if link := links.match(data, mention.end, mention.end + WINDOW):
        found = read_value(data, link.end(), mention, introduced=link[1] is not None)
        if not found and mention.name is SecretName.WEAK_PASSWORD and is_protected(data, mention):
            found = read_code(data, link.end())
        if found:
            return found
    return (
        _read_reference(data, mention) or _read_chosen(data, mention) or _read_beside(data, mention)
    )


def _read_reference(data: bytes, mention: NamedSecret) -> list[Span]:
    """The value in the next clause: `I changed the password. It is now …`."""
    if found := _read_taken_up(data, mention):
        return found
    reference = _references().match(data, mention.end, mention.end + WINDOW)
    if not reference:
        return []
    before = data[max(0, mention.start - 40) : mention.start]
    changed = bool(_change().search(reference[0]) or _change().search(before))
    return read_value(data, reference.end(), mention, introduced=False, plain=changed)


@cache
def _chosen() -> Any:
    return compile_pattern(
        rf"(?i)\b{pattern_of('used')}\b[^\n.,;:?!]{{0,20}}[ ](?:{pattern_of('as')}|de)[ ]$"
    )


@cache
def _set_to() -> Any:
    return compile_pattern(
        rf"(?i)\b(?:make|set|change|{pattern_of('changes', 'used')})\b[^\n.,;:?!]{{0,30}}$"
    )


@cache
def _verb_last() -> Any:
    """`auf VALUE gesetzt`."""
    value = r"[ ](?:[a-z]+[ ]){0,2}auf[ ]([^\s\"'`,;\xff]{4,64})[ ]"
    return compile_pattern(rf"(?i){value}{pattern_of('changes')}\b")


@cache
def _chosen_value() -> Any:
    value = r"[ ]([^\s\"'`,;.\xff]{4,64})"
    return compile_pattern(rf"(?i){value}(?:[ ]{pattern_of('used')})?(?:[ ]?[.!,;)\n]|[ ]?$)")


@cache
def _to() -> Any:
    return compile_pattern(rf"(?i)[ ](?:{pattern_of('changes_to')}[ ])?")


def _read_chosen(data: bytes, mention: NamedSecret) -> list[Span]:
    """A value after a verb of choosing: `set the password to …`, `als Passwort … genommen`."""
    if mention.name not in PASSWORDS:
        return []
    before = data[max(0, mention.start - 45) : mention.start]
    found = _verb_last().match(data, mention.end, mention.end + 120)
    if not found and _chosen().search(before):
        found = _chosen_value().match(data, mention.end, mention.end + 100)
    if found and not is_predicate(found[1].decode("latin-1")):
        return [group_span(found, 1, "password")]
    if _set_to().search(before):
        gap = _to().match(data, mention.end, mention.end + 10)
        return read_value(data, gap.end(), mention, introduced=False) if gap else []
    return []


@cache
def _gap() -> Any:
    """Up to the first word with a digit."""
    return compile_pattern(rf"(?i){_place()}[ ]{{1,3}}([^\s0-9]{{0,20}}[0-9])")


@cache
def _direct() -> Any:
    return compile_pattern(rf"(?i)[ ]{{1,3}}(?:\([ ]?)?(?:{pattern_of('fillers')}[ ])?")


_MIN_DIGITS = 3
_MIN_PIN_DIGITS = 4


def _read_beside(data: bytes, mention: NamedSecret) -> list[Span]:
    """`locker code 2846`, `setup key k5qx mzrt`, `password for the mail Lizard-77`."""
    direct = _direct().match(data, mention.end, mention.end + 20)
    if not direct:
        return []
    if mention.name is SecretName.KEY:
        return read_value(data, direct.end(), mention, introduced=False)
    place = _gap().match(data, mention.end, mention.end + 80)
    for at in (direct.end(), *([place.start(1)] if place else [])):
        found = read_value(data, at, mention, introduced=False, plain=False)
        if found and _is_told_beside(data, found[0], mention):
            return found
    return []


@cache
def _question() -> Any:
    opening = r"(?:^|[.,!?\n][ ]?)(?:but[ ]|and[ ])?"
    return compile_pattern(rf"(?i){opening}{pattern_of('links')}[ ](?:[a-z'-]+[ ]){{0,3}}$")


def _is_question(data: bytes, mention: NamedSecret) -> bool:
    """True for a verb before the name, as in `is the wifi password still …`."""
    before = data[max(0, mention.start - 40) : mention.start]
    return bool(_question().search(before))


def _is_told_beside(data: bytes, span: Span, mention: NamedSecret) -> bool:
    value = data[span.start : span.end]
    if mention.name in CODES:
        if mention.name is SecretName.OPEN_CODE and not is_locked(data, mention):
            return False
        is_pin = mention.end - mention.start == len("pin")
        return count_digits(value) >= (_MIN_PIN_DIGITS if is_pin else _MIN_DIGITS)
    mixed = value.decode("latin-1")
    ends = compile_pattern(r"[ ]*(?:[.,;!?)\n]|$)").match(data, span.end)
    if ends and is_clearly_made_up(mixed) and _is_question(data, mention):
        return True
    made_up = is_clearly_made_up(mixed) and mixed.lower() != mixed and count_digits(value) > 0
    return len(mixed) >= 8 and made_up and bool(ends)
