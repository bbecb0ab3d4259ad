"""The statement patterns of a language: wordings, the content they become, and its predicate."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, auto
from functools import cache
from re import Pattern

from remembrancer.learn.rules.vocabulary import Vocabulary, compile_words, read_blocks
from remembrancer.search.language import Language
from remembrancer.types import Permanence


@dataclass(frozen=True, slots=True)
class MemoryDefaults:
    """Values of the memories that several patterns produce."""

    category: str
    permanence: Permanence
    importance: float | None = None
    confidence: float = 0.85
    is_dated: bool = False
    """True if the time that was said is when it begins or ends to hold."""


class Opener(Enum):
    """What a clause begins with, so that most wordings need not be tried."""

    SELF = auto()
    PERSON = auto()
    ANYTHING = auto()


@dataclass(frozen=True, slots=True)
class StatementPattern:
    """A pattern for a statement, and the memory to make of it.

    `{x}` in the content is the matched text, `{who}` the person it is about, and `{clause}` all of
    the clause. In the predicate `{x}` is the topic. `check` accepts or refuses the matched text.
    """

    defaults: MemoryDefaults
    content: str
    predicate: str | None
    check: str
    pattern: Pattern[str]
    opener: Opener


@dataclass(frozen=True, slots=True)
class LanguageRules:
    """What is known of a language: its words, and what is said in it.

    `statements` are those that a clause can match, by what it begins with.
    """

    language: Language
    vocabulary: Vocabulary
    statements: Mapping[Opener, tuple[StatementPattern, ...]]
    instructions: tuple[StatementPattern, ...]


PERMANENT, STABLE, STANDARD = Permanence.PERMANENT, Permanence.STABLE, Permanence.STANDARD
INSTRUCTION = MemoryDefaults("instruction", STABLE, 7, 0.9)
MEMORY_DEFAULTS = {
    "BIRTH": MemoryDefaults("profile", PERMANENT, 8, 0.95),
    "PROFILE": MemoryDefaults("profile", STABLE, 8, 0.9, is_dated=True),
    "AGE": MemoryDefaults("profile", STANDARD, 7, 0.9),
    "HEALTH": MemoryDefaults("profile", PERMANENT, 9, 0.95),
    "RELATIONSHIP": MemoryDefaults("relationship", STABLE, 6, 0.9),
    "PREFERENCE": MemoryDefaults("preference", STABLE),
    "HABIT": MemoryDefaults("preference", STABLE, None, 0.8),
    "FACT": MemoryDefaults("fact", STANDARD),
    "EVENT": MemoryDefaults("event", STANDARD, None, 0.8),
    "PLAN": MemoryDefaults("event", Permanence.VOLATILE, None, 0.8),
    "MOVE": MemoryDefaults("event", Permanence.VOLATILE, None, 0.8, is_dated=True),
    "DECISION": MemoryDefaults("decision", STABLE, None, 0.8),
    "CORRECTION": MemoryDefaults("correction", STABLE, None, 0.75),
    "INSTRUCTION": INSTRUCTION,
}


SELF_WORDING = re.compile(r"(?:I|ich|je|<W>|\(I\|we\)|\(ich\|wir\)) ")
SELF_WORDS = frozenset("i we ich wir je".split())


@cache
def load_rules(language: Language) -> LanguageRules:
    """Read and compile the rules of a language; once in a process."""
    vocabulary = Vocabulary(language)
    statements = read_blocks(f"statements.{language}.txt")
    parsed = [
        _parse_statement(head, line, vocabulary) for head, lines in statements for line in lines
    ]
    by_opener = {
        opener: tuple(one for one in parsed if one.opener in (opener, Opener.ANYTHING))
        for opener in Opener
    }
    instructions = tuple(one for one in parsed if one.defaults is INSTRUCTION)
    return LanguageRules(language, vocabulary, by_opener, instructions)


def _parse_statement(head: str, wording: str, vocabulary: Vocabulary) -> StatementPattern:
    defaults, content, predicate, *check = head.split(" | ")
    return StatementPattern(
        MEMORY_DEFAULTS[defaults],
        content,
        None if predicate == "-" else predicate,
        check[0] if check else "is_complete",
        compile_wording(wording, vocabulary),
        _find_opener(wording),
    )


def _find_opener(wording: str) -> Opener:
    if wording.startswith("<P>"):
        return Opener.PERSON
    return Opener.SELF if SELF_WORDING.match(wording) else Opener.ANYTHING


def compile_wording(wording: str, vocabulary: Vocabulary) -> Pattern[str]:
    """Compile a wording to a regular expression.

    `<x>` matches any words, `<KIN>` an entry of the vocabulary, and `<role:KIN>` the same as a
    named group; `<P>` is a person as the subject. Parentheses only group.
    """
    plain = re.sub(r"\((?!\?)", "(?:", re.sub("(?<!P)<x>", "(?P<x>.+)", wording))
    named = re.sub(r"<([a-z]+):([A-Z_]+)>", r"(?P<\1><\2>)", plain)
    return compile_words(vocabulary.expand(named.replace("<P>", "(?P<who><PERSON>)")))
