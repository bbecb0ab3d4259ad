"""Decides whether a reply agrees with the turn before it. No I/O."""

from __future__ import annotations

import re

from remembrancer.learn.wording.word_list import WordList, load_word_lists, straighten
from remembrancer.search.language import Language

MAX_WORDS_TO_OBJECTION = 3
"""Words after an agreement in which an objection takes it back: "yes, but …"."""

_SENTENCE = re.compile(r"[^.!?…\n]*[.!?…\n]*")
_GAP = re.compile(r"[\s,;:.!…–-]*")


def is_assent(reply: str) -> bool:
    """True if a reply begins by agreeing with what was said before, whatever follows."""
    text = straighten(reply).strip().lstrip("¡")
    if _first_sentence(text).rstrip().endswith("?"):
        return False
    agreed = _find_agreement(text)
    return agreed > 0 and not _is_taken_back(text[agreed:])


def _first_sentence(text: str) -> str:
    found = _SENTENCE.match(text)
    return found[0] if found else ""


def _find_agreement(text: str) -> int:
    """Where the agreement at the start of a text ends; 0 if there is none."""
    end = _skip(text, 0, "praise")
    pointed = _match("that_one", text, end) or _match("yes", text, end)
    return _skip(text, pointed, "yes", "that_one") if pointed else 0


def _skip(text: str, at: int, *names: str) -> int:
    """Step over words of some lists, and the punctuation between them."""
    while end := max(_match(name, text, at) for name in names):
        at = end
    return at


def _match(name: str, text: str, at: int) -> int:
    """The end of the longest match after a gap; 0 if none."""
    gap = _GAP.match(text, at)
    start = gap.end() if gap else at
    found = (one.match(text, start) for one in _list(name).patterns.values())
    return max((one.end() for one in found if one), default=0)


def _is_taken_back(rest: str) -> bool:
    """True if an objection follows at once, or in the next words of the same sentence."""
    near = " ".join(_first_sentence(rest).split()[:MAX_WORDS_TO_OBJECTION])
    return bool(_match("but", rest, 0) or _list("but").search(near, frozenset(Language)))


def _list(name: str) -> WordList:
    return load_word_lists("assent.toml")[name]
