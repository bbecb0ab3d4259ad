"""Finds a secret that is told with its name: "the wifi password is, um, …", "… is my PIN".

One grammar for all languages: a name, what it is for, a verb or a sign, hesitation, a value.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

from remembrancer.guard.patterns import compile_pattern
from remembrancer.guard.secrets import plain_words
from remembrancer.guard.secrets.ascii_view import Span
from remembrancer.guard.secrets.mentions import Mention, SecretName, find_mentions, is_protected
from remembrancer.guard.secrets.mentions import is_public
from remembrancer.guard.secrets.value_shape import (
    has_digit,
    is_placeholder,
    is_token,
    surprise,
)
from remembrancer.guard.secrets.wording import is_word_of, pattern_of

_WINDOW = 200
_BEFORE = 110
_PASSWORDS = (SecretName.PASSWORD, SecretName.WEAK_PASSWORD)
_CODES = (SecretName.CODE, SecretName.OPEN_CODE)

_PLACE = (
    r"(?:[ ](?:\([^()\n\xff]{1,30}\)"
    r"|(?:for|to|of|on|at|in|from|they|we|i|you|that|which|to|von|vom|vor|zum|zur|zu|fur|furs|beim|im|am"
    r"|auf|unten|an|del?|en|para|que|du|des|pour|d'|de|au|aux|recue?|della?|dell'|dello|per|al|che"
    r"|di|ricevuto|recibido)(?:\b|')[^\n.:;=,?!\"\xff]{1,45}?))?"
)
_APPOSITION = r"(?:[ ][A-Za-z0-9'-]{2,20}){0,2}?"


@cache
def _filler() -> str:
    return rf"(?:[ ,.:-]*\b{pattern_of('fillers')}\b[ ,.:-]*)*"


@cache
def _links() -> Any:
    verb = pattern_of("links")
    change = rf"(?:[ ][a-z?]+){{0,3}}[ ]{pattern_of('changes')}[ ]{pattern_of('changes_to')}[ ]"
    hesitation = rf"(?:,?[ ]{pattern_of('fillers')},?)*"
    return compile_pattern(
        rf"(?i){_APPOSITION}{_PLACE}{hesitation}(?:'s[ ]|{change}|[ ]{verb}(?:,?[ ]|[ ]?:[ ]*)"
        rf"|([*_]{{0,2}}[ ]?(?::|=|->|=>)[*_]{{0,2}}[ ]*)){_filler()}"
    )


@cache
def _references() -> Any:
    return compile_pattern(
        rf"(?i)[^\n]{{0,90}}?(?:[.,;:?!][ ]*(?:[a-z]{{1,8}}[ ])?|[ ](?:and|und|y|et|e)[ ])"
        rf"{pattern_of('references')}[ ]{_filler()}"
    )


@cache
def _change() -> Any:
    return compile_pattern(rf"(?i)\b(?:change|{pattern_of('changes')})\b")


def find_told_values(data: bytes) -> Iterator[Span]:
    done = 0
    for mention in find_mentions(data):
        if mention.start < done or not can_have_value(data, mention):
            continue
        for span in (*_read_before(data, mention), *_read_after(data, mention)):
            done = max(done, span.end)
            yield span


def can_have_value(data: bytes, mention: Mention) -> bool:
    if mention.name is SecretName.OPEN_CODE:
        return is_protected(data, mention) or _is_combination(data, mention)
    return mention.name is not SecretName.CODE or not is_public(data, mention)


def find_opened(data: bytes) -> Iterator[Span]:
    """`The safe opens with 44-12-90`, `press 3312 at the gate`."""
    for match in _opens().finditer(data):
        yield from _read_code(data, match.end())
    for match in _typed().finditer(data):
        yield Span(match.start(1), match.end(1), "pin")


@cache
def _typed() -> Any:
    return compile_pattern(
        rf"(?i)\b{pattern_of('types_in')}[ ]([#*]?[0-9]{{3,8}}[A-Z]?[#*]?)[ ]{pattern_of('types_at')}"
        rf"[ ](?:[a-z]+[ ]){{0,2}}?{pattern_of('protected')}\b"
    )


@cache
def _opens() -> Any:
    return compile_pattern(
        rf"(?i)\b{pattern_of('protected')}\b[^\n.,;:?!]{{0,20}}?[ ]{pattern_of('opens')}[ ]"
    )


def _is_combination(data: bytes, mention: Mention) -> bool:
    return data[mention.start : mention.start + 5].lower() == b"combi"


def _read_after(data: bytes, mention: Mention) -> list[Span]:
    """What follows the name: after a verb or a sign, in the next clause, or directly."""
    limit = mention.end + _WINDOW
    if link := _links().match(data, mention.end, limit):
        found = read_value(data, link.end(), mention, introduced=link[1] is not None)
        if found:
            return found
    reference = _references().match(data, mention.end, limit)
    if reference:
        changed = bool(
            _change().search(reference[0])
            or _change().search(data[max(0, mention.start - 40) : mention.start])
        )
        if found := read_value(data, reference.end(), mention, introduced=False, plain=changed):
            return found
    return _read_beside(data, mention)


def _read_beside(data: bytes, mention: Mention) -> list[Span]:
    """`locker code 2846`, `setup key k5qx mzrt`, and the plain word in `set the password to …`."""
    limit = mention.end + 60
    if chosen := _read_chosen(data, mention) or _read_set_to(data, mention):
        return chosen
    if _is_set_to(data, mention):
        to = compile_pattern(rf"(?i)[ ](?:{pattern_of('changes_to')}[ ])?").match(
            data, mention.end, limit
        )
        if to:
            return read_value(data, to.end(), mention, introduced=False)
    gap = compile_pattern(r"[ ]{1,3}|[ ]*\([ ]*").match(data, mention.end, limit)
    if not gap or mention.name in _PASSWORDS:
        return []
    found = read_value(data, gap.end(), mention, introduced=False)
    first = data[found[0].start : found[0].end] if found else b""
    digits = 4 if data[mention.start : mention.start + 3].lower() in (b"pin", b"tan") else 3
    return found if sum(map(_is_digit, first)) >= digits or mention.name is SecretName.KEY else []


@cache
def _chosen_before() -> Any:
    return compile_pattern(
        rf"(?i)\b{pattern_of('used')}\b[^\n.,;:?!]{{0,20}}[ ](?:{pattern_of('as')}|de)[ ]$"
    )


def _read_chosen(data: bytes, mention: Mention) -> list[Span]:
    """`ich habe als Passwort Xylo genommen`, `puse de contraseña alcachofa`."""
    before = data[max(0, mention.start - 45) : mention.start]
    if mention.name not in _PASSWORDS or not _chosen_before().search(before):
        return []
    word = rf"[ ]([^\s\"'`,;.\xff]{{4,64}})(?:[ ]{pattern_of('used')})?(?:[ ]?[.!,;)\n]|[ ]?$)"
    found = compile_pattern(f"(?i){word}").match(data, mention.end, mention.end + 100)
    told = found and not plain_words.is_predicate(found[1].decode("latin-1"))
    return [_password(found)] if told else []


def _read_set_to(data: bytes, mention: Mention) -> list[Span]:
    """German puts the verb last: `das Passwort wurde auf Xylo gesetzt`."""
    shape = (
        rf"(?i)[ ](?:[a-z]+[ ]){{0,2}}auf[ ]([^\s\"'`,;\xff]{{4,64}})[ ]{pattern_of('changes')}\b"
    )
    found = compile_pattern(shape).match(data, mention.end, mention.end + 120)
    told = found and not plain_words.is_predicate(found[1].decode("latin-1"))
    return [_password(found)] if told and mention.name in _PASSWORDS else []


def _is_digit(byte: int) -> bool:
    return 48 <= byte <= 57


@cache
def _set_verb() -> Any:
    return compile_pattern(
        rf"(?i)\b(?:make|set|change|{pattern_of('changes', 'used')})\b[^\n.,;:?!]{{0,30}}$"
    )


def _is_set_to(data: bytes, mention: Mention) -> bool:
    before = data[max(0, mention.start - 45) : mention.start]
    return mention.name is SecretName.PASSWORD and bool(_set_verb().search(before))


def read_value(
    data: bytes, at: int, mention: Mention, *, introduced: bool, plain: bool = True
) -> list[Span]:
    if mention.name in _PASSWORDS:
        return _read_password(data, at, mention, introduced, plain)
    if mention.name in _CODES:
        return _read_code(data, at)
    if mention.name is SecretName.KEY:
        return _read_key(data, at)
    return []


_QUOTED = r"[\"'`]+([^\"'`\n\xff]{3,120})[\"'`]"
_TOKEN = r"[(]?([^\s\"'`<>\xff]{3,120})"
_SPELLED = r"((?:[^\s\xff] ){3,30}[^\s\xff])(?:[\s.,;!?]|$)"
_CLAUSE = r"([^\n.,;:!?()\"<>\xff]{3,120})"


def _read_password(
    data: bytes, at: int, mention: Mention, introduced: bool, plain: bool
) -> list[Span]:
    limit = at + _WINDOW
    weak = mention.name is SecretName.WEAK_PASSWORD
    if quoted := compile_pattern(_QUOTED).match(data, at, limit):
        return _accept_quoted(quoted, weak)
    if spelled := compile_pattern(_SPELLED).match(data, at, limit):
        return [_password(spelled)]
    token = compile_pattern(_TOKEN).match(data, at, limit)
    if not token:
        return []
    value = _trim(token[1])
    if plain_words.is_made_up(value) and (plain or plain_words.is_clearly_made_up(value)):
        if weak and not plain_words.is_clearly_made_up(value):
            return []
        return [Span(token.start(1), token.start(1) + len(value), "password")]
    return _read_words(data, at, introduced, weak) if plain else []


def _accept_quoted(quoted: Any, weak: bool) -> list[Span]:
    value = quoted[1].decode("latin-1")
    words = value.split()
    if is_placeholder(value) or any(is_word_of("units", word) for word in words[1:]):
        return []
    if len(words) > 1:
        return (
            [_password(quoted)] if not plain_words.is_predicate(words[0]) or len(words) > 3 else []
        )
    made_up = plain_words.is_made_up(value)
    return [_password(quoted)] if made_up or not (weak or plain_words.is_predicate(value)) else []


def _read_words(data: bytes, at: int, introduced: bool, weak: bool) -> list[Span]:
    """A plain word that ends its clause, or several that are no clause."""
    clause = compile_pattern(_CLAUSE).match(data, at, at + _WINDOW)
    if not clause:
        return []
    text = clause[1].decode("latin-1").rstrip(" '`-")
    words = text.split()
    span = Span(at, at + len(text), "password")
    if len(words) == 1:
        ends = compile_pattern(r"[.!,;)](?:[^A-Za-z0-9_]|$)|\s|$").match(data, clause.end())
        told = words[0].replace("-", "").isalpha() and not plain_words.is_predicate(words[0])
        return [span] if told and ends and not weak and len(words[0]) >= 4 else []
    if weak and not introduced:
        return []
    accepted = plain_words.is_passphrase(words, introduced) and (len(words) > 2 or not weak)
    return [span] if accepted else []


def _password(match: Any) -> Span:
    return Span(match.start(1), match.end(1), "password")


def _trim(value: bytes) -> str:
    return value.decode("latin-1").rstrip(".,;:?)]}")


_CODE = (
    r"(?:(?:the|el|le|il|la|die|der)[ ])?[(]?([#*]?(?:[0-9]{1,2}(?:[ ]?-[ ]?[0-9]{1,2}){2,5}|[0-9]{1,2}(?:[ ][0-9]{1,2}){2,5}"
    r"|[0-9]{3,4}(?:[ -][0-9]{3,4}){1,2}|[A-Za-z]{1,2}-?[0-9]{3,8}[A-Za-z]?|[0-9]{1,8}[A-Za-z][0-9]{0,6}"
    r"|[0-9]{3,12}|[A-Z0-9]{2,5}(?:-[A-Z0-9]{2,5}){1,3})[#*]?)(?:[\s.,;:!?)\"']|$)"
)
_NEXT_WORD = r"[ ]*([A-Za-z']+|%)"


def _read_code(data: bytes, at: int) -> list[Span]:
    match = compile_pattern(_CODE).match(data, at, at + 40)
    if not match or sum(map(_is_digit, match[1])) < 2:
        return []
    following = compile_pattern(_NEXT_WORD).match(data, match.end(1), match.end(1) + 30)
    if following and (following[1] == b"%" or is_word_of("units", following[1].decode("latin-1"))):
        return []
    if compile_pattern(r"[.:,]\d|[ ]?/").match(data, match.end(1), match.end(1) + 3):
        return []
    return [Span(match.start(1), match.end(1), "pin")]


_GROUPS = r"((?:[A-Za-z0-9]{2,8}[ -]){2,20}[A-Za-z0-9]{2,8})\b"
_NEXT_KEY = r"(?:[ ]?,[ ]?|[ ]and[ ](?:then[ ])?|[ ]then[ ]|[ ]und[ ])([^\s\"'`<>\xff]{3,120})"


def _read_key(data: bytes, at: int) -> list[Span]:
    """One token, several, or one that is told in groups of the same length."""
    if groups := compile_pattern(_GROUPS).match(data, at, at + _WINDOW):
        length = _count_grouped(groups[1].decode("latin-1"))
        if length:
            return [Span(at, at + length, "generic-token")]
    found: list[Span] = []
    token = compile_pattern(_TOKEN).match(data, at, at + _WINDOW)
    while token and _is_key(_trim(token[1]), bool(found)):
        end = token.start(1) + len(_trim(token[1]))
        found.append(Span(token.start(1), end, "generic-token"))
        token = compile_pattern(_NEXT_KEY).match(data, end, end + _WINDOW)
    return found


def _count_grouped(text: str) -> int:
    """The length of the groups at the start that are as long as the first."""
    parts = re.split("([ -])", text)
    groups = parts[::2]
    count = 1
    while count < len(groups) and len(groups[count]) == len(groups[0]):
        count += 1
    same = groups[:count]
    made = "".join(same)
    generated = sum(map(str.isdigit, made)) >= 2 or (made.isupper() and count >= 4)
    length = len("".join(parts[: 2 * count - 1]))
    return length if count >= 3 and generated and len(made) >= 8 else 0


def _is_key(value: str, follows: bool) -> bool:
    if is_placeholder(value) or not plain_words.is_clearly_made_up(value):
        return False
    return is_token(value) or follows or (surprise(value) >= 0.3 and not value.islower())


@cache
def _value_first() -> Any:
    is_it = rf"(?:[ ]{pattern_of('links')}[ ]|,[ ]?(?:[a-z]{{2,6}}[ ])?{pattern_of('references')}[ ]|,[ ])"
    mine = pattern_of("possessives")
    return compile_pattern(
        r"(?i)(?:^|[.!?:,;\n(][ ]*|\b(?:that|remember|and|dass|que|che)[ ])[\"'`]?"
        rf"([^\s\"'`,;\xff]{{3,64}})[\"'`]?{is_it}({mine}[ ])(?:[a-z0-9'-]+[ ]){{0,3}}$"
    )


@cache
def _used_as() -> Any:
    return compile_pattern(
        rf"(?i)\b({pattern_of('used')})[ ](?:[a-z]+[ ]){{0,2}}?[\"'`]?([^\s\"'`,;\xff]{{3,64}})[\"'`]?[ ]"
        rf"(?:{pattern_of('as')}[ ](?:{pattern_of('possessives')}[ ])?|for[ ]my[ ])(?:[a-z0-9-]+[ ]){{0,2}}$"
    )


_MINE = r"(?i)^(?:my|mein|meine|mi|mon|ma|mia|la[ ]mia|il[ ]mio)[ ]"
_ENDS = r"(?:[ ]?[.!,;)\n]|$|[ ][a-z]+)"


def _read_before(data: bytes, mention: Mention) -> list[Span]:
    """`Xylo7! is my password`, `4410 is my PIN`, `we use otter as the password`."""
    if mention.name not in (*_PASSWORDS, *_CODES):
        return []
    if not compile_pattern(rf"(?i){_ENDS}").match(data, mention.end, mention.end + 20):
        return []
    start = max(0, mention.start - _BEFORE)
    before = data[start : mention.start]
    told = _value_first().search(before)
    if told and _is_told(told[1], told[2], mention):
        kind = "password" if mention.name in _PASSWORDS else "pin"
        return [Span(start + told.start(1), start + told.end(1), kind)]
    used = _used_as().search(before)
    if used and mention.name in _CODES:
        code = compile_pattern(_CODE).fullmatch(used[2])
        return [Span(start + used.start(2), start + used.end(2), "pin")] if code else []
    if used:
        value = used[2].decode("latin-1")
        if plain_words.is_made_up(value) or (
            value.isalpha() and not plain_words.is_predicate(value)
        ):
            return [Span(start + used.start(2), start + used.end(2), "password")]
    return []


def _is_told(found: bytes, possessive: bytes, mention: Mention) -> bool:
    value = found.decode("latin-1")
    if mention.name in _CODES:
        return has_digit(value) and bool(compile_pattern(_CODE).fullmatch(found))
    if plain_words.is_made_up(value):
        return mention.name is SecretName.PASSWORD or plain_words.is_clearly_made_up(value)
    mine = bool(compile_pattern(_MINE).match(possessive))
    return mine and value.isalpha() and not plain_words.is_predicate(value)
