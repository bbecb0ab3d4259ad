"""Reads statements about named people, organisations and things, for memories of a domain."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from remembrancer.learn.extracted_fact import ExtractedFact, Quote
from remembrancer.learn.rules.clauses import split_sentences
from remembrancer.learn.rules.patterns import load_rules
from remembrancer.search.language import Language
from remembrancer.search.word_tables import load_tables
from remembrancer.types import Turn

MAX_WORDS = 30
CONFIDENCE = 0.8
CATEGORIES = {
    "preference": "preference",
    "relationship": "relationship",
    "general": "general",
    "property": "fact",
    "decision": "decision",
    "event": "event",
}
"""The category of a statement, by the list that its verb is in."""

NAME = r"(?P<name>[A-Z][\w&.-]*(?: [A-Z][\w&.-]*){0,3})"


def extract_domain_facts(turns: Sequence[Turn]) -> list[ExtractedFact]:
    """What English sentences state about somebody or something with a name, in order."""
    return [fact for turn in turns if turn.is_by_user for fact in _read_turn(turn)]


def _read_turn(turn: Turn) -> Iterator[ExtractedFact]:
    for sentence in split_sentences(turn.content, load_rules(Language.ENGLISH).vocabulary):
        found = _read_sentence(sentence.rstrip(" .!"))
        if found is not None:
            category, name, words = found
            yield ExtractedFact(
                content=words,
                quotes=(Quote(turn.id, words),),
                category=category,
                subject=name,
                confidence=CONFIDENCE,
                is_plain=True,
            )


def _read_sentence(words: str) -> tuple[str, str | None, str] | None:
    """The category of a statement, the name that it is about, and its words."""
    lists = _load_lists()
    plain = words.replace("’", "'")
    if len(words.split()) > MAX_WORDS or "?" in words or lists["passing"].search(plain):
        return None
    for kind, category in CATEGORIES.items():
        found = lists[kind].match(plain)
        if found is None:
            continue
        name = found.groupdict().get("name")
        if name is None or not lists["not_names"].match(name):
            return category, name, words
    return None


@cache
def _load_lists() -> Mapping[str, re.Pattern[str]]:
    tables = load_tables(__package__, "domain_statement.toml")
    words = {name: "|".join(f"(?:{one})" for one in table["en"]) for name, table in tables.items()}
    return {
        "not_names": re.compile(rf"(?:{words['not_names']})(?!\w)"),
        "passing": re.compile(rf"(?<!\w)(?:{words['passing']})(?!\w)", re.IGNORECASE),
        "property": re.compile(rf"{NAME}'s (?:{words['property']}) \S"),
        "decision": re.compile(rf"(?:{words['decision']}) \S"),
        "event": re.compile(rf"(?:{words['event']})(?!\w)"),
        **{
            kind: re.compile(rf"{NAME} (?:{words[kind]}) \S")
            for kind in ("preference", "relationship", "general")
        },
    }
