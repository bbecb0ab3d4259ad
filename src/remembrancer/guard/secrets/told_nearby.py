"""Finds a value by its looks and by words for something locked near it, in any order.

"It says bluehen-22, that's the guest network", "quita la alarma con 40-71, luego …".
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from remembrancer.guard.patterns import compile_pattern
from remembrancer.guard.secrets.ascii_view import Span
from remembrancer.guard.secrets.plain_words import is_clearly_made_up, is_measured
from remembrancer.guard.secrets.value_readers import count_digits, trim
from remembrancer.guard.secrets.value_shape import has_digit
from remembrancer.guard.secrets.wording import is_word_of, pattern_of

_BEFORE = 100
_AFTER = 80
_WORD = r"(?:^|[\s\"'`(:=])([^\s\"'`,;<>()\xff]{5,64})"
_SIGNED = r"[0-9!#$%&*+?^_]"


def find_nearby(data: bytes) -> Iterator[Span]:
    """Passwords, grouped keys, codes and combinations."""
    yield from _find_passwords(data)
    yield from _find_groups(data)
    yield from _find_codes(data)
    yield from _find_spoken(data)
    yield from _find_turns(data)
    yield from _find_screen_patterns(data)


def _find_passwords(data: bytes) -> Iterator[Span]:
    for match in compile_pattern(_WORD).finditer(data):
        word = match[1]
        if not compile_pattern(_SIGNED).search(word):
            continue
        value = trim(word)
        if not _may_be_chosen(value) and not _is_cried(data, match, value):
            continue
        end = match.start(1) + len(value)
        near = _sentences_near(data, match.start(1), end)
        if _is_told_near(value, near) and not _other_name().search(near):
            yield Span(match.start(1), end, "password")


def _is_cried(data: bytes, match: Any, value: str) -> bool:
    """True for `sunshine!` within a sentence."""
    after = data[match.start(1) + len(value) : match.start(1) + len(value) + 2]
    inside = after[:1] == b"," or (after[:1] == b" " and after[1:].islower())
    return inside and value[:-1].isalpha() and value.endswith("!")


def _is_told_near(value: str, near: bytes) -> bool:
    if _hands_over().search(near) and (has_digit(value) or value[-1:] in "!?"):
        return True
    return has_digit(value) and not _is_product(value) and bool(_keeps().search(near))


def _may_be_chosen(value: str) -> bool:
    """True for a word with digits or signs that is no file, version, amount or address."""
    letters = sum(map(str.isalpha, value))
    if letters < 4 or is_measured(value) or not is_clearly_made_up(value):
        return False
    return not compile_pattern(_PUBLIC_LOOKS).search(value.encode("latin-1"))


_PRODUCT = (
    r"^(?:[A-Za-z]+(?:-[A-Za-z]+)*[0-9]|[A-Za-z]+[0-9][A-Za-z]+|[A-Z][a-z]+-[0-9]{1,2}|[A-Z0-9+-]+)$"
    r"|^[a-z0-9]+\.[A-Z][a-z]+[A-Z]"
)


def _is_product(value: str) -> bool:
    """True for what also names things for sale and programs, such as `Hero8` and `Word2Vec`."""
    return bool(compile_pattern(_PRODUCT).search(value.encode("latin-1")))


@cache
def _hands_over() -> Any:
    """`her email, then …`, `n'est plus … mais …`: only a password stands there."""
    user, then = pattern_of("accounts"), pattern_of("and", "then")
    outdated, but = pattern_of("outdated"), pattern_of("but")
    return compile_pattern(
        rf"(?i)\b{user}\b(?:[ ][^\s,;:!?]+){{0,2}},?(?:[ ]{then}){{1,3}}[ ]\xff"
        rf"|\b{outdated}[ ][^\n\xff]{{0,50}}\b{but}[ ]\xff|\xff[ ]{outdated},?[ ]{but}[ ]"
        rf"|\b(?:nicht|not|non|ne|no)[ ]\xff[ ](?:[a-z]+[ ]){{0,2}}{but}[ ]"
    )


_PUBLIC_LOOKS = (
    r"@|://|/|\\|[\[\]{}|=~]|^[a-z-]+[?!]+$|^[0-9]+(?:[.,:-][0-9]+)*-?[A-Za-z-]+$"
    r"|(?i)^(?:windows|python|covid|iphone|galaxy|pixel|ipad|ps|gpt|fritz!?box|office|html|utf|sha|"
    r"ipv|usb|oauth|argon|user|version|chapter|part|step|level|q[1-4]|section|room|error|http)"
    r"[-_. ]?[0-9]"
    r"|\.(?:com|org|net|io|dev|de|fr|es|it|pdf|docx?|xlsx?|png|jpe?g|gif|zip|txt|csv|py|js|ts|html?|"
    r"json|ya?ml|md|mp[34])$|'"
)


def _sentences_near(data: bytes, start: int, end: int) -> bytes:
    """What stands in the line before and after a value, with a gap for the value."""
    before = data[max(0, start - _BEFORE) : start].rpartition(b"\n")[2]
    after = data[end : end + _AFTER].partition(b"\n")[0]
    return bytes(before + b"\xff" + after)


@cache
def _keeps() -> Any:
    names = ("keeps_passwords", "passwords", "keys", "recovery_codes")
    return compile_pattern(rf"(?i)\b{pattern_of(*names)}\b")


@cache
def _other_name() -> Any:
    """A word directly before or after the value that says that it is something else."""
    name = pattern_of("public_values")
    return compile_pattern(rf"(?i)\b{name}\b[^.!?\n\xff]{{0,12}}\xff|\xff[ ]{name}\b")


_GROUPS = r"\b((?:[A-Z0-9]{4,5}[ -]){2,12}[A-Z0-9]{4,5})\b"


def _find_groups(data: bytes) -> Iterator[Span]:
    for match in compile_pattern(_GROUPS).finditer(data):
        digits = count_digits(match[1])
        joined = sum(map(bytes.isalpha, (match[1][at : at + 1] for at in range(len(match[1])))))
        near = _sentences_near(data, match.start(1), match.end(1))
        if digits >= 2 and joined >= 4 and _keeps().search(near):
            yield Span(match.start(1), match.end(1), "generic-token")


_CODE = (
    r"(?:^|[\s(\"'*:])("
    r"[#*]?[0-9]{4,8}[#*]?|[0-9]{1,2}(?:-[0-9]{1,2}){1,5}|[0-9](?:[ ][0-9]){3,7}"
    r"|[0-9]{2,3}(?:[ ][0-9]{2,3}){1,3}|[0-9]{3,4}-[0-9]{2,4}|[A-Z][0-9]{3,6}|[0-9]{3,6}[A-Z]"
    r"|[0-9]{3}|[A-Z]{1,3}-[0-9]{4,6}"
    r")(?:[\s.,;:!?)\"'*]|$)"
)
_AMOUNT_BEFORE = (
    r"(?i)(?:[$#\xa3]|(?:^|[ (])(?:eur|usd|nr\.?|no\.?|n\?|number|room|zimmer|page|seite|since|seit|in|of|from|"
    r"until|bis|von|by|around|about|depuis|desde|dal|nel|le|les|year|jahr|ann?[eo]e?|version|port|"
    r"error|line|tel|call|phone|telefon|flat|unit|bus|flight|order|bestellung|apartment|model|"
    r"at|um|alle|\?|a las|over|under|than|nearly|almost|fast|ca\.|circa|casi|para|pour|per|fur|for)[ .]+)$"
)
_AMOUNT_AFTER = r"(?i)^(?:[.,:/]?[0-9]|[ ]?[%$/]|[ ]?(?:am|pm|uhr|h|eur|usd)\b|-[a-z])"


def _find_codes(data: bytes) -> Iterator[Span]:
    for match in compile_pattern(_CODE).finditer(data):
        start, end = match.span(1)
        if not _may_be_code(data, match[1], start, end):
            continue
        near = _sentences_near(data, start, end)
        if _is_short(match[1]):
            told = _back_of_card().search(near)
        else:
            told = _asks_code().search(near) or _types_code().search(near)
        if told and not _other_number().search(near):
            yield Span(start, end, "pin")


def _is_short(value: bytes) -> bool:
    return len(value) == 3


def _may_be_code(data: bytes, value: bytes, start: int, end: int) -> bool:
    """True unless it is an amount, a year, a date or a time."""
    if compile_pattern(_YEAR_OR_DATE).fullmatch(value):
        return False
    if compile_pattern(_AMOUNT_BEFORE).search(data[max(0, start - 14) : start]):
        return False
    after = data[end : end + 30]
    if compile_pattern(_AMOUNT_AFTER).search(after):
        return False
    following = after.strip().split(b" ")[0].decode("latin-1").strip(".,;:!?)'\"")
    return not (following and after[:1] == b" " and is_word_of("units", following))


_YEAR_OR_DATE = r"(?:19|20)[0-9]{2}|(?:19|20)[0-9]{2}-[0-9]{2,4}|[0-9]{1,2}-[0-9]{1,2}-(?:19|20)[0-9]{2}|[0-9]{1,2}000|[0-9]{1,2}-[0-9]"


@cache
def _asks_code() -> Any:
    """A thing for which a number nearby can only be the code."""
    return compile_pattern(rf"(?i)\b{pattern_of('asks_codes')}\b")


@cache
def _types_code() -> Any:
    """`at the gate … press`, in either order, on one side of the code or around it."""
    thing, verb = pattern_of("protected"), pattern_of("types_codes")
    return compile_pattern(
        rf"(?i)\b(?:{verb}\b[^\n.!?]{{0,60}}\b{thing}|{thing}\b[^\n.!?]{{0,60}}\b{verb})\b"
    )


@cache
def _back_of_card() -> Any:
    return compile_pattern(rf"(?i)\b{pattern_of('backs_of_cards')}\b")


@cache
def _other_number() -> Any:
    name = pattern_of("public_values", "public_numbers")
    return compile_pattern(rf"(?i)\b{name}\b[^.!?\n\xff]{{0,12}}\xff|\xff[ ]{name}\b")


@cache
def _spoken() -> Any:
    digit = pattern_of("digits")
    return compile_pattern(rf"(?i)\b({digit}(?:[ ,-]{{1,2}}{digit}){{3,11}})\b")


def _find_spoken(data: bytes) -> Iterator[Span]:
    for match in _spoken().finditer(data):
        near = _sentences_near(data, match.start(1), match.end(1))
        if _asks_code().search(near) or _types_code().search(near):
            yield Span(match.start(1), match.end(1), "pin")


@cache
def _turns() -> Any:
    """`14 left, 32 right`, `right to 31, left to 7`."""
    side = pattern_of("sides")
    turn = rf"(?:(?:{side}[ ])(?:[a-z]{{1,5}}[ ]){{0,2}}[0-9]{{1,2}}|[0-9]{{1,2}}[ ](?:[a-z]{{1,5}}[ ]){{0,2}}{side})"
    return compile_pattern(rf"(?i)\b({turn}(?:[ ,;]{{1,3}}(?:[a-z]{{1,6}}[ ]){{0,2}}{turn}){{1,5}})\b")


def _find_turns(data: bytes) -> Iterator[Span]:
    for match in _turns().finditer(data):
        if _has_dial().search(_sentences_near(data, match.start(1), match.end(1))):
            yield Span(match.start(1), match.end(1), "pin")


@cache
def _has_dial() -> Any:
    return compile_pattern(rf"(?i)\b{pattern_of('dials')}\b")


@cache
def _screen_pattern() -> Any:
    """`top left, centre, bottom right`: where a finger moves to unlock a screen."""
    place = pattern_of("places_on_screens")
    return compile_pattern(rf"(?i)\b({place}(?:[ ]?(?:,|-|->|then|dann|luego|puis|poi)[ ]?{place}){{2,8}})\b")


def _find_screen_patterns(data: bytes) -> Iterator[Span]:
    for match in _screen_pattern().finditer(data):
        if _draws().search(_sentences_near(data, match.start(1), match.end(1))):
            yield Span(match.start(1), match.end(1), "pin")


@cache
def _draws() -> Any:
    return compile_pattern(rf"(?i)\b{pattern_of('screen_patterns')}\b")
