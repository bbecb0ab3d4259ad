"""Renders ranked turns as lines of a prompt within a number of characters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, tzinfo
from typing import TYPE_CHECKING

from remembrancer.recall.excerpts import QueryTerms, excerpt
from remembrancer.recall.fact_lines import word_origin
from remembrancer.recall.pipeline import FoundMemories
from remembrancer.recall.prompt_block import PromptEntry, escape_for_prompt
from remembrancer.recall.turn_choice import MAX_TURNS
from remembrancer.search.sentences import split_sentences
from remembrancer.types import Turn

if TYPE_CHECKING:
    from remembrancer.search.query import ParsedQuery

Widths = tuple[tuple[int, int], ...]
"""The most characters of an excerpt up to each rank: the best turns say most."""

WIDTHS = ((2, 800), (10, 300), (MAX_TURNS, 130))
LIST_WIDTHS = ((4, 300), (MAX_TURNS, 130))
"""For questions that many turns answer together."""

ANSWER_WIDTHS = ((1, 1500), (3, 600), (10, 250), (MAX_TURNS, 130))
"""For questions about an answer of the assistant, which is mostly long."""

SCALES = (8, 4, 2, 1)
"""By how much excerpts may be longer where all turns fit."""

FULL_ROOM = 5000
"""The characters for which the widths are meant; in less room the widest are narrower."""

MIN_EXCERPT_CHARS = 50
"""Less room than this is left empty."""

LINE_FRAME = len("- \n")
MAX_FRAME_CHARS = len("- [2000-01-01] assistant: \n")
"""About what a line has beside its excerpt."""


@dataclass(frozen=True, slots=True)
class Focus:
    """What a query looks for, and how many characters of each turn are worth showing.

    `nearness` has the similarity of the parts of a turn that have a vector, by the turn's id.
    """

    terms: QueryTerms
    nearness: Mapping[str, Sequence[float]]
    widths: Widths

    def render(self, turn: Turn, max_chars: int) -> str:
        """What a turn says about the query, escaped, after the name of its speaker."""
        said = excerpt(turn.content, self.terms, max_chars, self._rate_sentences(turn, max_chars))
        line = escape_for_prompt(f"{_format_speaker(turn)}{said}") if said else ""
        return f"{line}{_format_note(turn)}" if line else ""

    def width_at(self, rank: int, scale: float = 1) -> int:
        """The most characters of the excerpt of a turn, by its rank."""
        narrowest = self.widths[-1][1]
        width = next((width for end, width in self.widths if rank < end), narrowest)
        return max(narrowest, int(scale * width))

    def _rate_sentences(self, turn: Turn, max_chars: int) -> dict[str, float]:
        """The similarity of each sentence, where each has a vector of its own."""
        scores = self.nearness.get(turn.id, ())
        if len(scores) < 2 or len(turn.content) <= max_chars:
            return {}
        sentences = split_sentences(turn.content)
        if len(sentences) != len(scores):
            return {}
        return {" ".join(one.split()): score for one, score in zip(sentences, scores, strict=True)}


def build_focus(found: FoundMemories) -> Focus:
    """The focus of the query that found some turns."""
    from remembrancer.search.signals import compute_part_similarity, weigh_terms

    index, query = found.search.index, found.search.query
    ids = [one.memory.id for one in found.recollection]
    nearness = compute_part_similarity(index, found.vector.vector, ids) if found.vector else {}
    weights = weigh_terms(index, query.topic or query.terms)
    terms = QueryTerms(weights, wants_number=query.asks_when or query.asks_number)
    return Focus(terms, nearness, _choose_widths(query))


def _choose_widths(query: ParsedQuery) -> Widths:
    if query.asks_assistant:
        return ANSWER_WIDTHS
    return LIST_WIDTHS if query.asks_list else WIDTHS


def draft_turns(
    turns: Sequence[Turn], focus: Focus, room: int, heading: str, zone: tzinfo = UTC
) -> list[PromptEntry]:
    """The best turns, in order of time, in lines of at most `room` characters together.

    The first line of a day has its date, in the time zone.
    """
    chosen = _choose_lines(turns, focus, room, zone)
    entries: list[PromptEntry] = []
    shown = ""
    for turn, line in sorted(chosen, key=lambda one: (one[0].said_at, one[0].position, one[0].id)):
        day = _format_day(turn, zone)
        entries.append(PromptEntry(turn.id, line if day == shown else f"{day} {line}", heading))
        shown = day
    return entries


def _choose_lines(
    turns: Sequence[Turn], focus: Focus, room: int, zone: tzinfo
) -> Iterator[tuple[Turn, str]]:
    """Turns by rank with their lines, until the room is used."""
    scale = _choose_scale(turns, focus, room)
    days: set[str] = set()
    for rank, turn in enumerate(turns):
        day = _format_day(turn, zone)
        frame = LINE_FRAME + (0 if day in days else len(day) + 1)
        free = room - frame - len(_format_speaker(turn)) - len(_format_note(turn))
        if free < min(MIN_EXCERPT_CHARS, len(turn.content)):
            continue
        line = focus.render(turn, min(focus.width_at(rank, scale), free))
        if line and len(line) + frame <= room:
            days.add(day)
            room -= len(line) + frame
            yield turn, line


def _choose_scale(turns: Sequence[Turn], focus: Focus, room: int) -> float:
    """The largest scale at which all turns fit; in little room, less than 1."""

    def measure(scale: float) -> int:
        return sum(
            MAX_FRAME_CHARS + min(len(turn.content), focus.width_at(rank, scale))
            for rank, turn in enumerate(turns)
        )

    fitting = (scale for scale in SCALES if measure(scale) <= room)
    return next(fitting, min(1.0, room / FULL_ROOM))


def _format_day(turn: Turn, zone: tzinfo) -> str:
    return f"[{turn.said_at.astimezone(zone):%Y-%m-%d}]"


def _format_speaker(turn: Turn) -> str:
    return f"{turn.speaker or turn.role}: "


def _format_note(turn: Turn) -> str:
    note = word_origin(turn)
    return f" {note}" if note else ""
