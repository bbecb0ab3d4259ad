"""Finds in a question for whose team facts it asks, such as "use only Claude's memories". No I/O.

Only an instruction counts. A question that mentions an author, or that asks about notes, does not.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import product

from remembrancer.types import TeamOrigin

MAX_SENTENCE_CHARS = 300

_NAMES = {
    TeamOrigin.ASSISTANT: r"(?:assistant|remembrancer)(?:['’]s own)?|(?:your|its) own",
    TeamOrigin.AGENT: r"claude(?: code)?|codex|copilot|gemini|(?:coding |ai )?agents?|bots?",
    TeamOrigin.USER: r"team[- ]?mates?|users?|people|humans?|colleagues?|co-?workers?",
}
_NAME = "(?:(?:the|our|my|all|any|other) )*(?:" + "|".join(_NAMES.values()) + ")"
_NOUN = r"(?:memor(?:y|ies)|knowledge|facts?|notes?|entries|contributions?|proposals?)"
_SAID = (
    r"(?:(?:has|have) )?(?:said|say|wrote|written|writes?|noted|notes?|knows?|learned|recorded"
    r"|remembers?|remembered|proposed|contributed|added|told)"
)
_OWNER = rf"{_NAME}(?:['’]s?)?"
_OWNERS = rf"(?P<names>{_OWNER}(?:(?:,| and|,? or|, and) {_OWNER})*)"
_SOURCES = (
    rf"(?:all |any )?(?:of )?{_OWNERS} {_NOUN}",
    rf"(?:the |any |all )?{_NOUN} (?:from|by|of) {_OWNERS}",
    rf"(?:what|anything|everything|whatever) {_OWNERS} {_SAID}",
    rf"(?P<names>{_NAME}['’]s)(?=\s*(?:[.,:;!?)]|$))",
)

_READ = r"(?:use|consult|trust|consider|read|search|rely on|go by|stick to|answer|reply|respond)"
_FROM = r"(?:(?:from|with|in|on|by|using) )?"
_ONLY_COMMANDS = (
    rf"{_READ} (?:only|just|nothing but) {_FROM}SOURCE",
    rf"only {_READ} {_FROM}SOURCE",
    rf"{_READ} {_FROM}(?:only )?SOURCE (?:only|alone)",
    rf"only {_FROM}SOURCE",
)
_ONLY_GERUNDS = (
    r"(?:using|consulting|trusting) (?:only|just|nothing but) SOURCE",
    r"only using SOURCE",
    r"(?:using|from) SOURCE (?:only|alone)",
    r"(?:based|relying) (?:only|solely) on SOURCE",
)
_EXCLUDE_COMMANDS = (
    r"(?:exclude|ignore|skip|disregard|omit|leave out) SOURCE",
    r"leave SOURCE out",
    r"(?:don['’]?t|do not|never) (?:use|consult|trust|consider|include|rely on|read) SOURCE",
)
_EXCLUDE_GERUNDS = (
    r"(?:excluding|ignoring|disregarding|omitting|leaving out|without|not using|without using"
    r"|except(?: for)?) SOURCE",
)

_POLITE = (
    r"(?:(?:and|but|then|so|please|just|now|(?:can|could|would|will) you|you (?:should|must))"
    r"[ ,]+)*"
)
_CLAUSE_START = rf"(?:^|[,(–—-] ?){_POLITE}"
_ANSWER = r"\b(?:answer|reply|respond|tell me|explain|say)\b[^,]{0,60}? "
_END = (
    r"(?=\s*(?:[.,:;!?)–—-]|$)|\s+(?:please|here|now|this time|and|how|what|which|where|why|who"
    r"|tell|explain|to (?:answer|reply|tell|explain|find)|when (?:you|answering)"
    r"|for (?:this|now)|(?:from|in) (?:this|the|your) (?:answer|reply|response))\b)"
)
_LAST = r"(?=\s*[.!?)]*\s*$)"
_SENTENCE = re.compile(r"[^.?!;:\n]+[.?!]*")
_YES_NO_OR_WHO = re.compile(
    r"\W*(?:who|(?:can|could|would|will)(?! you)|do|does|did|is|are|was|were|has|have|had|should"
    r"|may|might)\b",
    re.IGNORECASE,
)
_ANY_NAME = re.compile(_NAME, re.IGNORECASE)
_HINT = re.compile(
    r"only|alone|just|nothing but|exclu|ignor|skip|disregard|omit|leav|without|except|not"
    r"|don['’]?t|never",
    re.IGNORECASE,
)


def _compile(templates: tuple[str, ...], form: str) -> tuple[re.Pattern[str], ...]:
    return tuple(
        re.compile(form.replace("FORM", template).replace("SOURCE", source), re.IGNORECASE)
        for template, source in product(templates, _SOURCES)
    )


def _compile_all(commands: tuple[str, ...], gerunds: tuple[str, ...]) -> list[re.Pattern[str]]:
    return [
        *_compile((*commands, *gerunds), f"{_CLAUSE_START}(?:FORM){_END}"),
        *_compile(gerunds, f"{_ANSWER}(?:FORM){_END}"),
    ]


_ONLY, _ONLY_LAST = (
    _compile_all(_ONLY_COMMANDS, _ONLY_GERUNDS),
    _compile(_ONLY_GERUNDS[:2], rf"\b(?:FORM){_LAST}"),
)
_EXCLUDE, _EXCLUDE_LAST = (
    _compile_all(_EXCLUDE_COMMANDS, _EXCLUDE_GERUNDS),
    _compile(_EXCLUDE_GERUNDS, rf"\b(?:FORM){_LAST}"),
)


def parse_origins(query: str) -> tuple[TeamOrigin, ...] | None:
    """The origins that a query is limited to; None, the usual case, if it names none."""
    sentences = [one for one in _SENTENCE.findall(query) if _can_name_origin(one)]
    if only := {name for one in sentences for name in _find_origins(one, _ONLY, _ONLY_LAST)}:
        return tuple(one for one in TeamOrigin if one in only)
    left_out = {name for one in sentences for name in _find_origins(one, _EXCLUDE, _EXCLUDE_LAST)}
    return tuple(one for one in TeamOrigin if one not in left_out) if left_out else None


def _can_name_origin(sentence: str) -> bool:
    is_short = len(sentence) <= MAX_SENTENCE_CHARS
    return is_short and bool(_HINT.search(sentence) and _ANY_NAME.search(sentence))


def _find_origins(
    sentence: str, commands: Iterable[re.Pattern[str]], last: Iterable[re.Pattern[str]]
) -> Iterator[TeamOrigin]:
    """The origins in the first command; what a yes-or-no question ends with is no command."""
    text = " ".join(sentence.split())
    patterns = commands if _YES_NO_OR_WHO.match(text) else (*commands, *last)
    found = next((match for one in patterns if (match := one.search(text))), None)
    if found:
        yield from (
            origin
            for origin, name in _NAMES.items()
            if re.search(rf"\b(?:{name})\b", found["names"], re.IGNORECASE)
        )
