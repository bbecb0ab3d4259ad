"""Predicates on a value in a sentence: is it made up, a plain password, a passphrase, or prose?"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from remembrancer.guard.secrets.token_formats import PREDICATE_WORDS
from remembrancer.guard.secrets.value_shape import has_digit, is_mixed, is_password
from remembrancer.guard.secrets.wording import is_word_of, words_of

MAX_PHRASE_WORDS = 12
_MEASURED = re.compile(
    r"(?i)\d+(?:[.,]\d+)?-?(?:st|nd|rd|th|x|er|fach|days?|bits?|char\w*|digits?|months?|weeks?|%|ms|"
    r"kb|mb|gb|h|min|s|px|k|m|cm|mm|kg)?|\d+[-/.]\d+(?:[-/.]\d+)?|v?\d+(?:\.\d+)+"
)
_PROTOCOL = re.compile(
    r"(?i)oauth\d?|saml\d?|u2f|fido\d?|ed25519|rsa\d*|ecdsa\d*|sha-?\d+|md5|aes-?\d*(?:-\w+)?|2fa|mfa|"
    r"office365|m365|auth0|web3|argon2\w*|bcrypt|scrypt|pbkdf2|wpa\d?|wep|tls\d?|utf-?\d+|base64|"
    r"http[s/\d.]*|x\.?509|keepassx?c?\d?|1password|e2ee?|k8s|ipv[46]|\w+\.(?:com|org|net|io|dev|de)"
)


def is_measured(value: str) -> bool:
    """True for an amount, a date or a version, such as `90-day`, `2024-05-01` or `2.3.1`."""
    return bool(_MEASURED.fullmatch(value))


def is_made_up(value: str) -> bool:
    """True for a password that is more than a word or a number."""
    if not is_password(value) or is_measured(value) or _PROTOCOL.fullmatch(value):
        return False
    return (has_digit(value) and not value.isdigit()) or is_mixed(value)


def is_clearly_made_up(value: str) -> bool:
    """True for a word with digits or signs, as an account's password without its name."""
    signed = has_digit(value) or any(sign in value.strip("*_:?!.") for sign in "!#$%&*+?^")
    return len(value) >= 5 and signed and any(map(str.isalpha, value)) and is_made_up(value)


_PAIR_OF_NAMES = re.compile(r"[A-Z][A-Za-z]*(?:[&+-][A-Z][A-Za-z]*)+")


def is_pair_of_names(value: str) -> bool:
    """True for `Barnes&Noble`, which is rather a company."""
    return bool(_PAIR_OF_NAMES.fullmatch(value))


@cache
def _predicates() -> frozenset[str]:
    return words_of("predicates") | PREDICATE_WORDS


@cache
def _predicate_endings() -> tuple[str, ...]:
    return tuple(words_of("predicate_endings"))


def is_function_word(word: str) -> bool:
    return word.lower() in words_of("function_words")


def is_predicate(word: str) -> bool:
    """True for a word that says how a password is."""
    lower = word.lower().strip("'-")
    if lower in _predicates() or is_function_word(lower):
        return True
    return len(lower) > 4 and lower.endswith(_predicate_endings())


_WORD = re.compile(r"[A-Za-z?][A-Za-z?'’-]*|\d{1,6}|[A-Za-z]+\d{1,4}")


def is_passphrase(words: Sequence[str], introduced: bool) -> bool:
    """True for several words that are no clause; `introduced` if a colon stands before them."""
    if not 2 <= len(words) <= MAX_PHRASE_WORDS or not all(map(_WORD.fullmatch, words)):
        return False
    if any(map(is_function_word, words)) or any(is_word_of("units", word) for word in words):
        return False
    lower = [word.lower() for word in words]
    predicates = sum(word in _predicates() for word in lower)
    if len(words) >= 3:
        return 3 * predicates <= len(words)
    told = introduced or has_digit(words[1]) or (words[1][:1].isupper() and words[0][:1].isupper())
    return told and predicates == 0 and not lower[0].isdigit()


def is_told_phrase(words: Sequence[str], named_phrase: bool) -> bool:
    """True for a passphrase with small words in it, such as `four cats on the roof`.

    `named_phrase` if its name says that it is a phrase: then words about phrases may be in it.
    """
    if not 3 <= len(words) <= MAX_PHRASE_WORDS or not all(map(_WORD.fullmatch, words)):
        return False
    if is_predicate(words[0]) and not is_word_of("digits", words[0]):
        return False
    if any(is_word_of("units", word) for word in words) or is_word_of("phrase_verbs", words[0]):
        return False
    small = [word for word in words if is_function_word(word) and not is_word_of("digits", word)]
    content = len(words) - len(small)
    if content < 3 or not all(is_word_of("phrase_links", word) for word in small):
        return False
    said = sum(is_predicate(word) for word in words) - len(small)
    return 3 * said <= content if named_phrase else said <= 0 and len(words) >= 4
