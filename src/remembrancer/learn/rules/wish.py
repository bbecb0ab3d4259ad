"""Separates what a person tells from how they want to be answered, in English. Pure.

"I live in Oslo and be concise" is a statement and a wish. "I try to speak up and be direct" is one
statement: what joins a wish could as well go on with what the person does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto
from re import Match

from remembrancer.learn.rules.clauses import QUOTATION
from remembrancer.learn.rules.patterns import load_rules
from remembrancer.search.language import Language

MAX_SPLIT_CHARS = 2_000

BOUNDARY = re.compile(
    r"(?P<end>(?:[.!?;…]+|\s[-–—]+)\s+|\n+)"
    r"|(?P<comma>,\s+(?:(?:and|but|so|also|plus)\s+)?)"
    r"|\s+(?:and|but|so|plus)\s+",
    re.I,
)
LEADS = r"(?:<WISH_LEAD>\b,? )*"
CUE = re.compile(r"\b(?:please|pls|from now on|in future|when(?:ever)? you|you to)\b", re.I)
SUBORDINATE = re.compile(
    r"(?:if|when|whenever|every time|each time|any time|once|unless|while|because|since|as|for|in|"
    r"on|with|about|regarding|before|after|until|though|although)\b",
    re.I,
)
REASON = re.compile(r"\b(?:because|since|when|whenever|if|as|while|until|unless|so that)\b", re.I)
SELF = re.compile(r"(?:I|we|my|our)\b")
SELF_STANDING = re.compile(r"(?:always|never|from now on|in (?:the )?future|going forward)\b", re.I)
NOT_ASKED = re.compile(r"^(?:(?:also|just|then|please|pls),? )+", re.I)
ASKED_POLITELY = re.compile(
    r"^(?:(?:could|can|would|will) you|you (?:should|must|can|may|could|need to|have to)|"
    r"I(?:'d| would)? (?:want|like|need|prefer) you to) (?:please )?",
    re.I,
)


class Place(Enum):
    """Where words stand that may be a wish."""

    ALONE = auto()
    JOINED = auto()


@dataclass(frozen=True, slots=True)
class Part:
    """A part of what a person says, as they say it."""

    words: str
    is_wish: bool

    @property
    def is_standing(self) -> bool:
        """True for a wish that says itself that it lasts: "always be concise"."""
        return self.is_wish and SELF_STANDING.match(NOT_ASKED.sub("", self.words)) is not None


def split_wishes(text: str) -> tuple[Part, ...]:
    """The statements and the wishes in a text, in order; statements side by side stay together."""
    if len(text) > MAX_SPLIT_CHARS:
        return (Part(text.strip(), False),)
    plain = text.replace("’", "'")
    starts = [0]
    kinds = [_is_wish(plain, Place.ALONE)]
    for found in _find_boundaries(plain):
        left, right = plain[starts[-1] : found.start()], plain[found.end() :]
        is_next = _begins_other(left, found, right, in_wish=kinds[-1])
        if is_next is not None:
            starts.append(found.end())
            kinds.append(is_next)
    ends = [*starts[1:], len(text)]
    parts = zip(starts, ends, kinds, strict=True)
    return tuple(
        Part(_strip_link(text[start:end]), is_wish)
        for start, end, is_wish in parts
        if text[start:end].strip()
    )


def is_wish(words: str) -> bool:
    """True if all of the words are one wish for how to answer."""
    parts = split_wishes(words)
    return len(parts) == 1 and parts[0].is_wish


def is_standing_wish(words: str) -> bool:
    """True if all of the words are one wish that says itself that it lasts."""
    parts = split_wishes(words)
    return len(parts) == 1 and parts[0].is_standing


def word_wish(words: str) -> str:
    """A wish as it is stored: without the words that only ask for it."""
    bare = NOT_ASKED.sub("", words.strip(" ,.!;").replace("’", "'"), count=1)
    bare = ASKED_POLITELY.sub("", bare, count=1)
    return bare[:1].upper() + bare[1:]


def _find_boundaries(text: str) -> Iterator[Match[str]]:
    """Where a sentence or a clause may end, outside of quotations."""
    quoted = [found.span() for found in QUOTATION.finditer(text)]
    for found in BOUNDARY.finditer(text):
        if not any(start <= found.start() < end for start, end in quoted):
            yield found


def _begins_other(left: str, found: Match[str], right: str, *, in_wish: bool) -> bool | None:
    """Whether a wish begins behind a boundary; None if the part before it goes on."""
    if found["end"]:
        begins = _is_wish(right, Place.ALONE)
        return begins if begins or in_wish else None
    if in_wish:
        goes_back = SELF.match(right) and not _is_wish(right, Place.JOINED)
        return False if goes_back and not REASON.search(left) else None
    is_joined = not (found["comma"] and SUBORDINATE.match(left.strip()))
    return True if is_joined and _is_joined_wish(left, right) else None


def _is_joined_wish(left: str, right: str) -> bool:
    """True if a wish follows a statement, which does not simply go on with it."""
    vocabulary = load_rules(Language.ENGLISH).vocabulary
    begins_small = right[:1].islower() or SELF.match(right)
    if not begins_small or vocabulary.contains("REPORTED", left):
        return False
    if vocabulary.compile(f"{LEADS}<WISH_TO_ME>").match(right):
        return True
    is_cued = CUE.match(right) is not None
    if is_cued and _is_wish(right, Place.ALONE):
        return True
    addresses_others = vocabulary.contains("OTHERS_ADDRESSED", left)
    if vocabulary.compile(f"{LEADS}<WISH_OR_HABIT>").match(right):
        return not addresses_others
    if not vocabulary.compile(f"{LEADS}<WISH_BE>").match(right):
        return False
    if not vocabulary.contains("BARE_VERB_NEXT", left):
        return True
    is_brief = vocabulary.compile(f"{LEADS}be <DEGREE><BREVITY>").match(right)
    return is_brief is not None and not addresses_others


def _is_wish(words: str, place: Place) -> bool:
    vocabulary = load_rules(Language.ENGLISH).vocabulary
    kinds = "<WISH_BE>|<WISH_TO_ME>|<WISH_OR_HABIT>"
    kinds += "|<WISH_ALONE>" if place is Place.ALONE else ""
    return vocabulary.compile(f"{LEADS}(?:{kinds})").match(words) is not None


def _strip_link(words: str) -> str:
    """A part without the punctuation and the conjunction that join it to the next one."""
    return re.sub(r"(?:,|\s+(?:and|but|so|plus|also)|,\s+(?:and|but|so|also|plus))?\s*$", "", words)
