"""Parses phrases such as "only from the agents' memory" in a query. No I/O."""

from __future__ import annotations

import re

from remembrancer.types import TeamOrigin

_ORIGIN_PATTERNS = {
    TeamOrigin.ASSISTANT: r"(?:the )?assistant|(?:your|its) own|remembrancer",
    TeamOrigin.AGENT: r"(?:the )?(?:coding )?agents?|claude(?: code)?|(?:the )?bots?",
    TeamOrigin.USER: r"(?:the )?(?:team ?mates?|users?|people|humans?|colleagues?)",
}
_POSSESSION_PATTERN = r"(?:['’]s|['’])? (?:memor(?:y|ies)|knowledge|facts?|notes?)"
_ONLY_PATTERN = r"\b(?:using|use|from|with|consult|trust)? ?only (?:from |the )?"
_EXCLUDE_PATTERN = (
    r"\b(?:exclud(?:e|ing)|without|ignor(?:e|ing)|leav(?:e|ing) out|not using) (?:the )?"
)


def parse_origins(query: str) -> tuple[TeamOrigin, ...] | None:
    """The origins that a query is limited to; None, the usual case, if it names none."""
    only = [
        origin for origin, name in _ORIGIN_PATTERNS.items() if _matches(_ONLY_PATTERN, name, query)
    ]
    if only:
        return tuple(only)
    excluded = [
        origin
        for origin, name in _ORIGIN_PATTERNS.items()
        if _matches(_EXCLUDE_PATTERN, name, query)
    ]
    return tuple(one for one in TeamOrigin if one not in excluded) if excluded else None


def _matches(phrase: str, name: str, query: str) -> bool:
    return (
        re.search(rf"{phrase}(?:{name}){_POSSESSION_PATTERN}\b", query, re.IGNORECASE) is not None
    )
