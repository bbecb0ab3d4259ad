"""Features of a text's wording, detected once when it is stored."""

from __future__ import annotations

import re
from enum import IntFlag

MAX_SCANNED_CHARS = 4000
"""Characters that are read: the purpose of a text shows at its beginning."""


class TextFeature(IntFlag):
    """A bit per feature; the values are stored."""

    QUESTION = 1
    INSTRUCTION = 2
    ACKNOWLEDGEMENT = 4
    DATE = 8
    PREFERENCE = 16
    REQUEST = 32


INSTRUCTION_PATTERN = re.compile(
    r"^\W*(?:please\s+)?(?:always|never|from now on|going forward|in (?:the )?future|whenever|"
    r"every time|each time|remember to|don'?t ever)\b|\b(?:when|whenever|if|every time) i ask\b",
    re.I,
)
ACKNOWLEDGEMENT_PATTERN = re.compile(
    r"^\W*(?:thanks|thank you|got it|sounds? (?:good|like|great)|great|ok|okay|sure|yes|yeah|"
    r"perfect|awesome|cool|hm+|that'?s|i see|nice|wow|hey|hi|hello)\b",
    re.I,
)
DATE_PATTERN = re.compile(
    r"\b(?:yesterday|today|tomorrow|tonight|recently|ago|since|20\d\d|"
    r"(?:last|next|this) (?:night|morning|week|weekend|month|year|spring|summer|autumn|winter)|"
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)day|"
    r"january|february|march|april|june|july|august|september|october|november|december|"
    r"(?:\d+|few|two|three) (?:days|weeks|months|years))\b",
    re.I,
)
PREFERENCE_PATTERN = re.compile(
    r"\bi(?:'d| would)?(?: \w+)? (?:prefer|like|love|enjoy|hate|dislike|avoid|rather)\b|"
    r"\bmy (?:favou?rite|preference|preferred)\b|"
    r"\bi'?m (?:allergic|vegetarian|vegan|into|a fan|interested)\b",
    re.I,
)
REQUEST_PATTERN = re.compile(
    r"\?\W*$|^\W*(?:please|can|could|would|will|do|what|how|any|which|who|where|is|are|should)\b|"
    r"\b(?:can|could|would) you\b",
    re.I,
)


def detect_features(text: str) -> TextFeature:
    start = text[:MAX_SCANNED_CHARS]
    found = TextFeature(0)
    for mark, pattern, where in (
        (TextFeature.INSTRUCTION, INSTRUCTION_PATTERN, start[:200]),
        (TextFeature.ACKNOWLEDGEMENT, ACKNOWLEDGEMENT_PATTERN, start[:100]),
        (TextFeature.DATE, DATE_PATTERN, start),
        (TextFeature.PREFERENCE, PREFERENCE_PATTERN, start),
        (TextFeature.REQUEST, REQUEST_PATTERN, start),
    ):
        if pattern.search(where):
            found |= mark
    return found | TextFeature.QUESTION if text.rstrip().endswith("?") else found
