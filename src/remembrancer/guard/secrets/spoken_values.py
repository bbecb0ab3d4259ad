"""Finds secrets in the words in which people tell them, such as `hunter2 is my password`."""

from __future__ import annotations

from collections.abc import Iterator

from remembrancer.guard.patterns import compile_pattern, one_of, word_set
from remembrancer.guard.secrets.ascii_view import Span, group_span
from remembrancer.guard.secrets.value_shape import has_digit, is_mixed, is_password

_PASSWORD_NAMES = one_of(
    "pass_?words? pass_?phrase pass_?code passwd pwd pin passwort kennwort contrase[n?]a "
    "mot_de_passe parola senha wachtwoord"
)
_IS = r"(?:is|was|ist|war|lautet|es|era|est|e'|\?)"
_MY = (
    r"(?:my|our|the|his|her|their|mein|unser|das|mi|nuestra|la|mon|notre|le|la[ ]mia|il[ ]mio|a"
    r"|minha|mijn|het)"
)
_IS_MINE = r"(?i)[ ](?:my|mein|mi|mon|mia|minha|mijn)[ ]"
_ENDS = (
    r"(?:[ ]?[.!,;)\n]|$|[ ](?:for|on|at|in|to|of|everywhere|and|fur|f\?r|para|pour|per|von|an|ein"
    r"|auf|bei)\b)"
)
_PLAIN_VALUE = r"[\"'`]?([^\s\"'`,;\xff]{3,64}?)[\"'`]?"
_VALUE_FIRST = (
    rf"(?i)(?:^|[.!?:,;\n]\s*|\b(?:that|remember|and|dass|que|che)[ ]){_PLAIN_VALUE}[ ]{_IS}[ ]"
    rf"{_MY}[ ](?:[a-z0-9-]+[ ]){{0,3}}?{_PASSWORD_NAMES}{_ENDS}"
)
_USED_AS = (
    rf"(?i)[ ]{_PLAIN_VALUE}[ ](?:as|als|como|comme|come)[ ](?:{_MY}[ ])?(?:[a-z0-9-]+[ ]){{0,2}}?"
    rf"{_PASSWORD_NAMES}{_ENDS}"
)
_CHANGED = (
    rf"(?i)\b{_PASSWORD_NAMES}\b[^\n\xff]{{0,40}}?[,;.:][ ]*(?:and[ ]|now[ ])?"
    rf"(?:it|the[ ]new[ ]one)(?:'s|[ ]is)(?:[ ]now)?[ ]{_PLAIN_VALUE}(?:[ ]?[.!,;)\n]|$)"
)
_NOT_VALUES = word_set(
    """what this that it which where here there who how one mine yours when why everyone none
    nothing something someone was das dies wer que eso esto cual quoi cela qui questo quella"""
)


def find_values_before_names(data: bytes) -> Iterator[Span]:
    """`hunter2 is my password`, `hunter2 as my password`, `changed my password, it is hunter3`."""
    for match in compile_pattern(_VALUE_FIRST).finditer(data):
        if _is_told(match[0], match[1].decode("latin-1")):
            yield group_span(match, 1, "password")
    for match in compile_pattern(_USED_AS).finditer(data):
        if _is_made_up(match[1].decode("latin-1")):
            yield group_span(match, 1, "password")
    for match in compile_pattern(_CHANGED).finditer(data):
        value = match[1].decode("latin-1")
        is_pin = b"pin" in match[0].lower() and len(value) <= 8 and value.isdigit()
        if is_pin or _is_made_up(value):
            yield group_span(match, 1, "pin" if is_pin else "password")


def _is_told(sentence: bytes, value: str) -> bool:
    """True for what is more than a word, and for any word that is called "my password"."""
    if value.lower() in _NOT_VALUES or not is_password(value):
        return False
    return _is_made_up(value) or bool(compile_pattern(_IS_MINE).search(sentence))


def _is_made_up(value: str) -> bool:
    """True for a password that is more than a word or a number."""
    return is_password(value) and ((has_digit(value) and not value.isdigit()) or is_mixed(value))


_PHRASE = (
    r"(?i)\b(?:pass[ ]?phrase|password[ ]phrase)(?:[ ](?:for|to|of|on)[ ][a-z0-9 '-]{1,30}?)?"
    r"(?:[ ]is(?:[ ]now)?|:|[ ]?=)[ ]*[\"'`]?((?:[a-z]{3,12}[ ]){3,9}[a-z]{3,12})[\"'`]?"
    r"[ ]?(?:[.!\n]|$)"
)
_FUNCTION_WORDS = word_set(
    """always never kept stored saved known safe easy hard only just also still sent shared too
    are was were has have had must should can will than then that this these those them they
    you your out not but and the for with from into four five six three words word characters
    letters random row between before after used long longer shorter which when where every
    each"""
)


def find_passphrases(data: bytes) -> Iterator[Span]:
    """Several plain words that are called a passphrase."""
    for match in compile_pattern(_PHRASE).finditer(data):
        words = match[1].decode("latin-1").lower().split()
        if _FUNCTION_WORDS.isdisjoint(words) and not words[0].endswith(("ed", "ing")):
            yield group_span(match, 1, "password")


_CODE_NAME = (
    r"\b(?:back-?[ ]?up|recovery|rescue|emergency|scratch|reset|unlock|2fa|mfa|two-factor|one-time)"
    r"(?:[ ](?:2fa|mfa|login|account))?[ -]codes?\b"
)
_CODES = (
    rf"(?i){_CODE_NAME}(?:[ ](?:for|of|to)[ ][a-z0-9 '-]{{1,30}}?)?"
    r"(?:[ ](?:is|are|was|were)(?:[ ]now)?|:|[ ]?=)?[ \n]*"
    r"((?:[\"'`(]?[A-Z0-9]+(?:-[A-Z0-9]+)*[\"'`)]?(?:[,;\n ]+|[ ]and[ ])*){1,16})"
)
_CODE = r"(?:^|[^A-Za-z0-9-])([A-Za-z0-9]+(?:-[A-Za-z0-9]+)*)"


def find_recovery_codes(data: bytes) -> Iterator[Span]:
    """The codes after "backup codes", up to the first word that is no code."""
    for found in compile_pattern(_CODES).finditer(data):
        for match in compile_pattern(_CODE).finditer(found[1]):
            code = match[1].decode("latin-1")
            if code.lower() == "and":
                continue
            if not _is_recovery_code(code):
                break
            start = found.start(1) + match.start(1)
            yield Span(start, start + len(code), "recovery-code")


def _is_recovery_code(code: str) -> bool:
    bare = code.replace("-", "")
    if len(bare) < 6:
        return False
    return has_digit(bare) or ("-" in code and bare.isupper())


_CARD_NUMBER = (
    r"([0-9]{4}[ -]?[0-9]{4}[ -]?[0-9]{4}[ -]?[0-9]{3,4}|3[47][0-9]{2}[ -]?[0-9]{6}[ -]?[0-9]{5})"
)
_CARD_CODE = r"\b(?:cvv2?|cvc2?|card[ ]code|security[ ]code)\b"
_CARDS = (
    rf"(?i){_CARD_NUMBER}[^0-9\xff][^\n\xff]{{0,60}}?{_CARD_CODE}",
    rf"(?i)\b(?:card|visa|mastercard|amex)\b[^\n0-9\xff]{{0,30}}{_CARD_NUMBER}(?:$|[^0-9])",
)
_CARD_CODES = rf"(?i){_CARD_CODE}(?:[ ](?:is|was)|:|[ ]?=)?[ ]*([0-9]{{3,4}})(?:$|[^0-9])"


def find_cards(data: bytes) -> Iterator[Span]:
    """The number of a payment card, and the code on its back."""
    for shape in _CARDS:
        for match in compile_pattern(shape).finditer(data):
            yield group_span(match, 1, "card-number")
    for match in compile_pattern(_CARD_CODES).finditer(data):
        yield group_span(match, 1, "pin")


_COMBINATION = (
    r"(?i)\b(?:combination|combo|(?:safe|vault|locker|lock)[ ]code)(?:[ ](?:for|to|of|on)[ ]"
    r"[a-z0-9 '-]{1,30}?)?(?:[ ]is(?:[ ]now)?|[ ]was|:|[ ]?=)[ ]*"
    r"([0-9]{1,2}(?:[ -]+[0-9]{1,2}){2,5}|[0-9]{4,8})(?:[ ]?[.,;!\n]|$|[ ]and\b)"
)


def find_combinations(data: bytes) -> Iterator[Span]:
    """The numbers that open a lock."""
    for match in compile_pattern(_COMBINATION).finditer(data):
        yield group_span(match, 1, "pin")
