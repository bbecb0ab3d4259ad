"""Detects words that single out one person without a name: "our new CFO", "the intern who …"."""

from __future__ import annotations

from functools import cache
from typing import Any

from remembrancer.guard.patterns import compile_pattern
from remembrancer.guard.persons.person_words import pattern_of

_END = r"(?:$|[^A-Za-z0-9_-])"


def singles_out_person(data: bytes) -> bool:
    return any(shape.search(data) for shape in _shapes())


@cache
def _shapes() -> tuple[Any, ...]:
    person, role = pattern_of("person_nouns"), pattern_of("roles")
    anyone = rf"(?:{person}|{role})"
    adjective = r"(?:[a-z-]+[ ]){0,2}?"
    # A noun after the role makes it something that the role has: "our new CFO dashboard".
    verb = (
        r"(?:$|[.,;!?]|[ ](?:is|was|has|had|will|wants|hates|likes|loves|prefers|said|says|thinks"
        r"|starts|started|joined|left|comes|lives|works|from|in|who|ist|hat|war|wohnt|arbeitet"
        r"|kommt|esta|es|tiene|vive|trabaja|[a-z]+iere|est|a|habite|travaille|e|ha|lavora"
        r"|financier[aeo]?|financiera|tecnic[ao]|technique|general[e]?)\b|[ ]{2})"
    )
    sources = (
        rf"\b{pattern_of('only')}[ ]{adjective}{person}{_END}",
        rf"\b{pattern_of('only')}[ ]{adjective}{role}(?:[ ](?:on|of|at|im|del|de|der)[ ]|{verb})",
        rf"\b{pattern_of('our_new')}[ ]{adjective}{anyone}{verb}",
        rf"\b{pattern_of('the')}[ ]?{adjective}{anyone},?[ ]{pattern_of('who')}\b",
        rf"\bthe[ ]{adjective}{person}[ ]{pattern_of('places')}\b",
    )
    return tuple(compile_pattern(f"(?i){source}") for source in sources)
