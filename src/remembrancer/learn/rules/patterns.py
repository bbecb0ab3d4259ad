"""The table of statement patterns: wordings, the content they become, and its predicate."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from re import Pattern

from remembrancer.learn.rules.vocabulary import CHECKS, VOCABULARY, WORDS, Check, read_blocks
from remembrancer.types import Permanence


@dataclass(frozen=True, slots=True)
class MemoryDefaults:
    """Values of the memories that several patterns produce."""

    category: str
    permanence: Permanence
    importance: float | None = None
    confidence: float = 0.85


@dataclass(frozen=True, slots=True)
class StatementPattern:
    """Patterns for one statement, and the memory to make of it.

    `{x}` in the content is the matched text in the third person; in the predicate it is the topic.
    `check` accepts or refuses the matched text.
    """

    defaults: MemoryDefaults
    content: str
    predicate: str | None
    check: Check
    patterns: tuple[str, ...]


@cache
def compile_pattern(wording: str) -> Pattern[str]:
    """Compile a wording to a regular expression.

    `<x>` matches any words, `<KIN>` an entry of the vocabulary, and `<role:KIN>` the same as a
    named group. Parentheses only group.
    """
    plain = re.sub(r"\((?!\?)", "(?:", re.sub("(?<!P)<x>", "(?P<x>.+)", wording))
    named = re.sub(r"<([a-z]+):([A-Z_]+)>", r"(?P<\1><\2>)", plain)
    return re.compile(re.sub(r"<([A-Z_]+)>", lambda word: VOCABULARY[word[1]], named), re.I)


PERMANENT, STABLE, STANDARD = Permanence.PERMANENT, Permanence.STABLE, Permanence.STANDARD
MEMORY_DEFAULTS = {
    "BIRTH": MemoryDefaults("profile", PERMANENT, 8, 0.95),
    "PROFILE": MemoryDefaults("profile", STABLE, 8, 0.9),
    "AGE": MemoryDefaults("profile", STANDARD, 7, 0.9),
    "HEALTH": MemoryDefaults("profile", PERMANENT, 9, 0.95),
    "RELATIONSHIP": MemoryDefaults("relationship", STABLE, 6, 0.9),
    "PREFERENCE": MemoryDefaults("preference", STABLE),
    "HABIT": MemoryDefaults("preference", STABLE, None, 0.8),
    "FACT": MemoryDefaults("fact", STANDARD),
    "EVENT": MemoryDefaults("event", STANDARD, None, 0.8),
    "PLAN": MemoryDefaults("event", Permanence.VOLATILE, None, 0.8),
    "DECISION": MemoryDefaults("decision", STABLE, None, 0.8),
    "CORRECTION": MemoryDefaults("correction", STABLE, None, 0.75),
}
INSTRUCTION = MemoryDefaults("instruction", STABLE, 7, 0.9)


def _parse_statement(head: str, wordings: list[str]) -> StatementPattern:
    defaults, content, predicate, *check = head.split(" | ")
    return StatementPattern(
        MEMORY_DEFAULTS[defaults],
        content,
        None if predicate == "-" else predicate,
        CHECKS[check[0] if check else "is_complete"],
        tuple(wordings),
    )


STATEMENT_PATTERNS = tuple(
    _parse_statement(head, wordings) for head, wordings in read_blocks("statements.txt")
)

APPOSITION = re.compile(
    rf"\b(?:my|our) (?P<role>{VOCABULARY['KIN']}|{WORDS['PARTNER']}|{WORDS['BOSS']})"
    r"(?: (?:named |called )?(?P<name>(?-i:[A-Z][a-z]{2,15}(?: [A-Z][a-z]{2,15})?))"
    r"(?!['’\w-]| (?-i:[A-Z]))"
    r"|, (?P<apart>(?-i:[A-Z][a-z]{2,15}))(?=[.!?]?$|, (?!and\b|or\b)))",
    re.I,
)
NO_GIVEN_NAME = re.compile(WORDS["NO_GIVEN_NAME"], re.I)

INSTRUCTIONS = (
    r"(please )?<STANDING>,? (please )?(always |never )?<TO_AN_ASSISTANT>\b.+",
    r"(please )?(always|never) <TO_AN_ASSISTANT>\b.+",
    r"(please )?<TO_AN_ASSISTANT>\b.+ <STANDING>",
    "(whenever|every time|each time|any time|when) I (ask|say|write|send|mention|request|use) "
    r".+, (please )?(always |never )?<TO_AN_ASSISTANT>\b.+",
    r"(please )?(keep|make) <ANSWERS> \w.*",
    r"(please )?(do not|never|avoid|stop) us(e|ing) <NEVER_USE>\b.*",
    "I (want|need) you to (always|never) .+",
)
INSTRUCTION_KEYS: tuple[tuple[str, Pattern[str]], ...] = (
    (
        "answer_language",
        re.compile(
            rf"\b(?:answer|respond|reply|write|speak|talk)\b.* in {WORDS['LANGUAGE']}\b", re.I
        ),
    ),
    ("answers", re.compile(rf"\b(?:keep|make) {VOCABULARY['ANSWERS']}\b", re.I)),
)
