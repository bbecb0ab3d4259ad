"""Finds the everyday concepts of a text, whatever words and language they are said in. No I/O.

A concept has the name of its English word. Its forms in four languages are in `concepts.txt`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from importlib import resources
from itertools import combinations

from remembrancer.search.language import Language, detect_language, list_other_languages
from remembrancer.search.words import split_words

MIN_START_CHARS, MIN_PART_CHARS = 3, 5
"""The shortest beginning of a word, and the shortest part within one, that tell its concept."""

LINKS = ("", "s", "n", "en", "es", "e")
"""Letters between the parts of a German compound."""

Forms = Mapping[str, frozenset[str]]


@lru_cache(maxsize=4096)
def find_concepts(text: str) -> frozenset[str]:
    """The concepts that the words of a text stand for."""
    return frozenset().union(*(concepts for _, concepts in read_words(text)))


def gloss(text: str) -> str:
    """The text word by word in English, with the words that no concept has left as they are."""
    return " ".join(
        min(concepts).replace("_", " ") if concepts else word for word, concepts in read_words(text)
    )


def read_words(text: str) -> Iterator[tuple[str, frozenset[str]]]:
    """The folded words of a text, each with the concepts that it can stand for."""
    language = detect_language(text)
    for word in split_words(text):
        yield word, _concepts_of_word(word, language)


@lru_cache(maxsize=16_384)
def _concepts_of_word(word: str, language: Language | None) -> frozenset[str]:
    """The concepts of a word in its text's language or, if it has none there, in the others."""
    if language is not None and (found := _look_up(word, language)):
        return found
    return frozenset().union(*(_look_up(word, one) for one in list_other_languages(word, language)))


def _look_up(word: str, language: Language) -> frozenset[str]:
    """The concepts of a whole word, of a compound's parts, or of the word's beginning."""
    forms = _load_forms()[language]
    if language is not Language.GERMAN or word in forms:
        return _match_start(word, forms)
    return _split_compound(word, forms) or _match_start(word, forms) or _match_part(word, forms)


def _match_start(word: str, forms: Forms) -> frozenset[str]:
    """The concepts of a form that is the word, or else of the longest one that begins it."""
    starts = (f"{word[:size]}*" for size in range(len(word), MIN_START_CHARS - 1, -1))
    return next((forms[one] for one in (word, *starts) if one in forms), frozenset())


def _match_part(word: str, forms: Forms) -> frozenset[str]:
    spans = combinations(range(len(word) + 1), 2)
    parts = [f"*{word[a:b]}*" for a, b in spans if b - a >= MIN_PART_CHARS]
    ends = [f"*{word[a:]}" for a in range(1, len(word) - MIN_PART_CHARS + 1)]
    return frozenset().union(*(forms[one] for one in (*parts, *ends) if one in forms))


def _split_compound(word: str, forms: Forms) -> frozenset[str]:
    """The concepts of both parts of a German compound; none if a part is unknown."""
    for size in range(MIN_START_CHARS, len(word) - MIN_START_CHARS + 1):
        tail = forms.get(word[size:])
        heads = (word[:size].removesuffix(link) for link in LINKS if word[:size].endswith(link))
        head = next((forms[one] for one in heads if one in forms), None)
        if head and tail:
            return head | tail
    return frozenset()


@cache
def _load_forms() -> Mapping[Language, Forms]:
    """The concepts of each form as it is written in the file, with its stars."""
    found: dict[Language, dict[str, set[str]]] = {one: defaultdict(set) for one in Language}
    text = resources.files(__package__).joinpath("concepts.txt").read_text(encoding="utf-8")
    for line in text.splitlines():
        concept, *columns = (field.strip() for field in line.split("|"))
        if not concept or concept.startswith("#"):
            continue
        for language, forms in zip(Language, columns, strict=True):
            for form in forms.split():
                found[language][form].add(concept)
    return {
        language: {form: frozenset(concepts) for form, concepts in forms.items()}
        for language, forms in found.items()
    }
