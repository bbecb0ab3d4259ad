"""Finds the memory that a statement changes without naming it. No I/O.

A model may store a change under another attribute than the memory it changes. A change is taken
for one only if the person says that something is different now, of the same subject, in words of
their own that the memory has, too.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from remembrancer.learn.wording.word_list import list_languages, load_word_lists, straighten
from remembrancer.search.terms import WORD_PATTERN, extract_query_terms
from remembrancer.types import Fact

MIN_SHARED_WORDS = 2
MIN_SHARED_SHARE = 0.4
"""How many words of a memory, and which share of them, the statement must repeat."""

_NAMED_NEXT = re.compile(r"\s+(?:[^\W\d_]{1,5}['’]?\s*)?([A-Z]\w{3,})")
"""A name right after a word, at most with an article between."""


def find_changed(quotes: Sequence[str], facts: Sequence[Fact]) -> Fact | None:
    """The memory about the same subject that these words change, if exactly one fits best."""
    said = straighten(" ".join(quotes))
    if not _says_change(said):
        return None
    words = _telling_words(said)
    common = Counter(word for fact in facts for word in _telling_words(fact.content))
    repeated = {word for word, count in common.items() if count > 1}
    scored = sorted(
        ((share, fact) for fact in facts if (share := _shared_share(words, fact, said, repeated))),
        key=lambda one: -one[0],
    )
    if not scored or (len(scored) > 1 and scored[0][0] == scored[1][0]):
        return None
    return scored[0][1]


def ends_relationship(quotes: Sequence[str]) -> bool:
    """True if the person says that they parted."""
    said = straighten(" ".join(quotes))
    return bool(load_word_lists("change.toml")["parted"].search(said, list_languages(said)))


def _says_change(said: str) -> bool:
    lists, languages = load_word_lists("change.toml"), list_languages(said)
    changes = any(lists[name].search(said, languages) for name in ("changed", "parted"))
    return changes and not lists["beside"].search(said, languages)


def _shared_share(words: set[str], fact: Fact, said: str, repeated: set[str]) -> float:
    """The share of a memory's own words that the statement repeats; 0 if too few.

    Names, and words that several memories have, do not tell which one is meant.
    """
    if _parts_with_name(fact.content, said):
        return 1.0
    own = _telling_words(fact.content) - repeated
    shared = own & words
    share = len(shared) / max(1, len(own))
    return share if len(shared) >= MIN_SHARED_WORDS and share >= MIN_SHARED_SHARE else 0.0


def _parts_with_name(content: str, said: str) -> bool:
    """True for "I sold the Epsilon" about a memory that names it."""
    for parted in load_word_lists("change.toml")["parted"].find_all(said, list_languages(said)):
        named = _NAMED_NEXT.match(said, parted.end())
        if named is not None and re.search(rf"\b{re.escape(named[1])}\b", content):
            return True
    return False


def _telling_words(text: str) -> set[str]:
    """Longer words, without names and numbers."""
    words = (one for one in WORD_PATTERN.findall(text) if len(one) > 3 and one.islower())
    return set(extract_query_terms(" ".join(words)))
