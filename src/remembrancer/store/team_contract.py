"""The contract of a team's store. Only writers see contributors; recall does not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

from remembrancer.store.contract import Embedding, Position
from remembrancer.types import TeamEntry, TeamFact, TeamKind, TeamOrigin, TeamStatus

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class EmbeddedTeamFact:
    fact: TeamFact
    vector: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class TeamState:
    """What a fact said while it was approved, from one moment until another."""

    fact_id: str
    content: str
    importance: float
    confidence: float
    since: datetime
    until: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class TeamFilter:
    """Selects team facts.

    `single` selects facts with one contributor; `contested` selects facts that another fact
    contradicts, unless that one was rejected.
    """

    statuses: tuple[TeamStatus, ...] = ()
    kinds: tuple[TeamKind, ...] = ()
    origins: tuple[TeamOrigin, ...] = ()
    words: str | None = None
    single: bool = False
    contested: bool = False


class TeamReader(Protocol):
    """A team's facts in one transaction; contributors cannot be read."""

    def read_version(self) -> int:
        """A number that grows whenever a recallable fact has changed."""

    def load_embedded_facts(
        self, model: str, statuses: Sequence[TeamStatus]
    ) -> list[EmbeddedTeamFact]:
        """The facts with these statuses that have a vector of this model."""

    def list_states_after(self, at: datetime) -> list[TeamState]:
        """The past states that ended after a moment, those of each fact in order."""


class TeamWriter(TeamReader, Protocol):
    """A team's facts and contributions while no one else can change them."""

    def load_contributor_key(self) -> bytes:
        """The key for hashing contributors; created on first use."""

    def get_fact(self, fact_id: str) -> TeamFact | None:
        """The fact with this id, or None."""

    def list_entries(
        self, criteria: TeamFilter, limit: int, after: Position | None = None
    ) -> list[TeamEntry]:
        """Facts for review, newest first."""

    def add(self, fact: TeamFact, embedding: Embedding) -> None:
        """Store a new fact."""

    def change(self, fact_id: str, values: Mapping[str, object]) -> None:
        """Change the state of a fact."""

    def keep_state(self, state: TeamState) -> None:
        """Store what a fact has said before it changes."""

    def reword(self, fact_id: str, content: str, embedding: Embedding) -> None:
        """Replace the text of a fact."""

    def remove(self, fact_ids: Sequence[str]) -> None:
        """Delete facts and everything that refers to them."""

    def add_contribution(self, fact_id: str, contributor: str, at: datetime) -> bool:
        """Record that a contributor stated a fact. False if that was recorded before."""

    def count_contributors(self, fact_id: str) -> int:
        """The number of contributors who stated a fact."""

    def list_contributed_facts(self, contributor: str) -> list[str]:
        """The ids of the facts that a contributor stated."""

    def drop_contribution(self, fact_id: str, contributor: str) -> int:
        """Delete a contributor's statement of a fact; returns how many contributors are left."""

    def drop_contributions(self, contributor: str) -> list[str]:
        """Delete everything a contributor stated; returns the ids of facts without a contributor
        left.
        """

    def add_conflict(self, one: str, other: str, at: datetime) -> bool:
        """Record that two facts contradict each other. False if that was recorded before."""

    def list_conflicts(self, fact_id: str) -> list[str]:
        """The ids of facts that contradict this one, except rejected ones."""

    def drop_conflicts(self, fact_id: str) -> None:
        """Delete the conflicts of a fact."""

    def count(self) -> dict[tuple[TeamStatus, TeamKind, TeamOrigin], int]:
        """The number of facts by status, kind and origin."""

    def count_contested(self) -> int:
        """The number of facts that another fact contradicts, except rejected ones."""

    def count_contributions(self) -> int:
        """The number of contributions; each person counts once per fact."""

    def count_contributions_by_week(self, now: datetime, weeks: int) -> list[int]:
        """The number of contributions in each of the last weeks, oldest first."""

    def count_activity(self, day: str, origin: TeamOrigin, outcome: str) -> None:
        """Count one outcome of a proposal, or a run of the extractor."""

    def sum_activity(self, first_day: str) -> dict[tuple[TeamOrigin, str], int]:
        """The number of outcomes by origin since a day."""

    def list_most_recalled(self, limit: int) -> list[TeamFact]:
        """The facts that were recalled most often."""

    def count_recalls(self, counts: Mapping[str, int]) -> None:
        """Count recalls; the version stays, because no recallable fact changes."""
