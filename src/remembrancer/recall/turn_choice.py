"""Decides which turns a prompt gets beside its facts: those that say what no fact says."""

from __future__ import annotations

from collections.abc import Iterable

from remembrancer.call import Call
from remembrancer.recall.filters import RecallOptions
from remembrancer.recall.pipeline import recall
from remembrancer.recall.relevance import FactChoice
from remembrancer.search.prompt import PromptReading
from remembrancer.types import Recalled, Turn

MAX_TURNS = 6
SIMILARITY_FLOOR, IMPERSONAL_SIMILARITY_FLOOR = 0.3, 0.5
"""The least similarity of a turn to a prompt that is about the user, or is not."""


def select_turns(
    call: Call, query: str, question: PromptReading, chosen: FactChoice, options: RecallOptions
) -> list[Turn]:
    """The turns that the prompt needs, best first; none for small talk.

    A turn that was learned from is told only if no fact answers, or if the prompt asks what was
    said; the source of a fact that is told, never.
    """
    is_personal = chosen.is_personal or question.asks_what_was_said
    asks = question.is_question and not question.is_general
    if question.is_small_talk or not (is_personal or asks):
        return []
    floor = SIMILARITY_FLOOR if is_personal else IMPERSONAL_SIMILARITY_FLOOR
    found = [one for one in recall(call, query, options) if _similarity(one) >= floor]
    turns = [one.memory for one in found if isinstance(one.memory, Turn)]
    told = {source.turn_id for one in chosen.facts for source in one.fact.evidence}
    turns = [one for one in turns if one.id not in told][: 2 * MAX_TURNS]
    if chosen.facts and not question.asks_what_was_said:
        turns = _drop_learned(call, turns)
    return turns[:MAX_TURNS]


def _similarity(found: Recalled) -> float:
    return found.why.similarity or 0.0


def _drop_learned(call: Call, turns: Iterable[Turn]) -> list[Turn]:
    """The turns that nothing was learned from yet."""
    turns = list(turns)
    names = {turn.session_id for turn in turns if turn.session_id is not None}
    with call.store.open_reader(call.owner) as reader:
        sessions = [known for name in names if (known := reader.get_session(name)) is not None]
    marks = {one.id: one.watermark for one in sessions}
    return [one for one in turns if one.position >= marks.get(one.session_id or "", 0)]
