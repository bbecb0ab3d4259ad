"""Synonyms, opposites, exclusive alternatives and negative words of English statements. No I/O.

A sense is what words of one synonym group share. The word lists lie beside this module.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import resources

import Stemmer

MAX_PHRASE_WORDS = 5
MIN_PREFIXED_CHARS = 4
PREFIXES = ("un", "non", "in", "im", "ir", "il", "dis", "de")
"""Prefixes that turn a word into its opposite if the rest is a word of the other statement."""


PREPOSITIONS = frozenset("in on at to of for with by from the a".split())
PARTICLES = PREPOSITIONS | frozenset("up out off over down back".split())
"""Words of a phrase that tell little without the rest."""


@dataclass(frozen=True, slots=True)
class Entry:
    """What a word or phrase means: its senses, the oppositions it takes part in, the sets of
    alternatives it belongs to, and whether it negates.
    """

    senses: frozenset[str] = frozenset()
    sides: frozenset[tuple[int, int]] = frozenset()
    """Number of an opposition, and of the side of it."""

    sets: frozenset[int] = frozenset()


Phrase = tuple[str, ...]


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """The stem of a word's base form, in British spelling."""
    base = _load_irregular().get(word, word)
    return str(_stemmer().stemWord(base))


@lru_cache(maxsize=16_384)
def look_up(phrase: Phrase) -> Entry | None:
    """The entry of a sequence of stems, or None.

    "End in" and "in the morning" mean what their only telling word means as well.
    """
    found = _load_entries().get(phrase)
    telling = [word for word in phrase if word not in PREPOSITIONS]
    if found is None or len(phrase) == 1 or len(telling) != 1:
        return found
    word = _load_entries().get((telling[0],), Entry())
    return Entry(found.senses | word.senses, found.sides | word.sides, found.sets | word.sets)


@lru_cache(maxsize=16_384)
def find_negation(phrase: Phrase) -> Phrase | None:
    """The positive counterpart of a negative phrase, empty if it has none; None if not negative."""
    return _load_negatives().get(phrase)


def is_phrase_start(first: str) -> bool:
    """True if a phrase of several words begins with this stem."""
    return first in _load_phrase_starts()


def are_opposite(one: Entry | None, other: Entry | None) -> bool:
    """True if they stand on different sides of an opposition."""
    if one is None or other is None:
        return False
    sides = dict(one.sides)
    return any(number in sides and sides[number] != side for number, side in other.sides)


def are_exclusive(one: Entry | None, other: Entry | None) -> bool:
    """True if they are different members of one set of alternatives."""
    if one is None or other is None or one.senses & other.senses:
        return False
    return bool(one.sets & other.sets)


def is_negated_form(one: str, other: str) -> bool:
    """True if one word is the other with a negative prefix or suffix."""
    longer, shorter = (one, other) if len(one) > len(other) else (other, one)
    if len(shorter) < MIN_PREFIXED_CHARS:
        return False
    return any(longer == prefix + shorter for prefix in PREFIXES) or longer == f"{shorter}less"


@cache
def _stemmer() -> Stemmer.Stemmer:
    return Stemmer.Stemmer("english")


@cache
def _load_entries() -> Mapping[Phrase, Entry]:
    senses: dict[Phrase, set[str]] = defaultdict(set)
    sides: dict[Phrase, set[tuple[int, int]]] = defaultdict(set)
    sets: dict[Phrase, set[int]] = defaultdict(set)
    for number, line in enumerate(_read_lines("synonyms.txt")):
        for member in line.split("|"):
            senses[_to_phrase(member)].add(f"#{number}")
    for number, line in enumerate(_read_lines("opposites.txt")):
        for side, members in enumerate(line.split("/")):
            for member in members.split("|"):
                sides[_to_phrase(member)].add((number, side))
    for number, line in enumerate(_read_lines("exclusive.txt")):
        for member in line.split("|"):
            sets[_to_phrase(member)].add(number)
    return {
        phrase: Entry(frozenset(senses[phrase]), frozenset(sides[phrase]), frozenset(sets[phrase]))
        for phrase in {*senses, *sides, *sets}
    }


@cache
def _load_phrase_starts() -> frozenset[str]:
    phrases = [*_load_entries(), *_load_negatives()]
    return frozenset(phrase[0] for phrase in phrases if len(phrase) > 1)


@cache
def _load_negatives() -> Mapping[Phrase, Phrase]:
    pairs = [line.partition("=") for line in _read_lines("negative.txt")]
    return {_to_phrase(word): _to_phrase(positive) for word, _, positive in pairs}


@cache
def _load_irregular() -> Mapping[str, str]:
    pairs = (line.partition(" ") for line in _read_lines("irregular.txt"))
    return {form: base for form, _, base in pairs}


def _to_phrase(words: str) -> Phrase:
    stems = tuple(stem(word) for word in _split(words))
    return stems[1:] if len(stems) > 1 and stems[0] == "be" else stems


def _split(words: str) -> Sequence[str]:
    return words.replace("-", " ").replace("'", "").split()


def _read_lines(name: str) -> Iterator[str]:
    text = (resources.files(__package__) / "words" / name).read_text(encoding="utf-8")
    return (line for line in text.splitlines() if line.strip() and not line.startswith("#"))
