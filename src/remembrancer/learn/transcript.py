"""Turns as learning sees them: of each, the words that are the person's own. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from remembrancer.recall.prompt_block import strip_memory_block
from remembrancer.search.sentences import CODE_FENCE_PATTERN, SENTENCE_END_PATTERN
from remembrancer.search.terms import extract_terms, normalise_quote
from remembrancer.types import Status, Turn

MIN_ECHO_WORDS = 4
"""From this many words on, a sentence that someone else said before is no coincidence."""

_QUOTED_LINE = re.compile(r"^[ \t]*>.*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Transcript:
    """A stretch of a conversation, of which the turns from the position `new_from` on are new.

    `own` holds what each of the user's turns says in their own words; `injected` is the memory
    that was put into the prompts and must not be learned again.
    """

    turns: tuple[Turn, ...]
    new_from: int
    own_words: Mapping[str, str]
    injected: tuple[str, ...] = ()

    @property
    def new_turns(self) -> list[Turn]:
        """The turns that were not learned from yet, and may be."""
        return [
            one for one in self.turns if one.position >= self.new_from and one.id in self.own_words
        ]

    @property
    def new_own_turns(self) -> list[Turn]:
        """The new turns in the person's own words; none that has nothing of the kind."""
        own = [replace(one, content=self.own_words[one.id]) for one in self.new_turns]
        return [one for one in own if one.content.strip()]

    @property
    def by_others(self) -> list[str]:
        """What was said by anyone but the person, and what was injected."""
        others = [one.content for one in self.turns if not one.is_by_user]
        return [*others, *self.injected]

    def find_turn(self, turn_id: str) -> Turn | None:
        """One of its turns."""
        return next((one for one in self.turns if one.id == turn_id), None)


def build_transcript(turns: Sequence[Turn], new_from: int) -> Transcript:
    """The turns with the person's own words told apart from what they repeat."""
    said_before: list[str] = []
    own: dict[str, str] = {}
    injected: list[str] = []
    for turn in turns:
        text, memory = strip_memory_block(turn.content)
        injected += memory
        said_before += [_pad_terms(one) for one in memory]
        if not turn.is_by_user:
            said_before.append(_pad_terms(turn.content))
        elif turn.status is Status.ACTIVE and not turn.is_command:
            own[turn.id] = extract_own_words(text, said_before)
    return Transcript(tuple(turns), new_from, own, tuple(injected))


def extract_own_words(text: str, said_before: Iterable[str]) -> str:
    """A text without quotations, code, and sentences that others said before."""
    bare = _QUOTED_LINE.sub("", CODE_FENCE_PATTERN.sub("\n", text))
    others = list(said_before)
    return "\n".join(one for one in SENTENCE_END_PATTERN.split(bare) if not _is_echo(one, others))


def contains_quote(text: str, quote: str) -> bool:
    """Whether a text says what is quoted, but for case and spacing."""
    return bool(quote.strip()) and normalise_quote(quote) in normalise_quote(text)


def _is_echo(sentence: str, others: Sequence[str]) -> bool:
    spaced = _pad_terms(sentence)
    return spaced.count(" ") > MIN_ECHO_WORDS and any(spaced in one for one in others)


def _pad_terms(text: str) -> str:
    """The terms of a text, each with a space on both sides."""
    return f" {' '.join(extract_terms(text))} "
