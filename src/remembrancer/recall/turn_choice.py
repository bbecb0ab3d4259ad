"""Decides which turns a prompt gets beside its facts: those that say what no fact says."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from remembrancer.call import Call
from remembrancer.recall.filters import RecallOptions
from remembrancer.recall.pipeline import FoundMemories, find
from remembrancer.recall.relevance import FactChoice
from remembrancer.search.language import Language, detect_language
from remembrancer.search.prompt import PromptReading
from remembrancer.search.terms import TermMatcher
from remembrancer.store.contract import Filter
from remembrancer.types import Kind, Recalled, Recollection, Status, Turn

MAX_TURNS = 60
"""How many turns are candidates for a block."""

MAX_LEARNED_TURNS = 6
"""How many turns of conversations that were learned from are told if no fact answers."""

MAX_COMPARED = 10
"""How many of the best turns decide whether there is anything on the topic."""

SIMILARITY_FLOOR, IMPERSONAL_SIMILARITY_FLOOR = 0.3, 0.5
"""The least similarity of a turn to a prompt that is about the user, or is not."""

MIN_MARGIN, MIN_SAMPLE = 0.15, 20
"""How much more similar than the median turn one on the topic is, if there are so many."""

RETIRED_STATUSES = (Status.SUPERSEDED, Status.FORGOTTEN)
MAX_RETIRED_FACTS = 500

SURE = 0.5
"""The probability from which something on the topic of a personal prompt is taken to be there."""

MIN_TERMS = 2
"""How many terms a prompt needs for a turn that has them all to be on its topic: the vector of a
long turn says little about one of its sentences. Where vectors are not compared, one is enough.
"""


@dataclass(frozen=True, slots=True)
class _Topic:
    """What a turn must be like to be on the topic of a prompt."""

    floor: float
    terms: frozenset[str]
    matcher: TermMatcher
    min_terms: int

    def has(self, found: Recalled) -> bool:
        """True for a turn that is similar to the prompt, or has all of its terms."""
        if (found.why.similarity or 0.0) >= self.floor:
            return True
        is_telling = len(self.terms) >= self.min_terms
        return is_telling and self.matcher.find(found.memory.content) == self.terms


def select_turns(
    call: Call, query: str, question: PromptReading, chosen: FactChoice, options: RecallOptions
) -> FoundMemories | None:
    """The turns that the prompt needs, best first; None for small talk.

    Of conversations that nothing was learned from yet, all turns on the topic are candidates. A
    turn that was learned from is told only if no fact answers, or if the prompt asks what was
    said; the source of a fact that is told, never.
    """
    if question.needs_nothing:
        return None
    found = find(call, query, {**options, "limit": MAX_TURNS})
    names_speaker = bool(found.search.query.speakers)
    is_personal = chosen.is_personal or question.asks_what_was_said or names_speaker
    if not is_personal and (question.is_general or not question.is_question):
        return None
    floor = SIMILARITY_FLOOR if is_personal else IMPERSONAL_SIMILARITY_FLOOR
    topic = _build_topic(query, floor, found)
    is_sure = names_speaker or (is_personal and found.recollection.sure >= SURE)
    if not is_sure and not any(map(topic.has, found.recollection[:MAX_COMPARED])):
        return None
    told = {source.turn_id for one in chosen.facts for source in one.fact.evidence}
    fresh, learned = _split_learned(call, found.recollection, told)
    if chosen.facts and not question.asks_what_was_said:
        learned = []
    if not is_personal or not (question.is_question or question.is_request or is_sure):
        learned = []
    if learned and not question.asks_what_was_said:
        learned = _drop_outdated(call, learned)
    near = list(filter(topic.has, learned))[:MAX_LEARNED_TURNS]
    kept = {one.memory.id for one in (*fresh, *near)}
    return _narrow(found, kept)


def _drop_outdated(call: Call, turns: Sequence[Recalled]) -> list[Recalled]:
    """Leave out the turns whose facts were replaced or forgotten since."""
    sessions = {one.memory.session_id for one in turns}
    with call.store.open_reader(call.owner) as reader:
        retired = [
            fact
            for name in sessions
            for fact in reader.find(_build_retired_filter(call, name), MAX_RETIRED_FACTS)
        ]
    sources = {source.turn_id for fact in retired for source in fact.evidence}
    return [one for one in turns if one.memory.id not in sources]


def _build_retired_filter(call: Call, session: str | None) -> Filter:
    return Filter(now=call.now(), kinds=(Kind.FACT,), statuses=RETIRED_STATUSES, session_id=session)


def _build_topic(query: str, floor: float, found: FoundMemories) -> _Topic:
    from remembrancer.search.fact_pool import extract_content_terms

    terms = frozenset(extract_content_terms(query))
    if detect_language(query) is not Language.ENGLISH:
        floor = max(floor, _usual_similarity(found.recollection) + MIN_MARGIN)
    return _Topic(floor, terms, TermMatcher(terms), MIN_TERMS if found.vector else 1)


def _usual_similarity(found: Recollection) -> float:
    """The similarity of the median turn: in other languages than English all are alike."""
    ordered = sorted(one.why.similarity or 0.0 for one in found)
    return ordered[len(ordered) // 2] if len(ordered) >= MIN_SAMPLE else 0.0


def _narrow(found: FoundMemories, kept: set[str]) -> FoundMemories:
    all_found = found.recollection
    chosen = [one for one in all_found if one.memory.id in kept]
    return replace(
        found, recollection=Recollection(chosen, sure=all_found.sure, late=all_found.late)
    )


def _split_learned(
    call: Call, found: Sequence[Recalled], told: Iterable[str]
) -> tuple[list[Recalled], list[Recalled]]:
    """The turns that nothing was learned from yet, and the others; without those told as facts."""
    untold = [one for one in found if one.memory.id not in set(told)]
    names = {one.memory.session_id for one in untold if one.memory.session_id is not None}
    with call.store.open_reader(call.owner) as reader:
        sessions = [known for name in names if (known := reader.get_session(name)) is not None]
    marks = {one.id: one.watermark for one in sessions}
    fresh = [
        one
        for one in untold
        if isinstance(one.memory, Turn)
        and one.memory.position >= marks.get(one.memory.session_id or "", 0)
    ]
    ids = {one.memory.id for one in fresh}
    return fresh, [one for one in untold if one.memory.id not in ids]
