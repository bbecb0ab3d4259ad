"""Reads the value that begins at a place in a sentence, as its name suggests. Pure."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from remembrancer.guard.patterns import compile_pattern
from remembrancer.guard.secrets import plain_words
from remembrancer.guard.secrets.ascii_view import Span, group_span
from remembrancer.guard.secrets.mentions import NamedSecret, SecretName
from remembrancer.guard.secrets.value_shape import is_password, is_placeholder, is_token, surprise
from remembrancer.guard.secrets.wording import is_word_of, pattern_of

WINDOW = 200
PASSWORDS = (SecretName.PASSWORD, SecretName.WEAK_PASSWORD)
CODES = (SecretName.CODE, SecretName.OPEN_CODE)


def read_value(
    data: bytes, at: int, mention: NamedSecret, *, introduced: bool, plain: bool = True
) -> list[Span]:
    """The value at this place; `introduced` after a colon, `plain` if a plain word can be one."""
    if mention.name in PASSWORDS:
        return _read_password(data, at, mention, introduced, plain)
    if mention.name in CODES:
        return read_code(data, at)
    if mention.name is SecretName.KEY:
        return _read_key(data, at)
    if mention.name is SecretName.SEED_PHRASE and _is_phrase(data, mention):
        return _read_phrase(data, at, mention)
    return []


_QUOTED = r"[\"'`]+([^\"'`\n\xff]{3,120})[\"'`]"
_WORD = r"[(]?([^\s\"'`<>\xff]{3,120})"
_SPELLED = r"((?:capital[ ])?(?:[^\s\xff] ){3,30}[^\s\xff])(?:[\s.,;!?]|$)"
_CLAUSE = r"([^\n.,;:!?()\"<>\xff]{3,120})"
_CLAUSE_END = r"[.!,;)](?:[^A-Za-z0-9_]|$)|\s|$"


def _read_password(
    data: bytes, at: int, mention: NamedSecret, introduced: bool, plain: bool
) -> list[Span]:
    limit = at + WINDOW
    weak = mention.name is SecretName.WEAK_PASSWORD
    if quoted := compile_pattern(_QUOTED).match(data, at, limit):
        told = _is_quoted_password(quoted[1].decode("latin-1"), weak)
        return [group_span(quoted, 1, "password")] if told else []
    if spelled := compile_pattern(_SPELLED).match(data, at, limit):
        return [group_span(spelled, 1, "password")]
    word = compile_pattern(_WORD).match(data, at, limit)
    value = trim(word[1]) if word else ""
    strict = weak or not plain
    is_value = plain_words.is_clearly_made_up if strict else plain_words.is_made_up
    if is_value(value):
        return [Span(word.start(1), word.start(1) + len(value), "password")]
    if not plain:
        return []
    found = _read_words(data, at, introduced, weak)
    return found if found or weak else _read_phrase(data, at, mention)


_PHRASES = r"(?i)phrase|frase|satz|words|palabras|mots|parole|w?rter"
_ANY = r"(?i)(?:^|[ ])(?:an?|eine?|una?|une|every|each|any|jede|cada|chaque|ogni)[ ](?:[a-z]+[ ])?$"


def _is_phrase(data: bytes, mention: NamedSecret) -> bool:
    """True if the name says that its value is a phrase."""
    return bool(compile_pattern(_PHRASES).search(data[mention.start : mention.end]))


_OPENING = r"(?:(?:the|der|la|le)[ ](?:sentence|phrase|satz|words|frase)[ ,:]+)?"
_PHRASE = r"(?i)\s*(?:[\"'`(\[])?" + _OPENING + r"([^\n.,;:!?()\"<>\xff]{8,120})"
_NEXT_CLAUSE = (
    r"(?i)[ ](?:and|but|und|aber|y|pero|et|mais|e|ma)[ ]"
    r"(?:(?:the|it|it's|i|my|we|der|die|das|es|ich|mein|el|la|lo|mi|le|je|mon|il|io)[ ]).*"
)


def _read_phrase(data: bytes, at: int, mention: NamedSecret) -> list[Span]:
    """Several words, also with small ones among them, up to the end of the clause."""
    named_phrase = _is_phrase(data, mention)
    plural = not named_phrase and data[mention.end - 1 : mention.end].lower() == b"s"
    of_any = compile_pattern(_ANY).search(data[max(0, mention.start - 30) : mention.start])
    clause = compile_pattern(_PHRASE).match(data, at, at + WINDOW)
    if not clause or plural or of_any:
        return []
    text = compile_pattern(_NEXT_CLAUSE).sub(b"", clause[1]).decode("latin-1").rstrip(" '`-")
    words = text.split()
    if not (plain_words.is_told_phrase(words, named_phrase) or _is_cut(text, clause[1], words)):
        return []
    return [Span(clause.start(1), clause.start(1) + len(text), "password")]


def _is_cut(text: str, clause: bytes, words: list[str]) -> bool:
    return len(text) + 4 < len(clause) and plain_words.is_passphrase(words, introduced=False)


def _is_quoted_password(value: str, weak: bool) -> bool:
    words = value.split()
    counted = len(words) <= 3 and any(is_word_of("units", word) for word in words[1:])
    if counted or not is_password(value, may_have_spaces=True):
        return False
    if len(words) > 1:
        return len(words) > 3 or not plain_words.is_predicate(words[0])
    return plain_words.is_made_up(value) or not (weak or plain_words.is_predicate(value))


def _read_words(data: bytes, at: int, introduced: bool, weak: bool) -> list[Span]:
    """A plain word that ends its clause, or several that are no clause."""
    clause = compile_pattern(_CLAUSE).match(data, at, at + WINDOW)
    if not clause:
        return []
    text = clause[1].decode("latin-1").rstrip(" '`-")
    words = text.split()
    if len(words) == 1:
        ends = compile_pattern(_CLAUSE_END).match(data, clause.end())
        told = bool(ends) and not weak and is_plain_password(text)
    else:
        told = not weak or (introduced and len(words) > 2)
        told = told and plain_words.is_passphrase(words, introduced)
    return [Span(at, at + len(text), "password")] if told else []


def is_plain_password(word: str) -> bool:
    """True for a single word that does not say how a password is."""
    letters = word.replace("-", "")
    return len(word) >= 4 and letters.isalpha() and not plain_words.is_predicate(word)


def trim(value: bytes) -> str:
    """The value without the punctuation of the sentence around it."""
    return value.decode("latin-1").rstrip(".,;:?)]}*")


_ARTICLE = r"(?:(?:the|el|le|il|la|die|der)[ ])?[(]?"
_CODE_SHAPES = (
    r"[0-9]{1,2}(?:[ ]?-[ ]?[0-9]{1,2}){2,5}",
    r"[0-9]{1,2}(?:[ ][0-9]{1,2}){2,5}",
    r"[0-9]{3,4}(?:[ -][0-9]{3,4}){1,2}",
    r"[A-Za-z]{1,2}-?[0-9]{3,8}[A-Za-z]?",
    r"[0-9]{1,8}[A-Za-z][0-9]{0,6}",
    r"[0-9]{3,12}",
    r"[A-Z0-9]{2,5}(?:-[A-Z0-9]{2,5}){1,3}",
)
_CODE = rf"{_ARTICLE}([#*]?(?:{'|'.join(_CODE_SHAPES)})[#*]?)(?:[\s.,;:!?)\"'\]]|$)"
_NEXT_WORD = r"[ ]*([A-Za-z']+|%)"
_NO_CODE = r"[.:,]\d|[ ]?/"


def read_code(data: bytes, at: int) -> list[Span]:
    """A short code with digits, or digits in words, that is no amount."""
    match = compile_pattern(_CODE).match(data, at, at + 40)
    if not match:
        spoken = _spoken_digits().match(data, at, at + WINDOW)
        return [group_span(spoken, 1, "pin")] if spoken else []
    if count_digits(match[1]) < 2:
        return []
    following = compile_pattern(_NEXT_WORD).match(data, match.end(1), match.end(1) + 30)
    if following and (following[1] == b"%" or is_word_of("units", following[1].decode("latin-1"))):
        return []
    if compile_pattern(_NO_CODE).match(data, match.end(1), match.end(1) + 3):
        return []
    return [group_span(match, 1, "pin")]


@cache
def _spoken_digits() -> Any:
    digit = pattern_of("digits")
    return compile_pattern(rf"(?i)({digit}(?:[ ,-]{{1,2}}{digit}){{2,11}})\b")


def is_code(value: bytes) -> bool:
    return count_digits(value) >= 2 and bool(compile_pattern(_CODE).fullmatch(value))


def count_digits(value: bytes) -> int:
    return sum(48 <= byte <= 57 for byte in value)


_GROUPS = r"((?:[A-Za-z0-9]{2,8}[ -]){2,20}[A-Za-z0-9]{2,8})\b"
_NEXT_KEY = r"(?:[ ]?,[ ]?|[ ]and[ ](?:then[ ])?|[ ]then[ ]|[ ]und[ ])([^\s\"'`<>\xff]{3,120})"


def _read_key(data: bytes, at: int) -> list[Span]:
    """One token, several, or one that is told in groups of the same length."""
    if groups := compile_pattern(_GROUPS).match(data, at, at + WINDOW):
        length = _count_grouped(groups[1].decode("latin-1"))
        if length:
            return [Span(at, at + length, "generic-token")]
    found: list[Span] = []
    word = compile_pattern(_WORD).match(data, at, at + WINDOW)
    while word and _is_key(trim(word[1]), follows=bool(found)):
        end = word.start(1) + len(trim(word[1]))
        found.append(Span(word.start(1), end, "generic-token"))
        word = compile_pattern(_NEXT_KEY).match(data, end, end + WINDOW)
    return found


def _count_grouped(text: str) -> int:
    """The length of the groups at the start that are as long as the first; 0 if they are words."""
    parts = re.split("([ -])", text)
    groups = parts[::2]
    count = 1
    while count < len(groups) and len(groups[count]) == len(groups[0]):
        count += 1
    joined = "".join(groups[:count])
    generated = sum(map(str.isdigit, joined)) >= 2 or (joined.isupper() and count >= 4)
    if count < 3 or len(joined) < 8 or not generated:
        return 0
    return len("".join(parts[: 2 * count - 1]))


def _is_key(value: str, follows: bool) -> bool:
    if is_placeholder(value) or not plain_words.is_clearly_made_up(value):
        return False
    return is_token(value) or follows or (surprise(value) >= 0.3 and not value.islower())
