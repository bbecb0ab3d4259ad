"""Derives a session's title from the user's first sentence. No I/O."""

from __future__ import annotations

import re
from collections.abc import Sequence

from remembrancer.recall.prompt_block import strip_memory_block
from remembrancer.search.sentences import SENTENCE_END_PATTERN
from remembrancer.types import Turn

TITLE_SOURCE_KEY = "titled"
"""Metadata key for what derived the title; missing if a person gave it."""

BY_WORDS, BY_MODEL = "words", "model"

MAX_TITLE_CHARS = 60
MAX_TITLE_WORDS = 7

_PREAMBLE = re.compile(
    r"^(?:(?:hi|hello|hey|hallo|good (?:morning|afternoon|evening)|ok(?:ay)?|so|well|please|"
    r"can you|could you|would you|i(?:'d| would) like (?:you )?to|i (?:want|need) (?:you )?to|"
    r"help me(?: to)?|tell me(?: about)?)\b[\s,!.:-]*)+",
    re.IGNORECASE,
)


def build_title(turns: Sequence[Turn]) -> str | None:
    """Returns None until the assistant has replied."""
    opening = next((one for one in turns if one.is_by_user), None)
    if opening is None or not any(one.role == "assistant" for one in turns):
        return None
    text = strip_memory_block(opening.content)[0]
    first = next((one for one in SENTENCE_END_PATTERN.split(text) if _strip_preamble(one)), "")
    return _shorten(_strip_preamble(first)) or None


def _strip_preamble(sentence: str) -> str:
    """Remove greetings and phrases such as "can you" from the start of a sentence."""
    return _PREAMBLE.sub("", sentence.strip()).strip(" \t.,!?;:-–—>#*`\"'")


def _shorten(text: str) -> str:
    words = text.split()
    short = " ".join(words[:MAX_TITLE_WORDS])
    cut = len(words) > MAX_TITLE_WORDS or len(short) > MAX_TITLE_CHARS
    short = short[:MAX_TITLE_CHARS].rstrip(" ,;:-")
    return short[:1].upper() + short[1:] + ("…" if cut else "")
