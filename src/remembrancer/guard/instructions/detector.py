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

from remembrancer.guard.instructions.other_languages import LATIN_TONGUES, OTHER_TONGUES
from remembrancer.guard.instructions.patterns import DIRECTIVES, Directive

RULES = tuple(dict.fromkeys(directive.rule for directive in (*DIRECTIVES, *OTHER_TONGUES)))


def suspicions(text: str) -> tuple[str, ...]:
    """Which rules a text from outside breaks, by name; none if it may be quoted as data."""
    broken: set[str] = set()
    for reading in _readings(text):
        broken.update(_broken((*DIRECTIVES, *LATIN_TONGUES), _bytes(reading)))
    if not text.isascii():
        broken.update(_broken(OTHER_TONGUES, _bytes(_folded(text))))
    return tuple(rule for rule in RULES if rule in broken)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "replace")


def _broken(directives: Iterable[Directive], page: bytes) -> Iterator[str]:
    for directive in directives:
        if _gives(directive, page):
            yield directive.rule


_WORDS_BEFORE = 30


def _gives(directive: Directive, page: bytes) -> bool:
    """Whether the order stands in the page at least once without an excuse."""
    pattern = _compiled(directive.pattern)
    if not directive.unless:
        return pattern.search(page) is not None
    excuse = _compiled(directive.unless)
    return any(
        not excuse.search(page[max(0, match.start() - _WORDS_BEFORE) : match.end()])
        for match in pattern.finditer(page)
    )


@cache
def _compiled(source: str) -> Any:
    """The pattern for UTF-8 bytes, compiled when it is first used and linear in what it reads."""
    options = re2.Options()
    options.max_mem = 64 << 20
    options.log_errors = False
    return re2.compile(source.encode(), options)


_UNSEEN = frozenset(("Cf", "Mn", "Me"))
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


def _readings(text: str) -> Iterator[str]:
    """The text as it stands, and as a model may read it through each disguise."""
    if "&" in text:
        text = html.unescape(text)
    plain = _latin(text)
    yield plain
    for undisguised in (_closed_up(plain), _without_digits(plain)):
        if undisguised != plain:
            yield undisguised
    for smuggled in ("\n".join(_decoded(text)), _hidden(text)):
        if smuggled:
            yield _latin(smuggled)


def _latin(text: str) -> str:
    """The text in lower-case Latin letters without accents, as far as it can be read so."""
    if text.isascii():
        return text.lower()
    letters = unicodedata.normalize("NFKD", _seen(text)).casefold()
    return _seen(letters).translate(_LOOKALIKES)


def _folded(text: str) -> str:
    """The text in its own script, folded in width and case."""
    return unicodedata.normalize("NFKC", _seen(text)).casefold()


def _seen(text: str) -> str:
    """The text without characters that only change or hide others.

    Needed before normalisation, which takes quadratic time to order a long run of marks.
    """
    unseen = (char for char in set(text) if unicodedata.category(char) in _UNSEEN)
    return text.translate({ord(char): None for char in unseen})


_SPELT_OUT = re.compile(r"\b(?:[a-z][ ._*-]){4,}[a-z]\b")


def _closed_up(text: str) -> str:
    """The text with letters that stand apart joined into words."""
    return _SPELT_OUT.sub(lambda match: re.sub(r"[ ._*-]", "", match[0]), text)


_DIGITS = str.maketrans("0134578@$|", "oieastbasi")
_MIXED = re.compile(r"[a-z][0134578@$|]{1,8}[a-z]|\b[0134578@$|]{1,8}[a-z]{2}")


def _without_digits(text: str) -> str:
    """The text with the digits that stand for letters read as letters."""
    return text.translate(_DIGITS) if _MIXED.search(text) else text


_BASE64 = re.compile(r"[A-Za-z0-9+/]{20,}={0,2}")


def _decoded(text: str) -> Iterator[str]:
    """What the runs of base64 in the text say, where that is plain text."""
    for match in _BASE64.finditer(text):
        bare = match[0].rstrip("=")
        try:
            decoded = binascii.a2b_base64(bare + "=" * (-len(bare) % 4)).decode()
        except (binascii.Error, UnicodeDecodeError):
            continue
        if "".join(decoded.split()).isprintable():
            yield decoded


def _hidden(text: str) -> str:
    """What is written in invisible characters: as tags, or as bytes in variation selectors."""
    return "" if text.isascii() else "".join(map(_hidden_letter, text))


def _hidden_letter(char: str) -> str:
    code = ord(char)
    if 0xE0020 <= code < 0xE007F:
        return chr(code - 0xE0000)
    if 0xE0110 <= code < 0xE016F:
        return chr(code - 0xE0100 + 16)
    return ""
