"""Whose memories a question wants the team's answer from: only on an explicit phrase. Pure."""

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


def parse_origins(question: str) -> tuple[TeamOrigin, ...] | None:
    """The origins that a question confines itself to; None, as nearly always, if it does not."""
    only = [
        origin for origin, who in _ORIGIN_PATTERNS.items() if _matches(_ONLY_PATTERN, who, question)
    ]
    if only:
        return tuple(only)
    excluded = [
        origin
        for origin, who in _ORIGIN_PATTERNS.items()
        if _matches(_EXCLUDE_PATTERN, who, question)
    ]
    return tuple(one for one in TeamOrigin if one not in excluded) if excluded else None


def _matches(phrase: str, who: str, question: str) -> bool:
    return (
        re.search(rf"{phrase}(?:{who}){_POSSESSION_PATTERN}\b", question, re.IGNORECASE) is not None
    )
