"""The read path: parse the query, embed it once, search, rank, explain. No language model."""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from remembrancer.call import Call
from remembrancer.clock import as_utc
from remembrancer.errors import InvalidInput
from remembrancer.guard.redaction import redact_text
from remembrancer.options import check_options, check_value
from remembrancer.paging import validate_limit
from remembrancer.recall.filters import MAX_QUERY_CHARS, RecallOptions, build_filter
from remembrancer.recall.forgotten_turns import hide_forgotten
from remembrancer.recall.recipes import RankingContext, Scored, days_since
from remembrancer.recall.retrieval import Retrieval, rank
from remembrancer.remember.provenance import trace_provenance
from remembrancer.store.contract import Embedding, Filter
from remembrancer.store.nearest import score_similarity
from remembrancer.types import (
    Mode,
    Recalled,
    Recollection,
    Why,
    parse_enum,
    to_as_of,
    validate_confidence,
)

if TYPE_CHECKING:
    from remembrancer.search.index import Index
    from remembrancer.search.query import ParsedQuery
    from remembrancer.search.shortlist import Search

UNEXPLAINED_OPTIONS = frozenset(
    "limit mode now deadline_ms used "
    "kinds scope as_of minimum_importance minimum_confidence".split()
)
"""Those that are no filter, and those that are told as they are in force."""


@dataclass(frozen=True, slots=True)
class FoundMemories:
    """The memories found for a query, the search that found them, and the query's vector."""

    recollection: Recollection
    search: Search
    vector: Embedding | None


def recall(call: Call, query: str, options: RecallOptions) -> Recollection:
    """The memories that matter for a query, best first."""
    return find(call, query, options).recollection


def find(call: Call, query: str, options: RecallOptions) -> FoundMemories:
    """Recall, with what else the search knows."""
    from remembrancer.search.shortlist import compare

    started = time.monotonic()
    check_options(options, RecallOptions)
    query = redact_text(_validate_query(query))
    limit = validate_limit(options.get("limit", call.profile.recall.limit))
    record_filter = build_filter(call, options)
    decay = call.profile.decay
    asked_confidence = validate_confidence(options.get("minimum_confidence", decay.recall_at))
    min_confidence = max(asked_confidence, decay.expire_below)
    mode = parse_enum(Mode, options.get("mode", call.profile.recall.mode), "mode")
    ranking = _build_ranking_context(call, record_filter, max(5 * limit, 50), mode)
    with call.store.open_reader(call.owner) as reader:
        index = reader.load_index(call.embedder.model)
        parsed = _parse_query(query, index, mode, options.get("now"), record_filter)
        vector, late = _embed_query(call, parsed.embedding_text, mode, options, started)
        with call.store.cpu_slot():
            similarity = score_similarity(reader, index, vector, discount_requests=True)
            search = compare(index, parsed, similarity, call.profile.recall.evidence)
            retrieval = Retrieval(
                reader, search, vector, record_filter, min_confidence, mode, decay
            )
            scored = rank(retrieval, ranking, limit)
        if record_filter.known_at is None:
            scored = hide_forgotten(reader, scored, record_filter.now)
    filters = _describe_filters(options, record_filter, min_confidence)
    found = [_build_recalled(one, search, ranking, filters) for one in scored]
    ids = [one.memory.id for one in found]
    if options.get("used", True) and to_as_of(options.get("as_of")) is None:
        call.count_recalls(ids)
    recollection = Recollection(found, sure=search.estimate_relevance(ids), late=late)
    return FoundMemories(recollection, search, vector)


def _validate_query(query: str) -> str:
    check_value("query", query, str)
    if not query.strip():
        raise InvalidInput("The query is empty.")
    if len(query) > MAX_QUERY_CHARS:
        raise InvalidInput(f"The query is too long: at most {MAX_QUERY_CHARS} characters.")
    return query


def _parse_query(
    query: str, index: Index, mode: Mode, now: datetime | None, record_filter: Filter
) -> ParsedQuery:
    from remembrancer.search.query import parse_query
    from remembrancer.search.signals import describe_corpus

    asked_at = now or record_filter.known_at or record_filter.now
    parsed = parse_query(query, as_utc(asked_at), describe_corpus(index))
    return parsed.drop_terms() if mode is Mode.SEMANTIC else parsed


def _embed_query(
    call: Call, text: str, mode: Mode, options: RecallOptions, started: float
) -> tuple[Embedding | None, tuple[str, ...]]:
    """The query's vector, or None if the mode needs none or the deadline passed."""
    if mode is Mode.KEYWORD:
        return None, ()
    deadline = options.get("deadline_ms", call.profile.recall.deadline_ms)
    if deadline is None:
        return call.embed(text), ()
    remaining = started + deadline / 1000 - time.monotonic()
    if remaining <= 0:
        return None, ("meaning",)
    try:
        return call.embed_in_background(text).result(remaining), ()
    except TimeoutError:
        return None, ("meaning",)


def _build_recalled(
    scored: Scored, search: Search, ranking: RankingContext, filters: tuple[str, ...]
) -> Recalled:
    candidate = scored.candidate
    record = candidate.record
    why = Why(
        recipe=ranking.recall.recipe,
        semantic_rank=candidate.semantic_rank,
        similarity=candidate.similarity,
        keyword_rank=candidate.keyword_rank,
        bm25=candidate.bm25,
        normalised=search.normalised_scores(record.id),
        parts=scored.score_parts,
        confidence=record.confidence,
        effective_confidence=candidate.effective_confidence,
        age_days=days_since(record.recorded_at, ranking.now),
        filters=filters,
        evidence=record.evidence,
        provenance=trace_provenance(record),
    )
    return Recalled(record, scored.score, why)


def _build_ranking_context(
    call: Call, record_filter: Filter, pool: int, mode: Mode
) -> RankingContext:
    now = record_filter.known_at or record_filter.now
    return RankingContext(call.profile.recall, call.profile.importance.max, pool, now, mode)


def _describe_filters(
    options: RecallOptions, in_force: Filter, min_confidence: float
) -> tuple[str, ...]:
    """What a memory had to satisfy, whether the caller or the profile asked for it."""
    told = [
        f"{name} = {', '.join(map(str, value)) if isinstance(value, list | tuple) else value}"
        for name, value in options.items()
        if name not in UNEXPLAINED_OPTIONS and value not in (None, [], ())
    ]
    told.append(f"kinds = {', '.join(in_force.kinds)}")
    if in_force.minimum_importance:
        told.append(f"minimum_importance = {in_force.minimum_importance:g}")
    if in_force.visible.scopes is not None:
        told.append(f"scope in {', '.join(dict.fromkeys(in_force.visible.scopes))}")
    if in_force.visible.path_prefix is not None:
        told.append(f"scope within {in_force.visible.path_prefix}")
    moments = (("known", in_force.known_at), ("true", in_force.true_at))
    told += [f"{verb} at {moment.isoformat()}" for verb, moment in moments if moment is not None]
    return (*told, f"effective confidence at least {min_confidence:g}")
