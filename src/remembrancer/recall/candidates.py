"""From a search to the memories it may bring back: in order, those that pass the filter."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from remembrancer.call import Call
from remembrancer.decay import effective_confidence
from remembrancer.recall.recipes import Candidate, RankingContext
from remembrancer.store.contract import Embedding, Filter, Reader
from remembrancer.types import Kind, Mode, Record, Turn

if TYPE_CHECKING:
    from remembrancer.search.shortlist import Floats, Search, Shortlist

EXTRA_CANDIDATES = 2
"""How many more than wanted are read at first, as some may not pass."""

RankedRecords = Mapping[str, tuple[Record, int, float]]
"""By id: a memory, its rank in one search and its score there."""


@dataclass(frozen=True, slots=True)
class Retrieval:
    """A search whose results are read and filtered in one transaction."""

    call: Call
    reader: Reader
    search: Search
    query: Embedding | None
    record_filter: Filter
    min_confidence: float
    mode: Mode

    def find_candidates(
        self, ranking: RankingContext, limit: int
    ) -> tuple[list[Candidate], RankingContext]:
        """Enough candidates that are believed, and how far it was looked for them.

        What has faded must not crowd out what has not.
        """
        if ranking.recall.recipe == "evidence":
            return self._retrieve_by_score(ranking, limit), ranking
        while True:
            candidates = self._retrieve_by_rank(ranking)
            certain = [one for one in candidates if one.effective_confidence >= self.min_confidence]
            if len(certain) >= limit or len(candidates) < ranking.pool:
                return certain, ranking
            ranking = replace(ranking, pool=4 * ranking.pool)

    def _retrieve_by_score(self, ranking: RankingContext, limit: int) -> list[Candidate]:
        weighed = self.search.shortlist(self.record_filter.kinds)
        found: list[tuple[Record, float]] = []
        batches = weighed.iter_best(ranking.recall.kind_weights, limit + EXTRA_CANDIDATES)
        if self.mode is Mode.KEYWORD:
            batches = (self._keep_keyword_hits(batch) for batch in batches)
        for record in self._load_in_order(batches):
            confidence = effective_confidence(record, self.call.profile.decay, ranking.now)
            if confidence >= self.min_confidence:
                found.append((record, confidence))
            if len(found) == limit:
                break
        return self._build_candidates(found, weighed)

    def _keep_keyword_hits(self, places: list[int]) -> list[int]:
        return [place for place in places if self.search.signals.bm25[place] > 0]

    def _build_candidates(
        self, found: Sequence[tuple[Record, float]], weighed: Shortlist
    ) -> list[Candidate]:
        from remembrancer.search.signals import NO_SIMILARITY

        match = self.search.signals
        places = [self.search.index.places[record.id] for record, _ in found]
        similarity, bm25 = match.similarity[places].tolist(), match.bm25[places].tolist()
        return [
            Candidate(
                record,
                confidence,
                *_rank_and_score(similarity, at, NO_SIMILARITY),
                *_rank_and_score(bm25, at, 0.0),
                score_parts=weighed.explain(places[at]),
            )
            for at, (record, confidence) in enumerate(found)
        ]

    def _retrieve_by_rank(self, ranking: RankingContext) -> list[Candidate]:
        from remembrancer.search.signals import NO_SIMILARITY

        match = self.search.signals
        meanings = self._rerank_exactly(
            self._rank_records(match.similarity, ranking.pool, above=NO_SIMILARITY)
        )
        words = self._rank_records(match.bm25, ranking.pool, above=0.0)
        none = (None, None)
        return [
            Candidate(
                record,
                effective_confidence(record, self.call.profile.decay, ranking.now),
                *(meanings[memory_id][1:] if memory_id in meanings else none),
                *(words[memory_id][1:] if memory_id in words else none),
            )
            for memory_id, (record, *_) in {**meanings, **words}.items()
        ]

    def _rank_records(self, scores: Floats, pool: int, above: float) -> RankedRecords:
        """The best by one score: each with its rank and score."""
        from remembrancer.search.shortlist import iter_by_score

        places = self.search.index.places
        batches = iter_by_score(
            self.search.index, scores, self.record_filter.kinds, pool, above=above
        )
        found: dict[str, tuple[Record, int, float]] = {}
        for record in self._load_in_order(batches):
            score = round(float(scores[places[record.id]]), 6)
            found[record.id] = (record, len(found) + 1, score)
            if len(found) == pool:
                break
        return found

    def _rerank_exactly(self, found: RankedRecords) -> RankedRecords:
        """Ranked by the similarity as it is: in memory it is only close."""
        if self.query is None:
            return found
        hits = self.reader.compute_similarities(self.query, list(found))
        hits.sort(key=lambda hit: (-hit.score, hit.id))
        return {hit.id: (found[hit.id][0], rank, hit.score) for rank, hit in enumerate(hits, 1)}

    def _load_in_order(self, batches: Iterable[list[int]]) -> Iterator[Record]:
        """The memories at these places that pass the filter, as they were known then."""
        for batch in batches:
            ids = [self.search.index.ids[place] for place in batch]
            records = self.reader.matching(ids, self.record_filter)
            if self.record_filter.known_at is not None:
                then = self.reader.as_of(list(records.values()), self.record_filter.known_at)
                records = {one.id: one for one in then}
            yield from (
                records[one] for one in ids if one in records and self._is_recallable(records[one])
            )

    def _is_recallable(self, record: Record) -> bool:
        """What the memory was told to do is done, and told by what came of it; it may be undone.

        Whoever looks through what was said, and nothing else, finds it all the same.
        """
        is_command = isinstance(record, Turn) and record.is_command
        return not is_command or self.record_filter.kinds == (Kind.TURN,)


def _rank_and_score(
    scores: Sequence[float], place: int, above: float
) -> tuple[int | None, float | None]:
    """The rank and the score of what is at a place, if it has any."""
    score = scores[place]
    if score <= above:
        return None, None
    return 1 + sum(other > score for other in scores), round(score, 6)
