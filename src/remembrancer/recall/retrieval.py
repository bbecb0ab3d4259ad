"""Loads the memories that a search finds and ranks them by the profile's recipe."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

from remembrancer.decay import effective_confidence
from remembrancer.profiles import DecayPolicy
from remembrancer.recall.filters import matches_state, without_state
from remembrancer.recall.recipes import (
    Candidate,
    RankingContext,
    Score,
    Scored,
    add_maturity,
    score_composite,
    score_nudged,
    score_rrf,
)
from remembrancer.store.contract import Embedding, Filter, Reader
from remembrancer.types import Kind, Mode, Record, Turn

if TYPE_CHECKING:
    from remembrancer.search.shortlist import Floats, Search, Shortlist

EXTRA_CANDIDATES = 2
"""How many more records than the limit the first batch reads: some may not match the filter."""

RankedRecords = Mapping[str, tuple[Record, int, float]]
"""By id: a record, its rank in one search and its score there."""


@dataclass(frozen=True, slots=True)
class Retrieval:
    """A search whose results are read and filtered in one transaction."""

    reader: Reader
    search: Search
    query: Embedding | None
    record_filter: Filter
    min_confidence: float
    mode: Mode
    decay: DecayPolicy

    def load(self, batches: Iterable[list[int]]) -> Iterator[Record]:
        """The records at these places that match the filter, in order, as of its date."""
        for batch in batches:
            ids = [self.search.index.ids[place] for place in batch]
            records = self._load_matching(ids)
            for memory_id in ids:
                if memory_id in records and self._is_recallable(records[memory_id]):
                    yield records[memory_id]

    def _load_matching(self, ids: list[str]) -> dict[str, Record]:
        criteria = self.record_filter
        if criteria.known_at is None:
            return self.reader.matching(ids, criteria)
        stored = self.reader.matching(ids, without_state(criteria))
        then = self.reader.as_of(list(stored.values()), criteria.known_at)
        return {one.id: one for one in then if matches_state(one, criteria, self.decay)}

    def _is_recallable(self, record: Record) -> bool:
        """False for commands to the memory, unless only turns are searched.

        The effect of a command is a memory of its own, and can be undone.
        """
        is_command = isinstance(record, Turn) and record.is_command
        return not is_command or self.record_filter.kinds == (Kind.TURN,)

    def confidence(self, record: Record, ranking: RankingContext) -> float:
        return effective_confidence(record, self.decay, ranking.now)


Recipe = Callable[[Retrieval, RankingContext, int], list[Scored]]
"""A way to find and score memories."""


def rank(retrieval: Retrieval, ranking: RankingContext, limit: int) -> list[Scored]:
    """The best memories by the profile's recipe; equal scores are ordered by id."""
    scored = RECIPES[ranking.recall.recipe](retrieval, ranking, limit)
    return sorted(scored, key=lambda one: (-one.score, one.candidate.record.id))[:limit]


def find_by_evidence(retrieval: Retrieval, ranking: RankingContext, limit: int) -> list[Scored]:
    """The memories with the highest sum of all signals, weighted by kind and maturity."""
    kinds, kind_weights = retrieval.record_filter.kinds, ranking.recall.kind_weights
    shortlist = retrieval.search.shortlist(kinds, kind_weights)
    batches = shortlist.iter_places(limit + EXTRA_CANDIDATES)
    if retrieval.mode is Mode.KEYWORD:
        bm25 = retrieval.search.signals.bm25
        batches = ([place for place in batch if bm25[place] > 0] for batch in batches)
    believed = _iter_believed(retrieval, ranking, batches)
    found = list(islice(believed, limit))
    if Kind.RULE in kinds and len(found) == limit:
        found += _find_weightier_rules(retrieval, ranking, shortlist, found)
    return _score_by_evidence(retrieval, ranking, shortlist, found)


def _iter_believed(
    retrieval: Retrieval, ranking: RankingContext, batches: Iterable[list[int]]
) -> Iterator[tuple[Record, float]]:
    """The records that are still believed, with their confidence."""
    for record in retrieval.load(batches):
        confidence = retrieval.confidence(record, ranking)
        if confidence >= retrieval.min_confidence:
            yield record, confidence


def _find_weightier_rules(
    retrieval: Retrieval,
    ranking: RankingContext,
    shortlist: Shortlist,
    found: Sequence[tuple[Record, float]],
) -> list[tuple[Record, float]]:
    """The rules further down that their maturity can raise above one of those found."""
    index, known = retrieval.search.index, {record.id for record, _ in found}
    highest = max((1.0, *ranking.recall.maturity_weights.values()))
    worst = shortlist.score(index.places[found[-1][0].id])
    places = shortlist.list_places(Kind.RULE, above=worst / highest)
    ahead = [place for place in places if index.ids[place] not in known]
    return list(_iter_believed(retrieval, ranking, [ahead] if ahead else []))


def _score_by_evidence(
    retrieval: Retrieval,
    ranking: RankingContext,
    shortlist: Shortlist,
    found: Sequence[tuple[Record, float]],
) -> list[Scored]:
    from remembrancer.search.signals import NO_SIMILARITY

    signals = retrieval.search.signals
    places = [retrieval.search.index.places[record.id] for record, _ in found]
    semantic = _rank_scores(signals.similarity[places].tolist(), NO_SIMILARITY)
    keyword = _rank_scores(signals.bm25[places].tolist(), 0.0)
    return [
        _score(Candidate(record, confidence, *near, *same), shortlist.explain(place), ranking)
        for (record, confidence), near, same, place in zip(
            found, semantic, keyword, places, strict=True
        )
    ]


def _rank_scores(
    scores: Sequence[float], above: float
) -> list[tuple[int, float] | tuple[None, None]]:
    """The rank and the value of each score; neither where it is not above the threshold."""
    ascending = sorted(scores)
    return [
        (1 + len(scores) - bisect_right(ascending, score), round(score, 6))
        if score > above
        else (None, None)
        for score in scores
    ]


def find_by_rank(
    score: Score, retrieval: Retrieval, ranking: RankingContext, limit: int
) -> list[Scored]:
    """The best of the semantic and the keyword search, scored together.

    Looks further as long as faded memories crowd out those that are still believed.
    """
    while True:
        candidates = _find_candidates(retrieval, ranking)
        believed = [
            one for one in candidates if one.effective_confidence >= retrieval.min_confidence
        ]
        if len(believed) >= limit or len(candidates) < ranking.pool:
            return [_score(one, score(one, ranking), ranking) for one in believed]
        ranking = replace(ranking, pool=4 * ranking.pool)


def _score(
    candidate: Candidate, score_parts: Mapping[str, float], ranking: RankingContext
) -> Scored:
    return Scored.from_parts(candidate, add_maturity(score_parts, candidate.record, ranking.recall))


def _find_candidates(retrieval: Retrieval, ranking: RankingContext) -> list[Candidate]:
    from remembrancer.search.signals import NO_SIMILARITY

    signals = retrieval.search.signals
    semantic = _rerank_exactly(
        retrieval, _rank_records(retrieval, signals.similarity, ranking.pool, NO_SIMILARITY)
    )
    keyword = _rank_records(retrieval, signals.bm25, ranking.pool, 0.0)
    none = (None, None)
    return [
        Candidate(
            record,
            retrieval.confidence(record, ranking),
            *(semantic[memory_id][1:] if memory_id in semantic else none),
            *(keyword[memory_id][1:] if memory_id in keyword else none),
        )
        for memory_id, (record, *_) in {**semantic, **keyword}.items()
    ]


def _rank_records(retrieval: Retrieval, scores: Floats, pool: int, above: float) -> RankedRecords:
    from remembrancer.search.shortlist import iter_by_score

    index = retrieval.search.index
    batches = iter_by_score(index, scores, retrieval.record_filter.kinds, pool, above=above)
    found: dict[str, tuple[Record, int, float]] = {}
    for record in retrieval.load(batches):
        score = round(float(scores[index.places[record.id]]), 6)
        found[record.id] = (record, len(found) + 1, score)
        if len(found) == pool:
            break
    return found


def _rerank_exactly(retrieval: Retrieval, found: RankedRecords) -> RankedRecords:
    """Ranked by the exact similarity: vectors in memory are compressed."""
    if retrieval.query is None:
        return found
    hits = retrieval.reader.compute_similarities(retrieval.query, list(found))
    hits.sort(key=lambda hit: (-hit.score, hit.id))
    return {hit.id: (found[hit.id][0], rank, hit.score) for rank, hit in enumerate(hits, 1)}


RECIPES: Mapping[str, Recipe] = {
    "evidence": find_by_evidence,
    "rrf": partial(find_by_rank, score_rrf),
    "nudged": partial(find_by_rank, score_nudged),
    "composite": partial(find_by_rank, score_composite),
}
