"""A title for a conversation, from the person's first words. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from remembrancer.recall.prompt_block import without_memory
from remembrancer.search.sentences import END
from remembrancer.types import Turn

TITLED = "titled"
"""The key in a session's metadata for who found its title, unless a person gave it."""

BY_WORDS, BY_MODEL = "words", "model"

LONGEST = 60
MOST_WORDS = 7

_PREAMBLE = re.compile(
    r"^(?:(?:hi|hello|hey|hallo|good (?:morning|afternoon|evening)|ok(?:ay)?|so|well|please|"
    r"can you|could you|would you|i(?:'d| would) like (?:you )?to|i (?:want|need) (?:you )?to|"
    r"help me(?: to)?|tell me(?: about)?)\b[\s,!.:-]*)+",
    re.IGNORECASE,
)


def title_of(turns: Sequence[Turn]) -> str | None:
    """A few words that tell what a conversation is about; None before anyone has answered."""
    asked = next((one for one in turns if one.is_by_user), None)
    if asked is None or not any(one.role == "assistant" for one in turns):
        return None
    said = without_memory(asked.content)[0]
    first = next((one for one in END.split(said) if _told(one)), "")
    return _shortened(_told(first)) or None


def _told(sentence: str) -> str:
    """What is left of a sentence without its greeting and its please."""
    return _PREAMBLE.sub("", sentence.strip()).strip(" \t.,!?;:-–—>#*`\"'")


def _shortened(text: str) -> str:
    words = text.split()
    short = " ".join(words[:MOST_WORDS])
    cut = len(words) > MOST_WORDS or len(short) > LONGEST
    short = short[:LONGEST].rstrip(" ,;:-")
    return short[:1].upper() + short[1:] + ("…" if cut else "")
