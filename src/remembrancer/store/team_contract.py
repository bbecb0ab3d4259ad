"""What a team's store must do: recall, which sees no contributor, and the desk, which does."""

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
    """A team fact with its vector."""

    fact: TeamFact
    vector: NDArray[np.float32]


@dataclass(frozen=True, slots=True, kw_only=True)
class TeamFilter:
    """Which team facts a listing is of.

    `single` are those that one person alone has said, `contested` those that another fact
    contradicts which was not rejected.
    """

    statuses: tuple[TeamStatus, ...] = ()
    kinds: tuple[TeamKind, ...] = ()
    origins: tuple[TeamOrigin, ...] = ()
    words: str | None = None
    single: bool = False
    contested: bool = False


class TeamReader(Protocol):
    """What a team knows, at one moment; contributors are out of its reach."""

    def read_version(self) -> int:
        """A number that grows whenever something that may be recalled has changed."""
        ...

    def load_embedded_facts(
        self, model: str, statuses: Sequence[TeamStatus]
    ) -> list[EmbeddedTeamFact]:
        """The facts in these states that have a vector of a model."""
        ...


class TeamWriter(TeamReader, Protocol):
    """What a team knows and how it came about, while nobody else changes it."""

    def load_contributor_key(self) -> bytes:
        """The key with which contributors are hashed; it is made when it is first asked for."""
        ...

    def get_fact(self, fact_id: str) -> TeamFact | None:
        """One fact."""
        ...

    def list_entries(
        self, wanted: TeamFilter, limit: int, after: Position | None = None
    ) -> list[TeamEntry]:
        """Facts for review, newest first."""
        ...

    def add(self, fact: TeamFact, embedding: Embedding) -> None:
        """Store a new fact."""
        ...

    def change(self, fact_id: str, values: Mapping[str, object]) -> None:
        """Change a fact's state."""
        ...

    def reword(self, fact_id: str, content: str, embedding: Embedding) -> None:
        """Give a fact other words."""
        ...

    def remove(self, fact_ids: Sequence[str]) -> None:
        """Destroy facts with everything that refers to them."""
        ...

    def add_contribution(self, fact_id: str, contributor: str, at: datetime) -> bool:
        """Note who said it; False if they had said so before."""
        ...

    def count_contributors(self, fact_id: str) -> int:
        """How many have said it."""
        ...

    def list_contributed_facts(self, contributor: str) -> list[str]:
        """The facts that one contributor has said."""
        ...

    def drop_contributions(self, contributor: str) -> list[str]:
        """Drop everything a contributor has said; the facts that nobody has said any more."""
        ...

    def add_conflict(self, one: str, other: str, at: datetime) -> bool:
        """Note that two facts contradict each other; False if that was known."""
        ...

    def list_conflicts(self, fact_id: str) -> list[str]:
        """The facts that contradict one, but for those that were rejected."""
        ...

    def drop_conflicts(self, fact_id: str) -> None:
        """Forget what contradicted a fact."""
        ...

    def count(self) -> dict[tuple[TeamStatus, TeamKind, TeamOrigin], int]:
        """How many facts there are of each sort."""
        ...

    def count_contested(self) -> int:
        """How many facts another one contradicts, but for those that were rejected."""
        ...

    def count_contributions(self) -> int:
        """How often something was said: by one person once, by another once more."""
        ...

    def count_contributions_by_week(self, now: datetime, weeks: int) -> list[int]:
        """How often something was said in each of the last weeks, the oldest first."""
        ...

    def list_most_recalled(self, limit: int) -> list[TeamFact]:
        """What the team was told most often."""
        ...

    def count_recalls(self, counts: Mapping[str, int]) -> None:
        """Count recalls; nothing that may be recalled has changed by it."""
        ...
