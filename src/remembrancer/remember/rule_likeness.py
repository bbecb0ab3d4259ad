"""Tells whether two rules say the same in other words. No I/O."""

from __future__ import annotations

import re

from remembrancer.agreement.verdict import compare
from remembrancer.search.language import Language, detect_language

MIN_SHARED = 1.0
"""Weight of the words that two rules must share: one that tells something."""

MAX_ADDED = 0.4
"""Weight of the words that one rule can have alone: none that tells anything."""

_POLITENESS = re.compile(
    r"(?:(?:please|kindly|always|just|remember to|(?:make|be) sure (?:to|that you)|"
    r"(?:can|could|would|will) you|you (?:should|must|have to|need to|ought to)|"
    r"i(?:['’]d| would)? (?:want|like|need) you to|"
    r"bitte|por favor|s['’]il (?:te|vous) pla[iî]t)[\s,:]+)+",
    re.I,
)


def say_the_same(one: str, other: str) -> bool:
    """True if the rules differ in politeness, word order or synonyms alone.

    A rule that is limited to some cases is another rule.
    """
    mine, theirs = (_drop_politeness(text) for text in (one, other))
    found = compare(mine, theirs)
    if found.telling or found.alternatives or found.bounds or found.opposites or found.flips % 2:
        return False
    max_added = MAX_ADDED if _is_english(mine) and _is_english(theirs) else 0.0
    return found.shared >= MIN_SHARED and max(found.left, found.right) <= max_added


def _drop_politeness(text: str) -> str:
    said = text.strip()
    found = _POLITENESS.match(said)
    return said[found.end() :] if found else said


def _is_english(text: str) -> bool:
    """False for a language whose words no list has, so that each of them can matter."""
    return detect_language(text) in (None, Language.ENGLISH)
