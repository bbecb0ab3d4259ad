"""The read path: understand, embed once, compare, rank, explain. No language model."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from remembrancer.call import Call
from remembrancer.clock import as_utc
from remembrancer.errors import InvalidInput
from remembrancer.guard.redaction import redact_text
from remembrancer.paging import validate_limit
from remembrancer.recall.candidates import Retrieval
from remembrancer.recall.filters import MAX_QUERY_CHARS, RecallOptions, build_filter
from remembrancer.recall.recipes import RankingContext, Scored, days_since, rank_candidates
from remembrancer.store.contract import Embedding, Filter
from remembrancer.store.nearest import score_similarity
from remembrancer.types import (
    Mode,
    Recalled,
    Recollection,
    Why,
    parse_enum,
)

if TYPE_CHECKING:
    from remembrancer.search.index import Index
    from remembrancer.search.query import ParsedQuery
    from remembrancer.search.shortlist import Search


def recall(call: Call, query: str, wanted: RecallOptions) -> Recollection:
    """The memories that matter for a query, best first."""
    from remembrancer.search.shortlist import build_search
    from remembrancer.search.signals import compute_signals

    started = time.monotonic()
    query = redact_text(_validate_query(query))
    limit = validate_limit(wanted.get("limit", call.profile.recall.limit))
    passing = build_filter(call, wanted)
    decay = call.profile.decay
    least = max(wanted.get("minimum_confidence", decay.recall_at), decay.expire_below)
    setting = _build_ranking_context(call, passing, pool=max(5 * limit, 50))
    with call.store.open_reader(call.owner) as reader:
        index = reader.load_index(call.embedder.model)
        question = _parse_query(call, query, index, wanted, passing)
        vector, late = _embed_query(call, question.embedding_text, wanted, started)
        with call.store.cpu_slot():
            signals = compute_signals(index, question)
            similarity = score_similarity(reader, index, vector, as_evidence=True)
            search = build_search(
                index, question, signals, similarity, call.profile.recall.evidence
            )
            finding = Retrieval(
                call, reader, search, vector, passing, least, _parse_mode(call, wanted)
            )
            candidates, setting = finding.find_candidates(setting, limit)
            ranked = rank_candidates(candidates, setting)[:limit]
            filters = _describe_filters(wanted, least)
            found = [_build_recalled(one, search, setting, filters) for one in ranked]
    if wanted.get("used", True):
        call.count_recalls(one.memory.id for one in found)
    return Recollection(
        found, sure=search.estimate_relevance([one.memory.id for one in found]), late=late
    )


def _validate_query(query: str) -> str:
    if not query.strip():
        raise InvalidInput("There is nothing to look for: the query is empty.")
    if len(query) > MAX_QUERY_CHARS:
        raise InvalidInput(f"The query is too long: at most {MAX_QUERY_CHARS} characters.")
    return query


def _parse_query(
    call: Call, query: str, index: Index, wanted: RecallOptions, record_filter: Filter
) -> ParsedQuery:
    """What the query means to someone who has these memories."""
    from remembrancer.search.query import parse_query
    from remembrancer.search.signals import describe_corpus

    asked_at = wanted.get("now") or record_filter.known_at or record_filter.now
    question = parse_query(query, as_utc(asked_at), describe_corpus(index))
    return question.drop_terms() if _parse_mode(call, wanted) is Mode.SEMANTIC else question


def _embed_query(
    call: Call, text: str, wanted: RecallOptions, started: float
) -> tuple[Embedding | None, tuple[str, ...]]:
    """The vector of a text, or none when it is not wanted or not there in time."""
    if _parse_mode(call, wanted) is Mode.KEYWORD:
        return None, ()
    deadline = wanted.get("deadline_ms", call.profile.recall.deadline_ms)
    if deadline is None:
        return call.embed(text), ()
    try:
        left = started + deadline / 1000 - time.monotonic()
        return call.embed_in_background(text).result(max(0.0, left)), ()
    except TimeoutError:
        return None, ("meaning",)


def _parse_mode(call: Call, wanted: RecallOptions) -> Mode:
    return parse_enum(Mode, wanted.get("mode", call.profile.recall.mode), "mode")


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
    )
    return Recalled(record, scored.score, why)


def _build_ranking_context(call: Call, record_filter: Filter, pool: int) -> RankingContext:
    now = record_filter.known_at or record_filter.now
    return RankingContext(call.profile.recall, call.profile.importance.max, pool, now)


def _describe_filters(wanted: RecallOptions, min_confidence: float) -> tuple[str, ...]:
    """What was asked, for the explanation."""
    unsaid = ("limit", "mode", "now", "deadline_ms", "used")
    said = [f"{name} = {value}" for name, value in wanted.items() if name not in unsaid]
    return (*said, f"effective confidence at least {min_confidence:g}")
