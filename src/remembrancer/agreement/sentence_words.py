"""Splits an English statement into words and puts its parts into one order. No I/O."""

from __future__ import annotations

import re

from remembrancer.agreement.amounts import is_number, is_unit
from remembrancer.agreement.word_sets import load_sets

_TOKEN = re.compile(
    r"o'clock|[€$£]?[-−]?\d[\w.,:%°µ/]*|[\w#*]+(?:[._/:#*+@]+[\w#*]+)*|[,;]|[%°€$£]"
)
_HYPHENATED = re.compile(r"(?<=[A-Za-z])[-‐-–](?=[A-Za-z])")
_FREE_OF = re.compile(r"\b(\w+)-free\b", re.I)
_ALL_BUT = re.compile(r"\b(every\w*|any\w*|all|no\w*) but\b(?! not)", re.I)
_RANGE = re.compile(r"(?<=\d)\s*[-–—]\s*(?=\d)")
_CURRENCY = re.compile(r"([€$£])(\d[\d.,]*)")
_CONTRACTIONS = (
    (re.compile(r"\bcan['’]?t\b|\bcannot\b", re.I), "can not"),
    (re.compile(r"\bwon['’]t\b", re.I), "will not"),
    (re.compile(r"n['’]t\b", re.I), " not"),
    (re.compile(r"['’](?:re|ve|ll|d|m)\b", re.I), ""),
    (re.compile(r"\b(it|that|there|here|what|who|where)['’]s\b", re.I), r"\1 is"),
    (re.compile(r"(?<=\w)['’]s\b|(?<=s)['’](?=\s|$)", re.I), ""),
)


def split_statement(text: str) -> list[str]:
    """The words of a statement, with the main clause and what is earlier first."""
    return _rotate(_split(text))


def _split(text: str) -> list[str]:
    for pattern, replacement in _CONTRACTIONS:
        text = pattern.sub(replacement, text)
    text = text.replace("o’clock", "o'clock")
    text = _FREE_OF.sub(r"without \1", text)
    text = _ALL_BUT.sub(r"\1 except", text)
    text = _HYPHENATED.sub(" ", _RANGE.sub(" to ", text))
    text = _CURRENCY.sub(r"\2 \1", text)
    words = [found.rstrip(".,:") or found for found in _TOKEN.findall(text)]
    return _join_units([_decapitalize(words[0]), *words[1:]]) if words else []


def _join_units(words: list[str]) -> list[str]:
    """Turn "28 vacation days" into "28 days vacation"."""
    for at in range(len(words) - 2):
        number, between, unit = (word.casefold() for word in words[at : at + 3])
        if is_number(number) and is_unit(unit) and not (is_unit(between) or is_number(between)):
            words[at + 1], words[at + 2] = words[at + 2], words[at + 1]
    return words


def _decapitalize(word: str) -> str:
    """The first word of a sentence, which has its capital for that alone."""
    is_code = word[1:] != word[1:].lower() or any(one.isdigit() for one in word)
    return word if is_code else word.lower()


def _rotate(words: list[str]) -> list[str]:
    """Move a clause or phrase in front of the first comma to the end: "At noon, doors close."

    "First A, then B" becomes "A before B".
    """
    folded = [word.casefold() for word in words]
    if folded[:1] == ["first"] and "then" in folded:
        at = folded.index("then")
        words = [*words[1:at], "before", *words[at + 1 :]]
        return [word for word in words if word != ","]
    if "," in words and folded[0] in load_sets()["fronting"]:
        at = words.index(",")
        if 1 < at < len(words) - 2:
            words = [*words[at + 1 :], *words[:at]]
    return _put_earlier_first([word for word in words if word not in (",", ";")])


def _put_earlier_first(words: list[str]) -> list[str]:
    """Turn "B after A" into "A before B"."""
    for at, word in enumerate(words):
        is_rate = words[at + 1 : at + 2] in (["a"], ["an"], ["per"], ["every"])
        if word.casefold() in load_sets()["after"] and not is_rate and 0 < at < len(words) - 1:
            later = [one for one in words[:at] if one.casefold() != "only"]
            return [*words[at + 1 :], "before", *later]
    return words
