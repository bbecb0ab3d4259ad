"""Finds text that gives orders to an assistant, so that text from outside is kept as data only.

Pure and linear in the length of the text; must not know where a text came from.
"""

from __future__ import annotations

import binascii
import html
import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

import re2

from remembrancer.guard.instructions.other_languages import LATIN_DIRECTIVES, NON_LATIN_DIRECTIVES
from remembrancer.guard.instructions.patterns import DIRECTIVES, Directive

INSTRUCTION_RULES = tuple(
    dict.fromkeys(directive.rule for directive in (*DIRECTIVES, *NON_LATIN_DIRECTIVES))
)


def detect_instructions(text: str) -> tuple[str, ...]:
    """Which rules a text from outside breaks, by name; none if it may be quoted as data."""
    broken: set[str] = set()
    for reading in _iter_variants(text):
        broken.update(_find_broken_rules((*DIRECTIVES, *LATIN_DIRECTIVES), _encode(reading)))
    if not text.isascii():
        broken.update(_find_broken_rules(NON_LATIN_DIRECTIVES, _encode(_fold_case(text))))
    return tuple(rule for rule in INSTRUCTION_RULES if rule in broken)


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "replace")


def _find_broken_rules(directives: Iterable[Directive], data: bytes) -> Iterator[str]:
    for directive in directives:
        if _matches_directive(directive, data):
            yield directive.rule


_EXCUSE_BYTES_BEFORE = 30


def _matches_directive(directive: Directive, data: bytes) -> bool:
    """Whether the order stands in the page at least once without an excuse."""
    pattern = _compile_pattern(directive.pattern)
    if not directive.unless:
        return pattern.search(data) is not None
    excuse = _compile_pattern(directive.unless)
    return any(
        not excuse.search(data[max(0, match.start() - _EXCUSE_BYTES_BEFORE) : match.end()])
        for match in pattern.finditer(data)
    )


@cache
def _compile_pattern(source: str) -> Any:
    """The pattern for UTF-8 bytes, compiled when it is first used and linear in what it reads."""
    options = re2.Options()
    options.max_mem = 64 << 20
    options.log_errors = False
    return re2.compile(source.encode(), options)


_INVISIBLE_CATEGORIES = frozenset(("Cf", "Mn", "Me"))
# Letters that a reader takes for Latin ones, though Unicode does not say so.
_LOOKALIKES = {
    ord(char): letter
    for letter, chars in {
        "a": "аαɑᴀ", "b": "ьʙβ", "c": "сᴄϲ", "d": "ԁᴅđ", "e": "еεёᴇє", "f": "ꜰ", "g": "ɡɢ",
        "h": "һнʜħ", "i": "іιɩıɪї", "j": "јᴊ", "k": "кκᴋ", "l": "ʟłӏ", "m": "мᴍ", "n": "ɴη",
        "o": "оοᴏø", "p": "рρᴘ", "q": "ԛ", "r": "гʀ", "s": "ѕꜱ", "t": "тτᴛŧ", "u": "υᴜ", "v": "νᴠ",
        "w": "ԝωᴡѡ", "x": "хχ", "y": "уγʏ", "z": "ᴢ", "'": "’‘‚′", '"': "«»“”„",
    }.items()
    for char in chars
}  # fmt: skip


def _iter_variants(text: str) -> Iterator[str]:
    """The text as it stands, and as a model may read it through each disguise."""
    if "&" in text:
        text = html.unescape(text)
    plain = _to_latin(text)
    yield plain
    for undisguised in (_join_spelled_letters(plain), _replace_leet_digits(plain)):
        if undisguised != plain:
            yield undisguised
    for smuggled in ("\n".join(_decode_base64_runs(text)), _extract_hidden_text(text)):
        if smuggled:
            yield _to_latin(smuggled)


def _to_latin(text: str) -> str:
    """The text in lower-case Latin letters without accents, as far as it can be read so."""
    if text.isascii():
        return text.lower()
    letters = unicodedata.normalize("NFKD", _strip_invisible(text)).casefold()
    return _strip_invisible(letters).translate(_LOOKALIKES)


def _fold_case(text: str) -> str:
    """The text in its own script, folded in width and case."""
    return unicodedata.normalize("NFKC", _strip_invisible(text)).casefold()


def _strip_invisible(text: str) -> str:
    """The text without characters that only change or hide others.

    Needed before normalisation, which takes quadratic time to order a long run of marks.
    """
    unseen = (char for char in set(text) if unicodedata.category(char) in _INVISIBLE_CATEGORIES)
    return text.translate({ord(char): None for char in unseen})


_SPELT_OUT = re.compile(r"\b(?:[a-z][ ._*-]){4,}[a-z]\b")


def _join_spelled_letters(text: str) -> str:
    """The text with letters that stand apart joined into words."""
    return _SPELT_OUT.sub(lambda match: re.sub(r"[ ._*-]", "", match[0]), text)


_LEET_DIGITS = str.maketrans("0134578@$|", "oieastbasi")
_LEET_PATTERN = re.compile(r"[a-z][0134578@$|]{1,8}[a-z]|\b[0134578@$|]{1,8}[a-z]{2}")


def _replace_leet_digits(text: str) -> str:
    """The text with the digits that stand for letters read as letters."""
    return text.translate(_LEET_DIGITS) if _LEET_PATTERN.search(text) else text


_BASE64 = re.compile(r"[A-Za-z0-9+/]{20,}={0,2}")


def _decode_base64_runs(text: str) -> Iterator[str]:
    """What the runs of base64 in the text say, where that is plain text."""
    for match in _BASE64.finditer(text):
        bare = match[0].rstrip("=")
        try:
            decoded = binascii.a2b_base64(bare + "=" * (-len(bare) % 4)).decode()
        except (binascii.Error, UnicodeDecodeError):
            continue
        if "".join(decoded.split()).isprintable():
            yield decoded


def _extract_hidden_text(text: str) -> str:
    """What is written in invisible characters: as tags, or as bytes in variation selectors."""
    return "" if text.isascii() else "".join(map(_decode_hidden_char, text))


def _decode_hidden_char(char: str) -> str:
    code = ord(char)
    if 0xE0020 <= code < 0xE007F:
        return chr(code - 0xE0000)
    if 0xE0110 <= code < 0xE016F:
        return chr(code - 0xE0100 + 16)
    return ""
