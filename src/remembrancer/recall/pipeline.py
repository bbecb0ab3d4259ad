"""The read path: understand, embed once, compare, rank, explain. No language model."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from remembrancer.call import Call
from remembrancer.clock import as_utc
from remembrancer.errors import InvalidInput
from remembrancer.guard.redaction import without_secrets
from remembrancer.paging import checked_limit
from remembrancer.recall.candidates import Finding
from remembrancer.recall.filters import QUERY_LIMIT, Wanted, narrowed
from remembrancer.recall.recipes import Scored, Setting, days_since, rank
from remembrancer.store.contract import Embedding, Filter
from remembrancer.store.nearest import similar
from remembrancer.types import (
    Mode,
    Recalled,
    Recollection,
    Why,
    member,
)

if TYPE_CHECKING:
    from remembrancer.search.index import Index
    from remembrancer.search.query import Question
    from remembrancer.search.ranked import Search


def recall(call: Call, query: str, wanted: Wanted) -> Recollection:
    """The memories that matter for a query, best first."""
    from remembrancer.search.ranked import searched
    from remembrancer.search.signals import match

    started = time.monotonic()
    query = without_secrets(_checked(query))
    limit = checked_limit(wanted.get("limit", call.profile.recall.limit))
    passing = narrowed(call, wanted)
    decay = call.profile.decay
    least = max(wanted.get("minimum_confidence", decay.recall_at), decay.expire_below)
    setting = _setting(call, passing, pool=max(5 * limit, 50))
    with call.store.reading(call.owner) as reader:
        index = reader.index(call.embedder.model)
        question = _understood(call, query, index, wanted, passing)
        vector, late = _embedded(call, question.sense, wanted, started)
        with call.store.turn():
            signals = match(index, question)
            similarity = similar(reader, index, vector, as_evidence=True)
            search = searched(index, question, signals, similarity, call.profile.recall.evidence)
            finding = Finding(call, reader, search, vector, passing, least, _mode(call, wanted))
            candidates, setting = finding.candidates(setting, limit)
            ranked = rank(candidates, setting)[:limit]
            filters = _in_words(wanted, least)
            found = [_recalled(one, search, setting, filters) for one in ranked]
    if wanted.get("used", True):
        call.count(one.memory.id for one in found)
    return Recollection(found, sure=search.sureness([one.memory.id for one in found]), late=late)


def _checked(query: str) -> str:
    if not query.strip():
        raise InvalidInput("There is nothing to look for: the query is empty.")
    if len(query) > QUERY_LIMIT:
        raise InvalidInput(f"The query is too long: at most {QUERY_LIMIT} characters.")
    return query


def _understood(call: Call, query: str, index: Index, wanted: Wanted, passing: Filter) -> Question:
    """What the query means to someone who has these memories."""
    from remembrancer.search.query import understand
    from remembrancer.search.signals import known

    asked_at = wanted.get("now") or passing.known_at or passing.now
    question = understand(query, as_utc(asked_at), known(index))
    return question.without_words() if _mode(call, wanted) is Mode.SEMANTIC else question


def _embedded(
    call: Call, text: str, wanted: Wanted, started: float
) -> tuple[Embedding | None, tuple[str, ...]]:
    """The vector of a text, or none when it is not wanted or not there in time."""
    if _mode(call, wanted) is Mode.KEYWORD:
        return None, ()
    deadline = wanted.get("deadline_ms", call.profile.recall.deadline_ms)
    if deadline is None:
        return call.embed(text), ()
    try:
        left = started + deadline / 1000 - time.monotonic()
        return call.embed_soon(text).result(max(0.0, left)), ()
    except TimeoutError:
        return None, ("meaning",)


def _mode(call: Call, wanted: Wanted) -> Mode:
    return member(Mode, wanted.get("mode", call.profile.recall.mode), "mode")


def _recalled(
    scored: Scored, search: Search, setting: Setting, filters: tuple[str, ...]
) -> Recalled:
    candidate = scored.candidate
    record = candidate.record
    why = Why(
        recipe=setting.recall.recipe,
        semantic_rank=candidate.semantic_rank,
        similarity=candidate.similarity,
        keyword_rank=candidate.keyword_rank,
        bm25=candidate.bm25,
        normalised=search.normalised(record.id),
        parts=scored.parts,
        confidence=record.confidence,
        effective_confidence=candidate.effective_confidence,
        age_days=days_since(record.recorded_at, setting.now),
        filters=filters,
        evidence=record.evidence,
    )
    return Recalled(record, scored.score, why)


def _setting(call: Call, passing: Filter, pool: int) -> Setting:
    now = passing.known_at or passing.now
    return Setting(call.profile.recall, call.profile.importance.max, pool, now)


def _in_words(wanted: Wanted, least: float) -> tuple[str, ...]:
    """What was asked, for the explanation."""
    unsaid = ("limit", "mode", "now", "deadline_ms", "used")
    said = [f"{name} = {value}" for name, value in wanted.items() if name not in unsaid]
    return (*said, f"effective confidence at least {least:g}")
