"""A transcript of turns that separates the user's own words from repeated ones. No I/O."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from remembrancer.learn.wording.pasted import split_pasted
from remembrancer.recall.prompt_block import strip_memory_block
from remembrancer.search.sentences import CODE_FENCE_PATTERN, SENTENCE_END_PATTERN
from remembrancer.search.terms import extract_terms, normalise_quote
from remembrancer.types import Status, Turn

MIN_ECHO_WORDS = 4
"""Words from which a sentence that someone else said before counts as repeated."""

_QUOTED_LINE = re.compile(r"^[ \t]*>.*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Transcript:
    """Turns of a session; those from position `new_from` on are new.

    `own_words` holds the text of the user's turns without what they repeat, by turn id. `injected`
    holds the memories that were part of the prompts, which must not be learned again.
    """

    turns: tuple[Turn, ...]
    new_from: int
    own_words: Mapping[str, str]
    injected: tuple[str, ...] = ()

    @property
    def new_turns(self) -> list[Turn]:
        """The user's turns that are to be learned from."""
        return [
            one for one in self.turns if one.position >= self.new_from and one.id in self.own_words
        ]

    @property
    def new_own_turns(self) -> list[Turn]:
        """The new turns with only the user's own words; turns without any are left out."""
        return self._keep_own_words(self.new_turns)

    @property
    def earlier_own_turns(self) -> list[Turn]:
        """The same of the turns that were learned from before."""
        known = [one for one in self.turns if one.position < self.new_from]
        return self._keep_own_words([one for one in known if one.id in self.own_words])

    def _keep_own_words(self, turns: Sequence[Turn]) -> list[Turn]:
        own = [replace(one, content=self.own_words[one.id]) for one in turns]
        return [one for one in own if one.content.strip()]

    @property
    def own_names(self) -> tuple[str, ...]:
        """The names under which the user speaks."""
        speakers = [one.speaker for one in self.turns if one.id in self.own_words and one.speaker]
        return tuple(dict.fromkeys(speakers))

    @property
    def by_others(self) -> list[str]:
        """The texts of everyone but the user, and the injected memories."""
        others = [one.content for one in self.turns if not one.is_by_user]
        return [*others, *self.injected]

    def find_turn(self, turn_id: str) -> Turn | None:
        return next((one for one in self.turns if one.id == turn_id), None)


def build_transcript(turns: Sequence[Turn], new_from: int) -> Transcript:
    """Separate the user's own words from quotes, code, pasted text and repeated sentences."""
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
    """Remove quoted lines, code, pasted text, and sentences that others said before."""
    own, _ = split_pasted(text)
    bare = _QUOTED_LINE.sub("", CODE_FENCE_PATTERN.sub("\n", own))
    return _blank_echoes(bare, list(said_before))


def contains_quote(text: str, quote: str) -> bool:
    """True if the text contains the quote, ignoring case and spacing; an empty quote never is."""
    return bool(quote.strip()) and normalise_quote(quote) in normalise_quote(text)


def _blank_echoes(text: str, others: Sequence[str]) -> str:
    """Replace the sentences that others said before by line breaks, and keep all else as it is."""
    begin, kept = 0, []
    for end, following in _list_sentence_ends(text):
        is_echo = _is_echo(text[begin:end], others)
        kept.append("\n" if is_echo else text[begin:following])
        begin = following
    return "".join(kept)


def _list_sentence_ends(text: str) -> Iterator[tuple[int, int]]:
    """Where each sentence ends, and where the next one begins."""
    for found in SENTENCE_END_PATTERN.finditer(text):
        yield found.span()
    yield len(text), len(text)


def _is_echo(sentence: str, others: Sequence[str]) -> bool:
    spaced = _pad_terms(sentence)
    return spaced.count(" ") > MIN_ECHO_WORDS and any(spaced in one for one in others)


def _pad_terms(text: str) -> str:
    """The terms of a text, separated and surrounded by spaces so that whole terms match."""
    return f" {' '.join(extract_terms(text))} "
