"""An in-memory vector index of the approved facts of each tenant."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from remembrancer.team.confidence import SECONDS_PER_DAY, decay_confidence
from remembrancer.types import TeamFact, TeamOrigin, TeamStatus, Tenant

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from remembrancer.store.team_contract import EmbeddedTeamFact, TeamReader

IMPORTANCE_WEIGHT = 0.02
"""Added to the similarity for each point of importance."""

CONFIDENCE_WEIGHT = 0.1
"""Added to the similarity for full confidence, so that old unconfirmed facts rank lower."""

MIN_SIMILARITY = 0.25


@dataclass(frozen=True, slots=True)
class TeamIndex:
    """The approved facts of a tenant at a version; each array has one element per fact."""

    version: int
    facts: tuple[TeamFact, ...]
    vectors: NDArray[np.float32]
    origins: NDArray[np.str_]
    importance: NDArray[np.float64]
    confidence: NDArray[np.float64]
    confirmed_at: NDArray[np.float64]

    def find_best(
        self,
        vector: NDArray[np.float32],
        now: datetime,
        limit: int,
        *,
        min_confidence: float,
        origins: Sequence[TeamOrigin] | None = None,
    ) -> list[tuple[TeamFact, float]]:
        """Rank facts by similarity, importance and confidence; returns each with its confidence."""
        import numpy as np

        from remembrancer.search.vectors import dot_products

        similarity = dot_products(self.vectors, vector)
        confidence = decay_confidence(
            self.confidence, (now.timestamp() - self.confirmed_at) / SECONDS_PER_DAY
        )
        matches = (similarity >= MIN_SIMILARITY) & (confidence >= min_confidence)
        if origins is not None:
            matches &= np.isin(self.origins, origins)
        rows = np.flatnonzero(matches)
        nudges = IMPORTANCE_WEIGHT * self.importance + CONFIDENCE_WEIGHT * confidence
        scores = (similarity + nudges)[rows]
        if len(rows) > limit:
            # Keep all that tie with the last one, because ties are sorted by content.
            best = scores >= np.partition(scores, -limit)[-limit]
            rows, scores = rows[best], scores[best]
        ranked = sorted(
            zip(scores.tolist(), rows.tolist(), strict=True),
            key=lambda one: (-one[0], self.facts[one[1]].content),
        )
        return [(self.facts[row], float(confidence[row])) for _, row in ranked[:limit]]


class TeamIndexCache:
    """Caches an index for each tenant and embedding model, and rebuilds it after a change."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._indexes: dict[tuple[str, str], TeamIndex] = {}

    def get(self, reader: TeamReader, tenant: Tenant, model: str) -> TeamIndex:
        version = reader.read_version()
        with self._lock:
            found = self._indexes.get((tenant.id, model))
        if found is None or found.version != version:
            found = build_index(version, reader.load_embedded_facts(model, (TeamStatus.APPROVED,)))
            with self._lock:
                self._indexes[tenant.id, model] = found
        return found


def build_index(version: int, known: Sequence[EmbeddedTeamFact]) -> TeamIndex:
    import numpy as np

    facts = tuple(one.fact for one in known)
    return TeamIndex(
        version,
        facts,
        np.array([one.vector for one in known], np.float32),
        np.array([one.origin for one in facts], np.str_),
        np.array([one.importance for one in facts], np.float64),
        np.array([one.confidence for one in facts], np.float64),
        np.array([one.confirmed_at.timestamp() for one in facts], np.float64),
    )
