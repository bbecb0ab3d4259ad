"""Finds what people say they left for something else: "moved off X", "from X to Y". No I/O."""

from __future__ import annotations

import re
from collections.abc import Iterator

from remembrancer.learn.rules.patterns import load_rules
from remembrancer.learn.rules.third_person import conjugate, is_verb
from remembrancer.learn.wording.word_list import list_languages, load_word_lists
from remembrancer.search.language import Language

MAX_PHRASE_WORDS = 6

_CLAUSE_END = re.compile(r"[,;!?…]|[.:](?:\s|$)")


def find_left_phrases(said: str) -> Iterator[str]:
    """The words for each thing that was left, without its article."""
    lists = load_word_lists("change.toml")
    languages = list_languages(said)
    for found in lists["leaves"].find_all(said, languages):
        rest = _CLAUSE_END.split(said[found.end() :])[0]
        end = lists["leaves_for"].search(rest, languages)
        phrase = rest[: end.start()] if end else rest
        if 0 < len(phrase.split()) <= MAX_PHRASE_WORDS:
            yield phrase.strip()


def is_about_user(content: str) -> bool:
    """True if a memory begins with the user or, in the third person, with a verb or an adverb."""
    first = content.partition(" ")[0].casefold().strip(".,;:'")
    if first in ("user", "the user", "user's"):
        return True
    if any(load_rules(one).vocabulary.equals("SPEAKER", first) for one in Language):
        return True
    vocabulary = load_rules(Language.ENGLISH).vocabulary
    if vocabulary.equals("ADVERB", first) or first in ("is", "has", "no"):
        return True
    bases = (first[:-1], first[:-2], f"{first[:-3]}y")
    return is_verb(first) or any(
        is_verb(base) and conjugate(base) == first for base in bases if len(base) > 1
    )
