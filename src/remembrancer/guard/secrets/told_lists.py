"""Finds the secrets that are told as lists: recovery codes, and the words that restore a wallet."""

from __future__ import annotations

from collections.abc import Iterator

from remembrancer.guard.patterns import compile_pattern
from remembrancer.guard.secrets import plain_words
from remembrancer.guard.secrets.ascii_view import Span, group_span
from remembrancer.guard.secrets.mentions import Mention, SecretName
from remembrancer.guard.secrets.value_shape import has_digit

_WINDOW = 400
_MIN_WORDS = 11
_MAX_CODES = 24

_SEED_START = r"[^\n\xff:=.]{0,40}?(?:[ ](?:is|are|was|ist|lautet|sind|es|son|est|sont|sono|\?)[ :]|[:=]|[ ]?->)\s*[\"'`]?"
_SEED_WORDS = r"((?:(?:[0-9]{1,2}[.):-]?[ ]?)?[A-Za-z]{3,9}[\s,;.]{1,3}){10,24}(?:[0-9]{1,2}[.):-]?[ ]?)?[A-Za-z]{3,9})\b"
_SEED_BEFORE = rf"{_SEED_WORDS}[ ](?:is|are|ist|sind|es|son|est|sont|sono|\\?)[ ][a-z ]{{0,10}}$"
_WORD = r"[A-Za-z]{3,}"


def read_list(data: bytes, mention: Mention) -> Iterator[Span]:
    """The codes or words after their name."""
    if mention.name is SecretName.SEED_PHRASE:
        yield from _read_seed(data, mention.end)
        yield from _read_seed_before(data, mention)
    elif mention.name is SecretName.RECOVERY_CODE:
        yield from _read_codes(data, mention.end)


def _read_seed(data: bytes, at: int) -> Iterator[Span]:
    limit = at + _WINDOW
    start = compile_pattern(_SEED_START).match(data, at, limit)
    found = start and compile_pattern(_SEED_WORDS).match(data, start.end(), limit)
    found = found or compile_pattern(rf"[ ]{_SEED_WORDS}").match(data, at, limit)
    if found and _is_seed(found[1]):
        yield group_span(found, 1, "seed-phrase")


def _read_seed_before(data: bytes, mention: Mention) -> Iterator[Span]:
    """`… is my seed phrase`."""
    start = max(0, mention.start - _WINDOW)
    found = compile_pattern(_SEED_BEFORE).search(data[start : mention.start])
    if found and _is_seed(found[1]):
        yield Span(start + found.start(1), start + found.end(1), "seed-phrase")


def _is_seed(found: bytes) -> bool:
    words = [word.decode("latin-1") for word in compile_pattern(_WORD).findall(found)]
    prose = sum(map(plain_words.is_function_word, words))
    return len(words) >= _MIN_WORDS and 4 * prose <= len(words)


_CODES_LINK = (
    r"(?i)[^\n\xff:=.,;!?]{0,40}?(?:[ ](?:is|are|was|were|ist|sind|lauten|lautet|es|son|est|sont|sono|\?)[ :]"
    r"|[ ]?[:=])[ ]*\n?[ ]*"
)
_CODES_BESIDE = r"[ ]*\n?[ ]*"
_CODE = r"(?:[0-9]{1,2}[.)][ ])?[\"'`(*-]{0,2}([0-9]{3,4}(?:[ -][0-9]{3,4})+|[A-Za-z0-9]{3,24}(?:-[A-Za-z0-9]{2,12})*)[\"'`)*]{0,2}"
_GAP = r"(?:[ ]?[,;/][ ]?\n?|[ ]?\n[ ]*|[ ](?:and|und|y|et|e)[ ]|[ ])"


def _read_codes(data: bytes, at: int) -> Iterator[Span]:
    """The codes after the name, up to the first word that is no code."""
    limit = at + 80
    link = compile_pattern(_CODES_LINK).match(data, at, limit)
    position = (link or compile_pattern(_CODES_BESIDE).match(data, at, limit)).end()
    for _ in range(_MAX_CODES):
        code = compile_pattern(_CODE).match(data, position, position + 80)
        if not code or not _is_code(code[1].decode("latin-1")):
            return
        yield Span(code.start(1), code.end(1), "recovery-code")
        gap = compile_pattern(_GAP).match(data, code.end(), code.end() + 8)
        if not gap:
            return
        position = gap.end()


def _is_code(code: str) -> bool:
    bare = code.replace("-", "").replace(" ", "")
    if plain_words.is_measured(code) and not code.isdigit() and len(bare) < 6:
        return False
    return len(bare) >= 4 and (has_digit(bare) or ("-" in code and bare.isupper()))
