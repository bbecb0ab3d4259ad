"""Tells names that look like other names: they would make two people, or agents, of one. Pure."""

from __future__ import annotations

import re
import unicodedata

from remembrancer.errors import InvalidInput

_SCRIPTS_ALIKE = frozenset({"LATIN", "CYRILLIC", "GREEK", "ARMENIAN", "COPTIC", "CHEROKEE"})
"""Scripts whose letters look like each other's; no word is written in two of them."""

_JOINERS = "\u200c\u200d"
"""Persian and Indic words, and emoji, need them between two of their own characters."""

_WORD = re.compile(r"[^\W\d_]+")
_HIDDEN_CATEGORIES = ("Cf", "Zl", "Zp", "Co", "Cn")
# A filler or a variation selector is invisible too, whatever its category.
_HIDDEN_CHARS = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0") | {
    chr(code) for code in range(0xFE00, 0xFE0F)
}


def refuse_lookalike_name(name: str, what: str) -> None:
    """Raise InvalidInput for a name that looks like another one."""
    if (reason := explain_lookalike(name)) is not None:
        raise InvalidInput(f"The {what} {reason}.")


def explain_lookalike(name: str) -> str | None:
    """Why a name could be taken for another one; None if it could not."""
    if name != name.strip() or "  " in name:
        return "begins or ends with a space, or has two in a row: leave them out"
    if name.isascii():
        return None
    if any(_is_hidden(name, at) for at in range(len(name))):
        return "has a character that cannot be seen: type it again, without copying"
    if (plain := unicodedata.normalize("NFKC", name)) != name:
        return f"has characters that look like others: write {plain!r}"
    if mixes_alphabets(name):
        return "mixes the letters of two alphabets in one word: write it in one of them"
    return None


def mixes_alphabets(text: str) -> bool:
    """True if a word has letters of two alphabets that look alike."""
    if text.isascii():
        return False
    return any(len(_scripts_alike(word)) > 1 for word in _WORD.findall(text))


def _is_hidden(name: str, at: int) -> bool:
    char = name[at]
    if char in _JOINERS:
        around = name[at - 1 : at] + name[at + 1 : at + 2]
        return len(around) < 2 or any(_script(one) in _SCRIPTS_ALIKE for one in around)
    is_space = unicodedata.category(char) == "Zs" and char != " "
    return is_space or char in _HIDDEN_CHARS or unicodedata.category(char) in _HIDDEN_CATEGORIES


def _scripts_alike(word: str) -> set[str]:
    return {script for script in map(_script, word) if script in _SCRIPTS_ALIKE}


def _script(char: str) -> str:
    return unicodedata.name(char, "").partition(" ")[0]
