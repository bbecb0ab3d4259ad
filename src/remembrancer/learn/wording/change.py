"""Finds the memory that a statement changes without naming it. No I/O.

A model may store a change under another attribute than the memory it changes. A change is taken
for one only if the person says that something is different now, of the same subject, in words of
their own that the memory has, too.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from remembrancer.learn.details.known_names import find_unknown_names
from remembrancer.learn.details.numbers import fold, list_cardinals
from remembrancer.learn.wording.word_list import list_languages, load_word_lists, straighten
from remembrancer.search.terms import WORD_PATTERN, extract_query_terms
from remembrancer.types import Fact

MIN_SHARED_WORDS = 2
MIN_SHARED_SHARE = 0.4
"""How many words of a memory, and which share of them, the statement must repeat."""

MIN_NOUN_CHARS = 4

_NAMED_NEXT = re.compile(r"\s+(?:[^\W\d_]{1,5}['’]?\s*)?([A-Z]\w{3,})")
"""A name right after a word, at most with an article between."""


def find_changed(quotes: Sequence[str], content: str, facts: Sequence[Fact]) -> Fact | None:
    """The memory about the same subject that these words change, if exactly one fits best."""
    said = straighten(" ".join(quotes))
    recounted = _find_recounted(said, content, facts)
    if recounted is not None or not _says_change(said):
        return recounted
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


def leaves_job(quotes: Sequence[str], content: str, job: Fact) -> bool:
    """True if the person begins another job, not a second one or one with the same employer."""
    if not _says(straighten(" ".join(quotes)), "new_job"):
        return False
    names_new = any(find_unknown_names(content, [job.content], quotes))
    return names_new and any(find_unknown_names(job.content, [content], [job.content]))


def _says_change(said: str) -> bool:
    return _says(said, "changed", "parted")


def _says(said: str, *names: str) -> bool:
    """True for words of one of the lists, and none for what stands beside something."""
    lists, languages = load_word_lists("change.toml"), list_languages(said)
    found = any(lists[name].search(said, languages) for name in names)
    return found and not lists["beside"].search(said, languages)


def _find_recounted(said: str, content: str, facts: Sequence[Fact]) -> Fact | None:
    """The one memory that counts what "then I have ten" counts anew."""
    if not load_word_lists("change.toml")["total"].search(said, list_languages(said)):
        return None
    counted = _list_counted(f"{said} {content}")
    found = [one for one in facts if not counted.isdisjoint(_list_counted(one.content))]
    return found[0] if len(found) == 1 else None


def _list_counted(text: str) -> set[str]:
    """The words right after a number."""
    words = WORD_PATTERN.findall(fold(text))
    numbers = list_cardinals()
    return {
        noun
        for number, noun in pairwise(words)
        if (number.isdigit() or (number,) in numbers) and len(noun) >= MIN_NOUN_CHARS
    }


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
