"""Normalises a text to plain letters and detects parts that are unreadable or hidden."""

from __future__ import annotations

import html
import re
import unicodedata
from dataclasses import dataclass
from functools import cache
from urllib.parse import unquote

_LETTERS = str.maketrans(
    {"ł": "l", "Ł": "L", "ø": "o", "Ø": "O", "đ": "d", "Đ": "D", "ß": "ss", "ẞ": "SS", "æ": "ae",
     "Æ": "Ae", "œ": "oe", "Œ": "Oe", "ð": "d", "Ð": "D", "þ": "th", "Þ": "Th", "ı": "i", "ħ": "h",
     "Ħ": "H", "ə": "a", "Ə": "A", "ŋ": "n", "Ŋ": "N", "ĸ": "k", "ŧ": "t", "Ŧ": "T", "ƒ": "f"}
)  # fmt: skip
_MARKS = str.maketrans(
    {
        **dict.fromkeys("‘’‚‛′`´ʹʻʼ", "'"),
        **dict.fromkeys("“”„‟«»″", '"'),
        **dict.fromkeys("‐‑‒–—―−", "-"),
        **dict.fromkeys("\u2028\u2029\u0085\r\v\f", "\n"),
        "\t": " ",
    }
)
_WORD = re.compile(r"[^\W\d_]+")
_UNIT_LETTERS = frozenset("μΩΔ")
_JOINERS = "\u200b\u200c\u200d\u2060\ufeff\u00ad\u180e\u034f\u115f\u1160\u3164\uffa0"
_HARMLESS_CONTROLS = frozenset("\t\n\r\v\f\u0085\u2028\u2029")
_HIDDEN_IN_WORD = re.compile(rf"\w[{_JOINERS.replace(chr(0xAD), '')}]+\w")
_JOINER = re.compile(rf"[{_JOINERS}\ufe00-\ufe0f]+")
_MAX_MARK_RUN = 3
_SPACED_LETTERS = re.compile(r"(?<!\w)(?:[^\W\d_][ ._*-]){3,60}[^\W\d_](?!\w)")
_PERCENT_ENCODED = re.compile(r"%[0-9A-Fa-f]{2}")


@dataclass(frozen=True, slots=True)
class NormalisedText:
    """A text with plain quotes, dashes and widths; `unreadable` if a part cannot be judged."""

    text: str
    unreadable: bool


def normalise(text: str) -> NormalisedText:
    """Undo what changes only the look of a text; words with spaced-out letters are appended."""
    text = _decode_escapes(text)
    hidden = _has_hidden_chars(text)
    if not text.isascii():
        text, stacked = _cut_mark_runs(_JOINER.sub("", text))
        text = unicodedata.normalize("NFKC", text)
        hidden = hidden or stacked or any(_is_non_latin(word) for word in _split_words(text))
        text = "".join(map(_to_ascii_digit, text))
    text = text.translate(_MARKS)
    return NormalisedText(
        text + "".join("\n" + word for word in _join_spelled_letters(text)), hidden
    )


def fold_to_ascii(text: str) -> str:
    """Letters without accents; a character without a Latin equivalent becomes a space."""
    if text.isascii():
        return text
    apart = unicodedata.normalize("NFKD", text.translate(_LETTERS))
    return "".join(char if char.isascii() else " " for char in apart if not _is_mark(char))


def _decode_escapes(text: str) -> str:
    if "&" in text:
        text = html.unescape(text)
    return unquote(text) if _PERCENT_ENCODED.search(text) else text


def _has_hidden_chars(text: str) -> bool:
    """True for control or format characters, or invisible characters inside a word."""
    return any(map(_is_deceptive, set(text))) or _HIDDEN_IN_WORD.search(text) is not None


@cache
def _is_deceptive(char: str) -> bool:
    if char in _JOINERS or char in _HARMLESS_CONTROLS:
        return False
    return unicodedata.category(char) in {"Cc", "Cf", "Cn", "Co", "Cs"}


@cache
def _is_mark(char: str) -> bool:
    return unicodedata.category(char) in {"Mn", "Me"}


def _cut_mark_runs(text: str) -> tuple[str, bool]:
    """Cut long runs of combining marks, which normalisation sorts in quadratic time."""
    kept: list[str] = []
    run = 0
    stacked = False
    for char in text:
        run = run + 1 if _is_mark(char) else 0
        if run <= _MAX_MARK_RUN:
            kept.append(char)
        stacked = stacked or run > 2
    return "".join(kept), stacked


def _split_words(text: str) -> set[str]:
    return set(_WORD.findall(text))


def _is_non_latin(word: str) -> bool:
    """True if a word has other than Latin letters; the lists of names cannot judge it."""
    foreign = {char for char in word if not _is_latin(char)}
    if not foreign:
        return False
    return len(word) > 3 or (len(word) > 1 and not foreign <= _UNIT_LETTERS)


@cache
def _is_latin(char: str) -> bool:
    return char.isascii() or all(part.isascii() or _is_mark(part) for part in _decompose(char))


def _decompose(char: str) -> str:
    return unicodedata.normalize("NFKD", char.translate(_LETTERS))


def _to_ascii_digit(char: str) -> str:
    return str(unicodedata.digit(char)) if char.isdecimal() else char


def _join_spelled_letters(text: str) -> list[str]:
    """The words whose letters are spaced out, joined."""
    return [re.sub(r"[ ._*-]", "", match[0]) for match in _SPACED_LETTERS.finditer(text)]
