"""Whose memories a question wants the team's answer from: only on an explicit phrase. Pure."""

from __future__ import annotations

import re

from remembrancer.types import TeamOrigin

_WHO = {
    TeamOrigin.ASSISTANT: r"(?:the )?assistant|(?:your|its) own|remembrancer",
    TeamOrigin.AGENT: r"(?:the )?(?:coding )?agents?|claude(?: code)?|(?:the )?bots?",
    TeamOrigin.USER: r"(?:the )?(?:team ?mates?|users?|people|humans?|colleagues?)",
}
_THEIRS = r"(?:['’]s|['’])? (?:memor(?:y|ies)|knowledge|facts?|notes?)"
_ONLY = r"\b(?:using|use|from|with|consult|trust)? ?only (?:from |the )?"
_EXCLUDE = r"\b(?:exclud(?:e|ing)|without|ignor(?:e|ing)|leav(?:e|ing) out|not using) (?:the )?"


def wanted_origins(question: str) -> tuple[TeamOrigin, ...] | None:
    """The origins that a question confines itself to; None, as nearly always, if it does not."""
    only = [origin for origin, who in _WHO.items() if _says(_ONLY, who, question)]
    if only:
        return tuple(only)
    excluded = [origin for origin, who in _WHO.items() if _says(_EXCLUDE, who, question)]
    return tuple(one for one in TeamOrigin if one not in excluded) if excluded else None


def _says(phrase: str, who: str, question: str) -> bool:
    return re.search(rf"{phrase}(?:{who}){_THEIRS}\b", question, re.IGNORECASE) is not None
