"""From a search to the memories it may bring back: in order, those that pass the filter."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from remembrancer.call import Call
from remembrancer.decay import effective_confidence
from remembrancer.recall.recipes import Candidate, Setting
from remembrancer.store.contract import Embedding, Filter, Reader
from remembrancer.types import Kind, Mode, Record, Turn

if TYPE_CHECKING:
    from remembrancer.search.ranked import Floats, Search, Weighed

SPARE = 2
"""How many more than wanted are read at first, as some may not pass."""

Ranked = Mapping[str, tuple[Record, int, float]]
"""By id: a memory, its rank in one search and its score there."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A search whose results are read and filtered in one transaction."""

    call: Call
    reader: Reader
    search: Search
    query: Embedding | None
    passing: Filter
    least: float
    mode: Mode

    def candidates(self, setting: Setting, limit: int) -> tuple[list[Candidate], Setting]:
        """Enough candidates that are believed, and how far it was looked for them.

        What has faded must not crowd out what has not.
        """
        if setting.recall.recipe == "evidence":
            return self._by_evidence(setting, limit), setting
        while True:
            candidates = self._by_rank(setting)
            certain = [one for one in candidates if one.effective_confidence >= self.least]
            if len(certain) >= limit or len(candidates) < setting.pool:
                return certain, setting
            setting = replace(setting, pool=4 * setting.pool)

    def _by_evidence(self, setting: Setting, limit: int) -> list[Candidate]:
        weighed = self.search.weighed(self.passing.kinds)
        found: list[tuple[Record, float]] = []
        batches = weighed.best(setting.recall.kind_weights, limit + SPARE)
        if self.mode is Mode.KEYWORD:
            batches = (self._with_words(batch) for batch in batches)
        for record in self._in_order(batches):
            confidence = effective_confidence(record, self.call.profile.decay, setting.now)
            if confidence >= self.least:
                found.append((record, confidence))
            if len(found) == limit:
                break
        return self._with_evidence(found, weighed)

    def _with_words(self, places: list[int]) -> list[int]:
        return [place for place in places if self.search.match.bm25[place] > 0]

    def _with_evidence(
        self, found: Sequence[tuple[Record, float]], weighed: Weighed
    ) -> list[Candidate]:
        from remembrancer.search.signals import NOWHERE

        match = self.search.match
        places = [self.search.index.places[record.id] for record, _ in found]
        similarity, bm25 = match.similarity[places].tolist(), match.bm25[places].tolist()
        return [
            Candidate(
                record,
                confidence,
                *_standing(similarity, at, NOWHERE),
                *_standing(bm25, at, 0.0),
                evidence=weighed.evidence(places[at]),
            )
            for at, (record, confidence) in enumerate(found)
        ]

    def _by_rank(self, setting: Setting) -> list[Candidate]:
        from remembrancer.search.signals import NOWHERE

        match = self.search.match
        meanings = self._exact(self._ranked(match.similarity, setting.pool, above=NOWHERE))
        words = self._ranked(match.bm25, setting.pool, above=0.0)
        none = (None, None)
        return [
            Candidate(
                record,
                effective_confidence(record, self.call.profile.decay, setting.now),
                *(meanings[memory_id][1:] if memory_id in meanings else none),
                *(words[memory_id][1:] if memory_id in words else none),
            )
            for memory_id, (record, *_) in {**meanings, **words}.items()
        ]

    def _ranked(self, scores: Floats, pool: int, above: float) -> Ranked:
        """The best by one score: each with its rank and score."""
        from remembrancer.search.ranked import best_first

        places = self.search.index.places
        batches = best_first(self.search.index, scores, self.passing.kinds, pool, above=above)
        found: dict[str, tuple[Record, int, float]] = {}
        for record in self._in_order(batches):
            score = round(float(scores[places[record.id]]), 6)
            found[record.id] = (record, len(found) + 1, score)
            if len(found) == pool:
                break
        return found

    def _exact(self, found: Ranked) -> Ranked:
        """Ranked by the similarity as it is: in memory it is only close."""
        if self.query is None:
            return found
        hits = self.reader.similarities(self.query, list(found))
        hits.sort(key=lambda hit: (-hit.score, hit.id))
        return {hit.id: (found[hit.id][0], rank, hit.score) for rank, hit in enumerate(hits, 1)}

    def _in_order(self, batches: Iterable[list[int]]) -> Iterator[Record]:
        """The memories at these places that pass the filter, as they were known then."""
        for batch in batches:
            ids = [self.search.index.ids[place] for place in batch]
            records = self.reader.passing(ids, self.passing)
            if self.passing.known_at is not None:
                then = self.reader.as_known(list(records.values()), self.passing.known_at)
                records = {one.id: one for one in then}
            yield from (records[one] for one in ids if one in records and self._tells(records[one]))

    def _tells(self, record: Record) -> bool:
        """What the memory was told to do is done, and told by what came of it; it may be undone.

        Whoever looks through what was said, and nothing else, finds it all the same.
        """
        is_command = isinstance(record, Turn) and record.is_command
        return not is_command or self.passing.kinds == (Kind.TURN,)


def _standing(scores: Sequence[float], place: int, least: float) -> tuple[int | None, float | None]:
    """The rank and the score of what is at a place, if it has any."""
    score = scores[place]
    if score <= least:
        return None, None
    return 1 + sum(other > score for other in scores), round(score, 6)
