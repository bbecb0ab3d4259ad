"""Finds the secrets that are told as lists: recovery codes, and the words that restore a wallet."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from remembrancer.guard.patterns import compile_pattern
from remembrancer.guard.secrets import plain_words
from remembrancer.guard.secrets.ascii_view import Span, group_span
from remembrancer.guard.secrets.mentions import NamedSecret, SecretName
from remembrancer.guard.secrets.value_shape import has_digit
from remembrancer.guard.secrets.wording import pattern_of

_WINDOW = 400
_MIN_WORDS = 11
_MAX_CODES = 24

_ITEM = r"(?:[0-9]{1,2}[.):-]?[ ]?)?[A-Za-z]{3,9}"
_SEED = rf"((?:{_ITEM}[\s,;.]{{1,3}}){{10,24}}{_ITEM})\b"
_SEED_BESIDE = rf"[ ]{_SEED}"
_WORD = r"[A-Za-z]{3,}"


@cache
def _linked_seed() -> Any:
    link = rf"(?:[ ]{pattern_of('links')}[ :]|[:=]|[ ]?->)\s*[\"'`]?"
    return compile_pattern(rf"(?i)[^\n\xff:=.]{{0,40}}?{link}{_SEED}")


@cache
def _seed_before() -> Any:
    return compile_pattern(rf"(?i){_SEED}[ ]{pattern_of('links')}[ ][a-z ]{{0,10}}$")


def read_list(data: bytes, mention: NamedSecret) -> Iterator[Span]:
    """The codes or words beside their name."""
    if mention.name is SecretName.SEED_PHRASE:
        yield from _read_seed(data, mention)
    elif mention.name is SecretName.RECOVERY_CODE:
        yield from _read_codes(data, mention.end)


def _read_seed(data: bytes, mention: NamedSecret) -> Iterator[Span]:
    limit = mention.end + _WINDOW
    found = _linked_seed().match(data, mention.end, limit) or compile_pattern(_SEED_BESIDE).match(
        data, mention.end, limit
    )
    if found and _is_seed(found[1]):
        yield group_span(found, 1, "seed-phrase")
    start = max(0, mention.start - _WINDOW)
    found = _seed_before().search(data[start : mention.start])
    if found and _is_seed(found[1]):
        yield Span(start + found.start(1), start + found.end(1), "seed-phrase")


def _is_seed(found: bytes) -> bool:
    """True for words of which few can be part of a sentence."""
    words = [word.decode("latin-1") for word in compile_pattern(_WORD).findall(found)]
    prose = sum(map(plain_words.is_function_word, words))
    return len(words) >= _MIN_WORDS and 4 * prose <= len(words)


@cache
def _codes_link() -> Any:
    link = rf"(?:[ ]{pattern_of('links')}[ :]|[ ]?[:=])[ ]*\n?[ ]*"
    return compile_pattern(rf"(?i)[^\n\xff:=.,;!?]{{0,40}}?{link}")


_CODES_BESIDE = r"[ ]*,?[ ]*\n?[ ]*"
_CODE = (
    r"(?:[0-9]{1,2}[.)][ ])?[\"'`(*-]{0,2}"
    r"([0-9]{3,4}(?:[ -][0-9]{3,4})+|[A-Za-z0-9]{3,24}(?:-[A-Za-z0-9]{2,12})*)[\"'`)*]{0,2}"
)
_GAP = r"(?:[ ]?[,;/][ ]?\n?|[ ]?\n[ ]*|[ ](?:and|und|y|et|e)[ ]|[ ])"


def _read_codes(data: bytes, at: int) -> Iterator[Span]:
    """The codes after the name, up to the first word that is no code."""
    limit = at + 80
    link = _codes_link().match(data, at, limit)
    position = (link or compile_pattern(_CODES_BESIDE).match(data, at, limit)).end()
    for _ in range(_MAX_CODES):
        code = compile_pattern(_CODE).match(data, position, position + 80)
        if not code or not _is_code(code[1].decode("latin-1")):
            return
        yield group_span(code, 1, "recovery-code")
        gap = compile_pattern(_GAP).match(data, code.end(), code.end() + 8)
        if not gap:
            return
        position = gap.end()


def _is_code(code: str) -> bool:
    bare = code.replace("-", "").replace(" ", "")
    if plain_words.is_measured(code) and not code.isdigit() and len(bare) < 6:
        return False
    return len(bare) >= 4 and (has_digit(bare) or ("-" in code and bare.isupper()))
