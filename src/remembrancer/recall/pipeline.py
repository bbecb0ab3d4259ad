"""The read path: understand, embed once, compare, rank, explain. No language model."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, TypedDict

from remembrancer.call import Call
from remembrancer.clock import as_utc
from remembrancer.decay import belief
from remembrancer.errors import InvalidInput
from remembrancer.recall.candidates import Finding, similar
from remembrancer.recall.recipes import Scored, Setting, days_since, rank
from remembrancer.remember.statement import without_secrets
from remembrancer.store.contract import Embedding, Filter
from remembrancer.types import (
    AsOf,
    Backlog,
    Kind,
    Maturity,
    Mode,
    Permanence,
    Recalled,
    Recollection,
    Why,
    member,
)

if TYPE_CHECKING:
    from remembrancer.search.index import Index
    from remembrancer.search.query import Question
    from remembrancer.search.ranked import Search

LIMIT = 1000
QUERY_LIMIT = 20_000


class Narrowing(TypedDict, total=False):
    """Which memories a listing or a recall is about."""

    kinds: Sequence[Kind | str]
    categories: Sequence[str]
    tags: Sequence[str]
    scope: str | None
    as_of: AsOf | datetime | None
    minimum_importance: float
    subject: str | None
    maturities: Sequence[Maturity | str]
    permanences: Sequence[Permanence | str]
    backlogs: Sequence[Backlog | str]
    session: str | None
    confidence_below: float
    recorded_from: datetime | None
    recorded_before: datetime | None


class Wanted(Narrowing, total=False):
    """What may be said about the memories to bring back.

    `now` is when the question is asked, for "last week" and the like; `deadline_ms` how long to
    wait for the embedding of the query before doing without it; `used` is False for whoever only
    looks, which does not count as recalling.
    """

    mode: Mode | str
    limit: int
    minimum_confidence: float
    now: datetime | None
    deadline_ms: float | None
    used: bool


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


def narrowed(call: Call, wanted: Narrowing) -> Filter:
    """The filter that a caller's wishes amount to."""
    kinds = tuple(member(Kind, kind, "kinds") for kind in wanted.get("kinds", ())) or None
    passing = call.filter(scope=wanted.get("scope"), kinds=kinds, as_of=moment(wanted.get("as_of")))
    for category in wanted.get("categories", ()):
        call.profile.category(category)
    since, before = wanted.get("recorded_from"), wanted.get("recorded_before")
    below = wanted.get("confidence_below")
    return replace(
        passing,
        subject=wanted.get("subject"),
        belief=None if below is None else belief(call.profile.decay, below=below),
        maturities=tuple(
            member(Maturity, one, "maturities") for one in wanted.get("maturities", ())
        ),
        permanences=tuple(
            member(Permanence, one, "permanences") for one in wanted.get("permanences", ())
        ),
        backlogs=tuple(member(Backlog, one, "backlogs") for one in wanted.get("backlogs", ())),
        session_id=wanted.get("session"),
        recorded_from=since and as_utc(since),
        recorded_before=before and as_utc(before),
        categories=tuple(wanted.get("categories", ())),
        tags=tuple(wanted.get("tags", ())),
        minimum_importance=wanted.get("minimum_importance", call.profile.recall.minimum_importance),
    )


def moment(as_of: AsOf | datetime | None) -> AsOf | None:
    """A plain date means the world as it was known on that date."""
    match as_of:
        case None:
            return None
        case datetime():
            return AsOf(known=as_utc(as_of))
        case AsOf(known, true):
            return AsOf(known and as_utc(known), true and as_utc(true))


def checked_limit(limit: int) -> int:
    """A limit between 1 and 1000."""
    if not 1 <= limit <= LIMIT:
        raise InvalidInput(f"The limit must be from 1 to {LIMIT}.")
    return limit


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
