"""Names, numbers, negations and corrections in a text, by the patterns of `phrases.toml`. No I/O.

The patterns of all languages apply to every text, because an episode can quote another language.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache

from remembrancer.search.language import Language, detect_language
from remembrancer.search.terms import extract_terms
from remembrancer.search.word_tables import load_tables

MIN_INFLECTED_CHARS = 4
MAX_SUFFIX_CHARS = 2
"""How much longer an inflected form of a name can be."""

_WORD = re.compile(r"[^\W\d_][^\W\d_’'-]*")
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_SENTENCE_START = re.compile(r"(?:^|[.!?:;\n“”\"(«–-])\s*$")

_REPORTED = re.compile(r"\s*[,:]?\s*[\"“«„][^\"“”»]*[\"“”»]?|\s*:.*", re.DOTALL)
_ENDS_WITH_SPEAKER = re.compile(r"\b(?:i|ich|yo|je)\s+(?:\w+\s+)?$", re.IGNORECASE)


def _load_phrases() -> Mapping[str, Mapping[str, list[str]]]:
    return load_tables(__package__, "phrases.toml")


@cache
def _compile_words(*sections: str, prefix: str = "") -> re.Pattern[str]:
    """A pattern for the words of sections, in all languages."""
    words = [one for name in sections for some in _load_phrases()[name].values() for one in some]
    return re.compile(rf"{prefix}(?<!\w)(?:{'|'.join(words)})(?!\w)", re.IGNORECASE)


def count_negations(text: str) -> int:
    """Count negations and words such as "stopped": they tell apart opposites in the same words."""
    return len(_compile_words("negations", "endings").findall(text))


def is_correction(text: str) -> bool:
    """True if the text records that a person told an assistant how to act."""
    at_start = _compile_words("orders", prefix=r"(?:^|[.!?:;\n“\"«]\s*)")
    return bool(_compile_words("corrections").search(text) or at_start.search(text))


def drop_reported(text: str) -> str:
    """The sentence without what it reports from something or somebody else."""
    for match in _compile_words("reports").finditer(text):
        reported = _REPORTED.match(text, match.end())
        if reported and not _ENDS_WITH_SPEAKER.search(text[: match.start()]):
            return f"{text[: match.end()]} {text[reported.end() :]}"
    return text


def is_decision(text: str) -> bool:
    """True if a sentence of the user says what they want, use or are."""
    return bool(_compile_words("decisions").search(text))


def find_ungrounded(content: str, texts: Iterable[str]) -> list[str]:
    """The names and numbers of a text that are in none of the others.

    Capitals do not mark names in German, so only numbers are compared there.
    """
    known = "\n".join(texts)
    known_numbers = _list_numbers(known)
    numbers = [one for one in _NUMBER.findall(content) if _squeeze(one) not in known_numbers]
    if Language.GERMAN in (detect_language(content), detect_language(known)):
        return numbers
    words = {one.casefold() for one in _WORD.findall(known)} | _generic_names()
    stems = set(extract_terms(known))
    return [
        *numbers,
        *(one for one in _iter_names(content) if not _is_known_name(one, words, stems)),
    ]


def _iter_names(text: str) -> Iterator[str]:
    """Capitalised words, except at the beginning of a sentence."""
    for match in _WORD.finditer(text):
        word = match.group()
        begins = _SENTENCE_START.search(text[: match.start()])
        if len(word) > 1 and word[0].isupper() and not begins:
            yield word


def _is_known_name(name: str, words: set[str], stems: set[str]) -> bool:
    folded = name.casefold()
    return (
        folded in words
        or set(extract_terms(name)) <= stems
        or any(_is_inflected(folded, word) for word in words)
    )


def _is_inflected(one: str, other: str) -> bool:
    shorter, longer = sorted((one, other), key=len)
    return (
        len(shorter) >= MIN_INFLECTED_CHARS
        and longer.startswith(shorter)
        and len(longer) - len(shorter) <= MAX_SUFFIX_CHARS
    )


def _list_numbers(text: str) -> set[str]:
    found = _NUMBER.findall(text)
    parts = [part for one in found for part in re.split(r"[.,:]", one)]
    words = {word.casefold() for word in _WORD.findall(text)}
    spelled = [digits for digits, names in _load_phrases_numbers() if words & names]
    return {_squeeze(one) for one in (*found, *parts, *spelled)}


@cache
def _load_phrases_numbers() -> tuple[tuple[str, frozenset[str]], ...]:
    numbers = _load_phrases()["numbers"]
    return tuple((digits, frozenset(names)) for digits, names in numbers.items())


@cache
def _generic_names() -> frozenset[str]:
    return frozenset(_load_phrases()["generic"]["names"])


def _squeeze(number: str) -> str:
    """A number without separators and leading zeros: 1,000 is 1000, and 03 is 3."""
    return re.sub(r"[.,:]", "", number).lstrip("0") or "0"
