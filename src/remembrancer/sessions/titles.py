"""Derives a session's title from the first sentence of the user's that says something. No I/O."""

from __future__ import annotations

import re
from collections.abc import Sequence

from remembrancer.recall.prompt_block import strip_memory_block
from remembrancer.search.prompt import is_small_talk
from remembrancer.search.sentences import SENTENCE_END_PATTERN
from remembrancer.types import Status, Turn

BY_WORDS, BY_MODEL = "words", "model"

MAX_TITLE_CHARS = 60
MAX_TITLE_WORDS = 7
MAX_OPENING_TURNS = 20
"""A title is looked for in so many turns of a session."""

_PREAMBLE = re.compile(
    r"^(?:/\w+(?!\S)\s*)?"
    r"(?:(?:hi|hello|hey|hallo|good (?:morning|afternoon|evening)|ok(?:ay)?|so|well|please|"
    r"can you|could you|would you|i(?:'d| would) like (?:you )?to|i (?:want|need) (?:you )?to|"
    r"help me(?: to)?|tell me(?: about)?)\b[\s,!.:-]*)*",
    re.IGNORECASE,
)


def build_title(turns: Sequence[Turn]) -> str | None:
    """Returns None until the assistant has replied to a message that says something."""
    opening = find_opening(turns)
    if not any(one.role == "assistant" for one in opening):
        return None
    return _shorten(_find_topic(opening[0]))


def find_opening(turns: Sequence[Turn]) -> Sequence[Turn]:
    """The turns from the user's first message that is neither small talk nor a mere command."""
    for at, turn in enumerate(turns):
        # The reply to a command that also asks a question is none to a command.
        is_command = all(one.is_command for one in turns[at : at + 2])
        is_held = turn.status is Status.QUARANTINED
        if turn.is_by_user and not is_held and not is_command and _find_topic(turn):
            return turns[at:]
    return ()


def _find_topic(turn: Turn) -> str:
    """The first sentence that says something, without its preamble; "" if there is none."""
    sentences = SENTENCE_END_PATTERN.split(strip_memory_block(turn.content)[0])
    told = (_strip_preamble(one) for one in sentences if not is_small_talk(one))
    return next(filter(None, told), "")


def _strip_preamble(sentence: str) -> str:
    """Remove greetings, "/help" and phrases such as "can you" from the start of a sentence."""
    return _PREAMBLE.sub("", sentence.strip()).strip(" \t.,!?;:-–—>#*`\"'")


def _shorten(text: str) -> str:
    words = text.split()
    short = " ".join(words[:MAX_TITLE_WORDS])
    cut = len(words) > MAX_TITLE_WORDS or len(short) > MAX_TITLE_CHARS
    short = short[:MAX_TITLE_CHARS].rstrip(" ,;:-")
    return short[:1].upper() + short[1:] + ("…" if cut else "")
