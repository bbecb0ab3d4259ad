"""What the wording of a text tells about its use as evidence, noted once when it is stored."""

from __future__ import annotations

import re
from enum import IntFlag

LOOKED_AT = 4000
"""How much of a text is looked at: what it is for shows at its beginning."""


class Mark(IntFlag):
    """What a text does, besides saying something."""

    ASKS = 1
    STANDS = 2
    NODS = 4
    DATES = 8
    PREFERS = 16
    REQUESTS = 32


STANDING = re.compile(
    r"^\W*(?:please\s+)?(?:always|never|from now on|going forward|in (?:the )?future|whenever|"
    r"every time|each time|remember to|don'?t ever)\b|\b(?:when|whenever|if|every time) i ask\b",
    re.I,
)
NOD = re.compile(
    r"^\W*(?:thanks|thank you|got it|sounds? (?:good|like|great)|great|ok|okay|sure|yes|yeah|"
    r"perfect|awesome|cool|hm+|that'?s|i see|nice|wow|hey|hi|hello)\b",
    re.I,
)
TIME = re.compile(
    r"\b(?:yesterday|today|tomorrow|tonight|recently|ago|since|20\d\d|"
    r"(?:last|next|this) (?:night|morning|week|weekend|month|year|spring|summer|autumn|winter)|"
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)day|"
    r"january|february|march|april|june|july|august|september|october|november|december|"
    r"(?:\d+|few|two|three) (?:days|weeks|months|years))\b",
    re.I,
)
PREFERENCE = re.compile(
    r"\bi(?:'d| would)?(?: \w+)? (?:prefer|like|love|enjoy|hate|dislike|avoid|rather)\b|"
    r"\bmy (?:favou?rite|preference|preferred)\b|"
    r"\bi'?m (?:allergic|vegetarian|vegan|into|a fan|interested)\b",
    re.I,
)
REQUEST = re.compile(
    r"\?\W*$|^\W*(?:please|can|could|would|will|do|what|how|any|which|who|where|is|are|should)\b|"
    r"\b(?:can|could|would) you\b",
    re.I,
)


def marks(text: str) -> Mark:
    """All the marks of a text."""
    start = text[:LOOKED_AT]
    found = Mark(0)
    for mark, pattern, where in (
        (Mark.STANDS, STANDING, start[:200]),
        (Mark.NODS, NOD, start[:100]),
        (Mark.DATES, TIME, start),
        (Mark.PREFERS, PREFERENCE, start),
        (Mark.REQUESTS, REQUEST, start),
    ):
        if pattern.search(where):
            found |= mark
    return found | Mark.ASKS if text.rstrip().endswith("?") else found
