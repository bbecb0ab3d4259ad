"""What a person asks of their memory in so many words, understood without a model. Pure.

Only a message that is such a request as a whole counts: all else is for the conversation.
"""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Remember:
    """Keep this."""

    content: str


@dataclass(frozen=True, slots=True)
class Correct:
    """Put this in the place of what was wrong."""

    content: str


@dataclass(frozen=True, slots=True)
class Forget:
    """Forget the memory closest to these words."""

    words: str


@dataclass(frozen=True, slots=True)
class ListMemories:
    """Say all that is remembered."""


@dataclass(frozen=True, slots=True)
class ForgetAll:
    """Forget everything, after one more question."""


@dataclass(frozen=True, slots=True)
class Reset:
    """Leave the recent turns behind."""


@dataclass(frozen=True, slots=True)
class Undo:
    """Take back the last change."""


@dataclass(frozen=True, slots=True)
class Explain:
    """Say what the last answer was made with."""


Command = Remember | Correct | Forget | ListMemories | ForgetAll | Reset | Undo | Explain

_POLITE = re.compile(
    r"^(?:(?:hey|hi|ok(?:ay)?|please|(?:can|could|would|will) you(?: please)?)[\s,!]+)+", re.I
)
_REMEMBER = re.compile(
    r"(?:/remember\s+|(?:remember|note|keep in mind|(?:don['’]?t|do not|never) forget|"
    r"make a note)(?:\s+this)?"
    r"(?:\s+that\s+|\s*:\s*|,\s+|\s+(?=(?:my|our|i|i['’]m|we)\s)))(?P<x>.+)",
    re.I | re.S,
)
_CORRECT = re.compile(r"(?:/correct\s+|correction\s*[:,]\s*)(?P<x>.+)", re.I | re.S)
_FORGET = re.compile(
    r"(?:/forget|forget)\s+(?:(?:about|that|what i (?:said|told you) about|"
    r"everything about(?! me\b))\s+)?(?P<x>.+)",
    re.I | re.S,
)
_FORGET_ALL = re.compile(
    r"/forget|(?:forget|delete|erase|wipe)\s+(?:everything|all(?: of it)?|all my memories|"
    r"my (?:whole )?memory|all (?:that )?you (?:know|remember))"
    r"(?:\s+(?:(?:that )?you (?:know|remember|have) )?(?:about|of|on) me)?",
    re.I,
)
_LIST = re.compile(
    r"/memories|(?:list|show)(?: me)? (?:all )?(?:my|your) memories|"
    r"what (?:all )?(?:do you|have you) (?:remember(?:ed)?|know|learned|stored?)"
    r"(?: (?:about|of) me)?|what do you have (?:stored )?(?:about|on) me",
    re.I,
)
_UNDO = re.compile(
    r"/undo|undo(?: (?:that|it|this|the last (?:one|change)))?|take (?:that|it) back", re.I
)
_WHY = re.compile(
    r"/why|why (?:did|do|would) you say (?:that|so|this)|how do you know(?: (?:that|this|it))?|"
    r"where (?:did you get|do you have) (?:that|this) from|"
    r"what makes you (?:say|think) (?:that|so)",
    re.I,
)
_RESET = re.compile(r"/reset", re.I)
_NEVER_MIND = re.compile(r"(?:it|that|this|about (?:it|that|this)|what i (?:just )?said|me)", re.I)
_FORGET_THIS = re.compile(
    r"(?:please\s+)?(?:forget|delete)\s+(?:about\s+)?(?:it|that|this)(?:\s+memory)?", re.I
)
_YES = re.compile(
    r"(?:yes|y|yep|yeah|sure|ok(?:ay)?|do it|go ahead|confirm|i am sure|i['’]m sure|"
    r"forget everything|/forget)(?:[\s,]+(?:please|do it|forget everything|everything))*",
    re.I,
)
_WHOLE_MESSAGE_COMMANDS: tuple[tuple[re.Pattern[str], Command], ...] = (
    (_FORGET_ALL, ForgetAll()),
    (_LIST, ListMemories()),
    (_UNDO, Undo()),
    (_WHY, Explain()),
    (_RESET, Reset()),
)


def parse_command(text: str) -> Command | None:
    """What is asked of memory, None if this is no such request."""
    polite = _POLITE.match(text.strip())
    said = text.strip()[polite.end() if polite else 0 :]
    bare = said.rstrip(" \t\n.!?")
    for pattern, meant in _WHOLE_MESSAGE_COMMANDS:
        if pattern.fullmatch(bare):
            return meant
    if said.endswith("?") and not polite:
        return None
    if found := _REMEMBER.fullmatch(said):
        return Remember(_capitalize_first(found["x"]))
    if found := _CORRECT.fullmatch(said):
        return Correct(_capitalize_first(found["x"]))
    return _parse_forget(bare)


def is_agreement(text: str) -> bool:
    """Whether a person says yes to what they were asked."""
    return _YES.fullmatch(text.strip().rstrip(".! ")) is not None


def is_forget_this(text: str) -> bool:
    """Whether a person wants what is being talked about forgotten, without saying what it is."""
    return _FORGET_THIS.fullmatch(text.strip().rstrip(".! ")) is not None


def _parse_forget(bare: str) -> Forget | None:
    found = _FORGET.fullmatch(bare)
    # "Forget it" is what people say when they mean "never mind".
    if found is None or _NEVER_MIND.fullmatch(bare.partition(" ")[2].strip()):
        return None
    return Forget(found["x"].strip(" \"'“”"))


def _capitalize_first(text: str) -> str:
    return text[:1].upper() + text[1:]
