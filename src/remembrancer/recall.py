"""The read path: embed once, search by meaning and by words, rank, explain. No language model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import TypedDict

from remembrancer.call import Call
from remembrancer.clock import as_utc
from remembrancer.decay import effective_confidence
from remembrancer.errors import InvalidInput
from remembrancer.ranking import Candidate, Scored, Setting, days_since, rank
from remembrancer.statement import without_secrets
from remembrancer.store.contract import Filter, Hit, Reader
from remembrancer.text import query_terms
from remembrancer.types import AsOf, Kind, Mode, Recalled, Why, member

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


class Wanted(Narrowing, total=False):
    """What may be said about the memories to bring back."""

    mode: Mode | str
    limit: int
    minimum_confidence: float


def recall(call: Call, query: str, wanted: Wanted) -> list[Recalled]:
    """The memories that matter for a query, best first."""
    if not query.strip():
        raise InvalidInput("There is nothing to look for: the query is empty.")
    if len(query) > QUERY_LIMIT:
        raise InvalidInput(f"The query is too long: at most {QUERY_LIMIT} characters.")
    query = without_secrets(query)
    mode = member(Mode, wanted.get("mode", call.profile.recall.mode), "mode")
    limit = checked_limit(wanted.get("limit", call.profile.recall.limit))
    passing = narrowed(call, wanted)
    least = wanted.get("minimum_confidence", call.profile.decay.recall_at)
    setting = _setting(call, passing, pool=max(5 * limit, 50))
    with call.store.reading(call.owner) as reader:
        while True:
            candidates = _candidates(call, reader, query, mode, passing, setting)
            certain = [one for one in candidates if one.effective_confidence >= least]
            # What has faded must not crowd out what has not: look further until there is enough.
            if len(certain) >= limit or len(candidates) < setting.pool:
                break
            setting = replace(setting, pool=4 * setting.pool)
    ranked = rank(certain, setting)[:limit]
    found = [_recalled(one, setting, _in_words(wanted, least)) for one in ranked]
    call.references.note(call.owner, (one.memory.id for one in found), call.now())
    return found


def narrowed(call: Call, wanted: Narrowing) -> Filter:
    """The filter that a caller's wishes amount to."""
    kinds = tuple(member(Kind, kind, "kinds") for kind in wanted.get("kinds", ())) or None
    passing = call.filter(scope=wanted.get("scope"), kinds=kinds, as_of=moment(wanted.get("as_of")))
    for category in wanted.get("categories", ()):
        call.profile.category(category)
    return replace(
        passing,
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


def _candidates(
    call: Call, reader: Reader, query: str, mode: Mode, passing: Filter, setting: Setting
) -> list[Candidate]:
    by_meaning: list[Hit] = []
    by_words: list[Hit] = []
    if mode is not Mode.KEYWORD:
        by_meaning = reader.semantic(call.embed(query), passing, setting.pool)
    if mode is not Mode.SEMANTIC:
        by_words = reader.keyword(query_terms(query), passing, setting.pool)
    meanings = {hit.id: (place, hit.score) for place, hit in enumerate(by_meaning, 1)}
    words = {hit.id: (place, hit.score) for place, hit in enumerate(by_words, 1)}
    records = reader.load({**meanings, **words})
    if passing.known_at is not None:
        then = reader.as_known(list(records.values()), passing.known_at)
        records = {one.id: one for one in then}
    none = (None, None)
    return [
        Candidate(
            record,
            effective_confidence(record, call.profile.decay, setting.now),
            *meanings.get(memory_id, none),
            *words.get(memory_id, none),
        )
        for memory_id, record in records.items()
    ]


def _recalled(scored: Scored, setting: Setting, filters: tuple[str, ...]) -> Recalled:
    candidate = scored.candidate
    record = candidate.record
    why = Why(
        recipe=setting.recall.recipe,
        semantic_rank=candidate.semantic_rank,
        similarity=candidate.similarity,
        keyword_rank=candidate.keyword_rank,
        bm25=candidate.bm25,
        parts=scored.parts,
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
    said = [f"{name} = {value}" for name, value in wanted.items() if name not in ("limit", "mode")]
    return (*said, f"effective confidence at least {least:g}")
