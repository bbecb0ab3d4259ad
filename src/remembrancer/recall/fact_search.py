"""Finds the facts that a prompt needs: those in force, and older ones if it asks about the past."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING

from remembrancer.call import Call
from remembrancer.decay import effective_confidence
from remembrancer.guard.redaction import redact_text
from remembrancer.recall.filters import build_filter
from remembrancer.recall.relevance import FactCandidate, FactChoice, choose_facts
from remembrancer.remember.attributes import USER_SUBJECT, canonical_subject
from remembrancer.search.concepts import find_concepts, gloss
from remembrancer.search.dates import WEEKDAYS
from remembrancer.search.days import find_asked_days, find_days, is_same_day
from remembrancer.search.language import Language, detect_language
from remembrancer.search.past import find_past_window
from remembrancer.search.prompt import PromptReading
from remembrancer.store.contract import VALID_STATUSES, Filter, Reader
from remembrancer.store.nearest import score_similarity
from remembrancer.types import AsOf, Fact, Kind, Mode, Record, Status

if TYPE_CHECKING:
    from remembrancer.search.dates import TimeWindow
    from remembrancer.search.fact_pool import Floats
    from remembrancer.search.index import Index

INSTRUCTION_CATEGORIES = ("instruction", "response_style")
MAX_INSTRUCTIONS = 5
MAX_WEEKDAYS, MAX_EVENT_DAYS = 2, 31
DAY = timedelta(days=1)

ONCE_TRUE = (*VALID_STATUSES, Status.EXPIRED)
"""Statuses of facts that are or were true; a fact whose time is over counts as expired."""


@dataclass(frozen=True, slots=True)
class FactSearch:
    """The signals of a prompt, and who the user is."""

    call: Call
    question: PromptReading
    record_filter: Filter
    now: datetime
    past: TimeWindow | None
    index: Index
    similarity: Floats
    glossed: Floats | None
    words: Floats
    own_names: frozenset[str]
    asked_days: frozenset[date]

    def person_of(self, fact: Fact) -> str | None:
        """The person a fact is about, unless that is the user; a program's key names nobody."""
        if fact.has_program_key:
            return None
        subject = canonical_subject(fact.subject or USER_SUBJECT, self.own_names)
        return None if subject == USER_SUBJECT else subject

    def to_candidate(self, fact: Fact) -> FactCandidate:
        place = self.index.places[fact.id]
        return FactCandidate(
            fact,
            float(self.similarity[place]),
            float(self.words[place]),
            self.person_of(fact),
            is_past=has_ended(fact, self.now),
            is_on_day=_is_on_day(fact, self.asked_days),
            glossed=float(self.glossed[place]) if self.glossed is not None else None,
        )


def find_facts(
    call: Call, query: str, question: PromptReading, as_of: AsOf | None, now: datetime
) -> FactChoice:
    """The facts that the prompt needs, best first."""
    record_filter = build_filter(call, {"kinds": (Kind.FACT,), "as_of": as_of})
    with call.store.open_reader(call.owner) as reader:
        search = _compare(call, reader, redact_text(query), question, record_filter, now)
        found = _load_candidates(reader, search)
    believed = [one for one in found if _is_believed(call, one.fact, now)]
    known = [one for one in believed if _can_answer(one.fact, search)]
    return choose_facts(question, known, relatives=believed)


def find_instructions(call: Call, as_of: AsOf | None, now: datetime) -> list[Fact]:
    """The user's standing instructions, most important first."""
    names = tuple(name for name in INSTRUCTION_CATEGORIES if name in call.profile.categories)
    if not names:
        return []
    criteria = build_filter(call, {"kinds": (Kind.FACT,), "as_of": as_of, "categories": names})
    with call.store.open_reader(call.owner) as reader:
        found = _restore(reader, reader.find(criteria, 10 * MAX_INSTRUCTIONS), criteria)
    facts = [one for one in found if isinstance(one, Fact) and _is_believed(call, one, now)]
    facts.sort(key=lambda one: (-one.importance, -one.confirmed_at.timestamp(), one.id))
    return facts[:MAX_INSTRUCTIONS]


def has_ended(record: Record, now: datetime) -> bool:
    return record.valid_until is not None and record.valid_until <= now


def _compare(
    call: Call, reader: Reader, text: str, question: PromptReading, criteria: Filter, now: datetime
) -> FactSearch:
    from remembrancer.search.fact_pool import (
        extract_content_terms,
        find_user_names,
        list_fact_places,
        score_words,
    )

    index = reader.load_index(call.embedder.model)
    vector = None if call.profile.recall.mode is Mode.KEYWORD else call.embed(text)
    with call.store.cpu_slot():
        similarity = score_similarity(reader, index, vector)
        glossed = _score_gloss(call, reader, index, text) if vector is not None else None
        words = score_words(index, extract_content_terms(text), list_fact_places(index))
    # A request for what was true at a moment has that moment for its present.
    past = find_past_window(text, now) if criteria.true_at is None else None
    present = criteria.true_at or now
    own_names = find_user_names(index) | {call.principal.owner.user}
    return FactSearch(
        call,
        question,
        criteria,
        present,
        past,
        index,
        similarity,
        glossed,
        words,
        own_names,
        find_asked_days(text, present),
    )


def _is_on_day(fact: Fact, asked: frozenset[date]) -> bool:
    """True if a fact names one of the days, or the weekday of one or two days."""
    if not asked:
        return False
    weekdays = {WEEKDAYS[one.weekday()] for one in asked} if len(asked) <= MAX_WEEKDAYS else set()
    if not weekdays.isdisjoint(find_concepts(fact.content)):
        return True
    first, last = fact.valid_from.date(), (fact.valid_until or fact.valid_from).date()
    is_event = fact.valid_until is not None and (last - first).days <= MAX_EVENT_DAYS
    if is_event and any(first <= one < max(last, first + DAY) for one in asked):
        return True
    return any(is_same_day(day, one) for day in find_days(fact.content) for one in asked)


def _score_gloss(call: Call, reader: Reader, index: Index, text: str) -> Floats | None:
    """The similarity to the prompt word by word in English: the local model knows no other."""
    if detect_language(text) is Language.ENGLISH:
        return None
    return score_similarity(reader, index, call.embed(gloss(text)))


def _load_candidates(reader: Reader, search: FactSearch) -> list[FactCandidate]:
    """The most promising facts that are or were true, as of the requested time."""
    from remembrancer.search.fact_pool import choose_pool

    question = search.question
    topics = question.topics | question.needed_topics
    pool = choose_pool(search.index, search.similarity, search.words, topics)
    ids = [search.index.ids[place] for place in pool]
    criteria = search.record_filter
    if criteria.true_at is None and (search.past or question.relations):
        criteria = replace(criteria, statuses=ONCE_TRUE)
    found = _restore(reader, reader.matching(ids, criteria).values(), criteria)
    return [search.to_candidate(one) for one in found if isinstance(one, Fact)]


def _restore(reader: Reader, records: Iterable[Record], criteria: Filter) -> Sequence[Record]:
    """The records with the state they had when they were known, if a time was requested."""
    if criteria.known_at is None:
        return list(records)
    known = [one for one in records if one.recorded_at <= criteria.known_at]
    then = reader.as_of(known, criteria.known_at)
    return [one for one in then if one.status in ONCE_TRUE]


def _is_believed(call: Call, fact: Fact, now: datetime) -> bool:
    is_alive = fact.expires_at is None or fact.expires_at > now
    return is_alive and effective_confidence(fact, call.profile.decay, now) >= (
        call.profile.decay.recall_at
    )


def _can_answer(fact: Fact, search: FactSearch) -> bool:
    """True for a fact that is or will be true, or that was in the period asked for."""
    if not has_ended(fact, search.now):
        return fact.status is Status.ACTIVE or fact.valid_until is not None
    return search.past is not None and _held_in(fact, search.past)


def _held_in(fact: Fact, window: TimeWindow) -> bool:
    """True if a fact was true in a period; it may have begun before it was first told."""
    is_told_at_start = abs((fact.recorded_at - fact.valid_from).days) <= 1
    has_begun = is_told_at_start or fact.valid_from < window.end
    return has_begun and (fact.valid_until is None or fact.valid_until > window.start)
