"""Detects text that gives an assistant instructions, so that tainted text is treated as data.

Pure, and linear in the length of the text.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator

from remembrancer.guard.instructions import order_model
from remembrancer.guard.instructions.directives import (
    DIRECTIVES,
    LATIN_DIRECTIVES,
    NON_LATIN_DIRECTIVES,
    Directive,
)
from remembrancer.guard.lookalike_names import mixes_alphabets
from remembrancer.guard.obfuscation import LEET_LETTERS, decode_base64
from remembrancer.guard.patterns import compile_pattern

INSTRUCTION_RULES = tuple(
    dict.fromkeys(directive.rule for directive in (*DIRECTIVES, *NON_LATIN_DIRECTIVES))
)


def detect_order(text: str, *, strict: bool) -> bool:
    """True if a model of our own takes the text, or what is hidden in it, for an order."""
    return any(
        order_model.reads_like_order(variant, strict=strict) for variant in _iter_variants(text)
    )


def detect_instructions(text: str) -> tuple[str, ...]:
    """The names of the rules that a text breaks; empty if it can be quoted as data."""
    broken: set[str] = set()
    for variant in _iter_variants(text):
        broken.update(_find_broken_rules((*DIRECTIVES, *LATIN_DIRECTIVES), _encode(variant)))
    if not text.isascii():
        broken.update(_find_broken_rules(NON_LATIN_DIRECTIVES, _encode(_fold_case(text))))
    return tuple(rule for rule in INSTRUCTION_RULES if rule in broken)


def has_hidden_text(text: str) -> bool:
    """True if a part of a text is encoded, invisible or written in lookalike letters."""
    if any(unicodedata.category(char) == "Cf" for char in set(text)):
        return True
    if any(_decode_base64_runs(text)) or _extract_hidden_text(text):
        return True
    plain = to_latin(text)
    decoded = (plain.translate(_ROT13), plain[::-1])
    if any(map(_has_more_words_than(plain, MIN_SURE_FUNCTION_WORDS), decoded)):
        return True
    return any(map(mixes_alphabets, text.split()))


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "replace")


def _find_broken_rules(directives: Iterable[Directive], data: bytes) -> Iterator[str]:
    for directive in directives:
        if _matches_directive(directive, data):
            yield directive.rule


_EXCEPTION_BYTES_BEFORE = 30


def _matches_directive(directive: Directive, data: bytes) -> bool:
    """True if the directive matches at least once outside of its exception."""
    pattern = compile_pattern(directive.pattern, "utf-8")
    if not directive.unless:
        return pattern.search(data) is not None
    exception = compile_pattern(directive.unless, "utf-8")
    return any(
        not exception.search(data[max(0, match.start() - _EXCEPTION_BYTES_BEFORE) : match.end()])
        for match in pattern.finditer(data)
    )


_INVISIBLE_CATEGORIES = frozenset(("Cf", "Mn", "Me"))
# Letters that look like Latin ones, although Unicode does not decompose them.
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
    """The plain text, and what a model can read after undoing each kind of obfuscation."""
    if "&" in text:
        text = html.unescape(text)
    plain = to_latin(text)
    yield plain
    for variant in (_join_spelled_letters(plain), _replace_leet_digits(plain)):
        if variant != plain:
            yield variant
    yield from filter(_has_more_words_than(plain), (plain.translate(_ROT13), plain[::-1]))
    for hidden in ("\n".join(_decode_base64_runs(text)), _extract_hidden_text(text)):
        if hidden:
            yield to_latin(hidden)


def to_latin(text: str) -> str:
    """The text in lower case, with accents removed and lookalikes as Latin letters."""
    if text.isascii():
        return text.lower()
    letters = unicodedata.normalize("NFKD", _strip_invisible(text)).casefold()
    return _strip_invisible(letters).translate(_LOOKALIKES)


def _fold_case(text: str) -> str:
    """The text in its own script, with width and case folded."""
    return unicodedata.normalize("NFKC", _strip_invisible(text)).casefold()


def _strip_invisible(text: str) -> str:
    """The text without format characters and combining marks.

    Call it before normalisation, which takes quadratic time to sort a long run of marks.
    """
    invisible = (char for char in set(text) if unicodedata.category(char) in _INVISIBLE_CATEGORIES)
    return text.translate({ord(char): None for char in invisible})


_SPACED_LETTERS = re.compile(r"\b(?:[a-z][ ._*-]){4,}[a-z]\b")


def _join_spelled_letters(text: str) -> str:
    """The text with spaced-out letters joined into words."""
    return _SPACED_LETTERS.sub(lambda match: re.sub(r"[ ._*-]", "", match[0]), text)


_LEET_PATTERN = re.compile(r"[a-z][0134578@$|]{1,8}[a-z]|\b[0134578@$|]{1,8}[a-z]{2}")


def _replace_leet_digits(text: str) -> str:
    """The text with digits replaced by letters, if any word mixes the two."""
    return text.translate(LEET_LETTERS) if _LEET_PATTERN.search(text) else text


_ROT13 = str.maketrans(
    "abcdefghijklmnopqrstuvwxyz", "nopqrstuvwxyzabcdefghijklm"
)  # Of text in lower case.
_FUNCTION_WORDS = re.compile(
    r"\b(?:the|and|all|you|your|to|of|user|from|with|der|die|das|und|alle|den|dem|el|la|los|las|de"
    r"|del|que|todas|le|les|des|et|toutes|il|lo|gli|di|tutte|un|una|en)\b"
)
MIN_FUNCTION_WORDS, MIN_SURE_FUNCTION_WORDS = 2, 3
"""What a decoded text has to be read at all, and to be taken for one that was encoded."""


def _has_more_words_than(plain: str, minimum: int = MIN_FUNCTION_WORDS) -> Callable[[str], bool]:
    """Tells whether a text reads more like language than the one that it was decoded from."""
    least = max(minimum, 2 * len(_FUNCTION_WORDS.findall(plain)))
    return lambda decoded: len(_FUNCTION_WORDS.findall(decoded)) >= least


_BASE64 = re.compile(r"[A-Za-z0-9+/]{20,}={0,2}")


def _decode_base64_runs(text: str) -> Iterator[str]:
    """The decoded runs of base64 that are plain text."""
    for match in _BASE64.finditer(text):
        try:
            decoded = (decode_base64(match[0].encode("ascii")) or b"").decode()
        except UnicodeDecodeError:
            continue
        if decoded and "".join(decoded.split()).isprintable():
            yield decoded


def _extract_hidden_text(text: str) -> str:
    """Text hidden in invisible characters: as tags, or as bytes in variation selectors."""
    return "" if text.isascii() else "".join(map(_decode_hidden_char, text))


def _decode_hidden_char(char: str) -> str:
    code = ord(char)
    if 0xE0020 <= code < 0xE007F:
        return chr(code - 0xE0000)
    if 0xE0110 <= code < 0xE016F:
        return chr(code - 0xE0100 + 16)
    return ""
