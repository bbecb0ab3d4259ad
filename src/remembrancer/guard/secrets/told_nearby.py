"""Finds a value by its looks and by words for something locked near it, in any order.

"It says bluehen-22, that's the guest network", "quita la alarma con 40-71, luego …".
"""

from __future__ import annotations

import string
from collections.abc import Iterator
from functools import cache
from typing import Any

from remembrancer.guard.patterns import compile_pattern
from remembrancer.guard.secrets.ascii_view import Span, group_span
from remembrancer.guard.secrets.plain_words import is_clearly_made_up, is_measured, is_pair_of_names
from remembrancer.guard.secrets.told_answers import read_chosen_answer, read_registered_answer
from remembrancer.guard.secrets.value_readers import count_digits, trim
from remembrancer.guard.secrets.value_shape import has_digit
from remembrancer.guard.secrets.wording import is_word_of, pattern_of

_BEFORE = 100
_AFTER = 80
_MIN_CHARS, _MAX_CHARS = 5, 64
_IN_WORD = r"[^\s\"'`,;<>()\xff]*"
_MIXED = (
    rf"{_IN_WORD}(?:[A-Za-z]{_IN_WORD}[0-9]|[0-9]{_IN_WORD}[A-Za-z]){_IN_WORD}"
    r"|[A-Za-z]{5,}!(?:,|[ ][a-z])|[A-Za-z]{3,}[#$%*&+][A-Za-z]{2,}[A-Za-z!?]*"
)
_GROUPS = r"\b(?:[A-Z0-9]{4,5}[ -]){2,12}[A-Z0-9]{4,5}\b"


def find_nearby(data: bytes) -> Iterator[Span]:
    """Passwords, grouped keys, codes and combinations."""
    for match in compile_pattern(f"{_MIXED}|{_CODE}").finditer(data):
        if span := _read_mixed(data, match.start(), match[0]):
            yield span
    for match in _series().finditer(data):
        if span := _READERS[match.lastindex - 1](data, match.start(), match.end()):
            yield span


@cache
def _series() -> Any:
    """What can be a secret of several words; each shape is a group, in the order of the readers."""
    digit, side, place = map(pattern_of, ("digits", "sides", "places_on_screens"))
    short = r"(?:[a-z]{1,5}[ ]){0,2}"
    turn = rf"(?:{side}[ ]{short}[0-9]{{1,2}}|[0-9]{{1,2}}[ ]{short}{side})"
    sources = (
        _GROUPS,
        rf"(?i:\b{digit}(?:[ ,-]{{1,2}}{digit}){{3,11}}\b)",
        rf"(?i:\b{turn}(?:[ ,;]{{1,3}}{short}{turn}){{1,5}}\b)",
        rf"(?i:\b{place}(?:[ ]?(?:,|-|->|then|dann|luego|puis|poi)[ ]?{place}){{2,8}}\b)",
        rf"\b{pattern_of('questions')}\b",
        rf"(?i:\b{pattern_of('backs_of_cards')}\b)",
        rf"(?i:\b{pattern_of('networks')}\b)",
        rf"\b{pattern_of('answer_names')}\b",
    )
    return compile_pattern("|".join(f"({source})" for source in sources))


def _read_groups(data: bytes, start: int, end: int) -> Span | None:
    found = data[start:end].decode("latin-1")
    mixed = count_digits(data[start:end]) >= 2 and sum(map(str.isalpha, found)) >= 4
    if mixed and _keeps().search(_sentences_near(data, start, end)):
        return Span(start, end, "generic-token")
    return None


def _read_spoken(data: bytes, start: int, end: int) -> Span | None:
    near = _sentences_near(data, start, end)
    told = _asks_code().search(near) or _types_code().search(near)
    return Span(start, end, "pin") if told else None


def _read_turns(data: bytes, start: int, end: int) -> Span | None:
    """`14 left, 32 right`, `right to 31, left to 7`."""
    told = _has_dial().search(_sentences_near(data, start, end))
    return Span(start, end, "pin") if told else None


def _read_screen(data: bytes, start: int, end: int) -> Span | None:
    """`top left, centre, bottom right`: where a finger moves to unlock a screen."""
    told = _draws().search(_sentences_near(data, start, end))
    return Span(start, end, "pin") if told else None


_DIGITS_OF_CARD = r"[^0-9\n\xff]{1,50}?\b([0-9]{3,4})(?:[\s.,;!?)]|$)"


def _read_back_of_card(data: bytes, _: int, end: int) -> Span | None:
    """`the three digits on the back, 537`."""
    match = compile_pattern(_DIGITS_OF_CARD).match(data, end, end + 60)
    if match and _may_be_code(data, match[1], *match.span(1)):
        return group_span(match, 1, "pin")
    return None


@cache
def _network_says() -> Any:
    words = r"([A-Za-z]{3,}(?:[ ][A-Za-z]{3,}){0,3}[ ][0-9]{1,4})"
    return compile_pattern(
        rf"(?i)[^\n\xff]{{0,40}}?\b{pattern_of('says')}[ :]{{1,2}}{words}(?:[\s.,;!?)]|$)"
    )


def _read_network(data: bytes, _: int, end: int) -> Span | None:
    """`the guest network: it says blue hen 2`."""
    match = _network_says().match(data, end, end + 120)
    return group_span(match, 1, "password") if match else None


def _read_mixed(data: bytes, start: int, found: bytes) -> Span | None:
    """A password, or a code if the value has few letters."""
    if len(found) == _YEAR_CHARS and found.startswith((b"19", b"20")):
        return None
    value = found if found[:1].isdigit() and found[-1:].isdigit() else _trim_mixed(found)
    start += found.find(value)
    letters = len(value) - len(value.translate(None, _LETTERS))
    if letters >= _MIN_LETTERS and not compile_pattern(_SENT_CODE).fullmatch(value):
        return _read_password(data, start, value.decode("latin-1"))
    is_code = compile_pattern(_CODE).fullmatch(value)
    return _read_code(data, start, start + len(value)) if is_code else None


_BEFORE_WORD = b" \n\t\"'`*:(\xff"
_SENT_CODE = r"[A-Z0-9]{5,6}"
_YEAR_CHARS = 4
_MIN_LETTERS = 4
_LETTERS = string.ascii_letters.encode()


def _trim_mixed(found: bytes) -> bytes:
    """The value without the label before it and the punctuation after it."""
    word = trim(found.partition(b" ")[0])
    return word[max(word.rfind(":"), word.rfind("=")) + 1 :].encode("latin-1")


def _read_password(data: bytes, start: int, value: str) -> Span | None:
    end = start + len(value)
    if not _MIN_CHARS <= len(value) <= _MAX_CHARS:
        return None
    if data[start - 1 : start] in (b'"', b"'") and data[end + 1 : end + 2] == b")":
        return None
    if start and not has_digit(value) and data[start - 1] not in _BEFORE_WORD:
        return None
    near = _sentences_near(data, start, end)
    handed = _is_handed_over(value, near)
    if not handed and (not _is_kept_near(value, near) or _other_name().search(near)):
        return None
    told = _may_be_chosen(value) or _is_cried(data, end, value)
    return Span(start, end, "password") if told else None


def _is_cried(data: bytes, end: int, value: str) -> bool:
    """True for `sunshine!` within a sentence."""
    after = data[end : end + 2]
    inside = after[:1] == b"," or (after[:1] == b" " and after[1:].islower())
    return inside and value[:-1].isalpha() and value.endswith("!")


def _is_handed_over(value: str, near: bytes) -> bool:
    return bool(_hands_over().search(near)) and (has_digit(value) or value[-1:] in "!?")


def _is_kept_near(value: str, near: bytes) -> bool:
    if _is_product(value):
        return False
    keeps = _names() if compile_pattern(_RESOURCE).search(value.encode("latin-1")) else _keeps()
    return bool(keeps.search(near))


_RESOURCE = r"^[a-z]+(?:-[a-z]+)+-[0-9]{1,3}$"
"""Looks like `cherry-tree-40`, and like the name of a machine."""


def _may_be_chosen(value: str) -> bool:
    """True for a word with digits or signs that is no file, version, amount or address."""
    if is_measured(value) or is_pair_of_names(value) or not is_clearly_made_up(value):
        return False
    return not compile_pattern(_PUBLIC_LOOKS).search(value.encode("latin-1"))


_PRODUCT = (
    r"^(?:[A-Za-z]+(?:-[A-Za-z]+)*[0-9]|[A-Za-z]+[0-9][A-Za-z]+|[A-Z][a-z]+-[0-9]{1,2}|[A-Z0-9+-]+|[A-Z]{2,}[0-9]+[A-Za-z]*)$"
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
    r"|(?i)^(?:req|msg|evt|run|usr|cus|ord|job|id)[-_]"
    r"|\.(?:com|org|net|io|dev|de|fr|es|it|pdf|docx?|xlsx?|png|jpe?g|gif|zip|txt|csv|py|js|ts|html?|"
    r"json|ya?ml|md|mp[34])$|'"
)


def _sentences_near(data: bytes, start: int, end: int) -> bytes:
    """What stands in the line before and after a value, with a gap for the value.

    It ends at what was redacted, so that the length of a placeholder makes no difference.
    """
    before = data[max(0, start - _BEFORE) : start].rpartition(b"\n")[2].rpartition(b"\xff")[2]
    after = data[end : end + _AFTER].partition(b"\n")[0].partition(b"\xff")[0]
    return bytes(before + b"\xff" + after)


@cache
def _names() -> Any:
    names = ("passwords", "keys", "recovery_codes", "weak_passwords")
    return compile_pattern(rf"(?i)\b{pattern_of(*names)}\b")


@cache
def _keeps() -> Any:
    names = ("keeps_passwords", "services", "passwords", "keys", "recovery_codes")
    return compile_pattern(rf"(?i)\b{pattern_of(*names)}\b")


@cache
def _other_name() -> Any:
    """A word directly before or after the value that says that it is something else."""
    name = pattern_of("public_values")
    return compile_pattern(rf"(?i)\b{name}\b[^.!?\n\xff]{{0,12}}\xff|\xff[ ]{name}\b")


_CODE = (
    r"\b(?:[A-Z]?[0-9]{4,8}|[0-9]{3,6}[A-Z]|[0-9]{1,2}(?:-[0-9]{1,2}){1,5}"
    r"|[0-9](?:[ ,.-]{1,2}[0-9]){3,7}|[0-9]{1,2}(?:,[ ]?[0-9]{1,2}){2,4}"
    r"|[A-Z]{1,3}[0-9]{1,4}[A-Z][A-Z0-9]{0,4}|[0-9]{1,3}[A-Z]{1,3}[0-9]{1,4}[A-Z]?"
    r"|[0-9]{2,3}(?:[ ][0-9]{2,3}){1,3}|[0-9]{3,4}-[0-9]{2,4}|[A-Z][0-9]{3}"
    r"|[A-Z]{1,3}-[0-9]{4,6})\b"
)
_BEFORE_CODE, _AFTER_CODE = b" \n\t(\"'*#:", b" \n\t.,;:!?)\"'*#"
_AMOUNT_BEFORE = (
    r"(?i)(?:[$#\xa3]|(?:^|[ (])(?:eur|usd|nr\.?|no\.?|n\?|number|room|zimmer|page|seite|since|"
    r"seit|in|of|from|until|bis|von|by|around|about|depuis|desde|dal|nel|year|jahr|ann?[eo]e?|"
    r"version|port|error|line|tel|call|phone|telefon|flat|unit|bus|flight|order|bestellung|"
    r"apartment|model|at|um|alle|\?|a las|over|under|than|nearly|almost|fast|ca\.|circa|casi|para|"
    r"pour|per|fur|for)[ .]+)$"
)
_AMOUNT_AFTER = r"(?i)^(?:[.,:/]?[0-9]|[ ]?[%$/]|[ ]?(?:am|pm|uhr|h|eur|usd)\b|-[a-z])"


def _read_code(data: bytes, start: int, end: int) -> Span | None:
    beside = data[end : end + 1]
    if (start and data[start - 1] not in _BEFORE_CODE) or (beside and beside not in _AFTER_CODE):
        return None
    value = data[start:end]
    near = _sentences_near(data, start, end)
    told = _asks_code().search(near) or _types_code().search(near) or _is_drawn(value, near)
    if told and _may_be_code(data, value, start, end) and not _other_number().search(near):
        return Span(start, end, "pin")
    return None


_DRAWN = r"[1-9](?:[ ,-]{1,2}[1-9]){3,8}"


def _is_drawn(value: bytes, near: bytes) -> bool:
    """True for points of a screen, such as `1-4-7-8-9`."""
    return bool(compile_pattern(_DRAWN).fullmatch(value) and _draws().search(near))


def _may_be_code(data: bytes, value: bytes, start: int, end: int) -> bool:
    """True unless it is an amount, a year, a date or a time."""
    if compile_pattern(_YEAR_OR_DATE).fullmatch(value):
        return False
    before = data[max(0, start - 14) : start]
    if compile_pattern(_AMOUNT_BEFORE).search(before) and not _types_in().search(before):
        return False
    after = data[end : end + 30]
    if _for_proof().match(after):
        return True
    if compile_pattern(_AMOUNT_AFTER).search(after):
        return False
    following = after.strip().split(b" ")[0].decode("latin-1").strip(".,;:!?)'\"")
    return not (following and after[:1] == b" " and is_word_of("units", following))


_YEAR_OR_DATE = (
    r"(?:19|20)[0-9]{2}(?:-[0-9]{2,4})?|[0-9]{1,2}-[0-9]{1,2}-(?:19|20)[0-9]{2}"
    r"|[0-9]{1,2}000|[0-9]{1,2}-[0-9]"
)


@cache
def _types_in() -> Any:
    return compile_pattern(r"(?i)\b(?:punch|typ|key|tap|enter|put)(?:e|s|ed|ing)?[ ]in[ ]$")


@cache
def _for_proof() -> Any:
    """`265 870 per confermare`."""
    return compile_pattern(rf"(?i)[ ](?:per|por|pour|para|zum|zur|to)[ ]{pattern_of('confirms')}\b")


@cache
def _asks_code() -> Any:
    """A thing for which a number nearby can only be the code."""
    return compile_pattern(rf"(?i)\b{pattern_of('asks_codes')}\b")


@cache
def _types_code() -> Any:
    """`at the gate … press`, in either order, on one side of the code or around it."""
    thing, verb = pattern_of("protected", "services", "confirms"), pattern_of("types_codes")
    return compile_pattern(
        rf"(?i)\b(?:{verb}\b[^\n.!?]{{0,60}}\b{thing}|{thing}\b[^\n.!?]{{0,60}}\b{verb})\b"
    )


@cache
def _other_number() -> Any:
    name = pattern_of("public_values", "public_numbers")
    return compile_pattern(rf"(?i)\b{name}\b[^.!?\n\xff]{{0,12}}\xff|\xff[ ]{name}\b")


@cache
def _has_dial() -> Any:
    return compile_pattern(rf"(?i)\b{pattern_of('dials')}\b")


@cache
def _draws() -> Any:
    return compile_pattern(rf"(?i)\b{pattern_of('screen_patterns')}\b")


_READERS = (
    _read_groups,
    _read_spoken,
    _read_turns,
    _read_screen,
    read_chosen_answer,
    _read_back_of_card,
    _read_network,
    read_registered_answer,
)
