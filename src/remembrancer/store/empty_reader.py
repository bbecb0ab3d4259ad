"""What a reader finds for someone of whom nothing is stored."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Literal

from remembrancer.store.contract import (
    AgeCount,
    Embedding,
    Filter,
    Hit,
    Position,
    SessionFilter,
    Tally,
)
from remembrancer.types import (
    Event,
    Fact,
    Link,
    PastState,
    Record,
    Rejection,
    Relation,
    RuleApplication,
    Session,
    Turn,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from remembrancer.search.index import Index


class EmptyReader:
    """A reader of no memories; it needs no database and creates none."""

    def get(self, memory_id: str) -> Record | None:
        return None

    def load(self, ids: Iterable[str]) -> dict[str, Record]:
        return {}

    def find(
        self,
        wanted: Filter,
        limit: int,
        after: Position | None = None,
        *,
        oldest_first: bool = False,
    ) -> list[Record]:
        return []

    def find_ids(self, wanted: Filter, limit: int) -> list[str]:
        return []

    def active_fact(self, scope: str, subject: str, predicate: str) -> Fact | None:
        return None

    def matching(self, ids: Sequence[str], wanted: Filter) -> dict[str, Record]:
        return {}

    def load_index(self, model: str) -> Index:
        from remembrancer.search.index import Index

        return Index(model)

    def nearest_outside_index(self, query: Embedding) -> list[Hit]:
        return []

    def compute_similarities(self, query: Embedding, ids: Sequence[str]) -> list[Hit]:
        return []

    def load_vectors(self, model: str, ids: Sequence[str]) -> dict[str, NDArray[np.float32]]:
        return {}

    def as_of(self, records: Sequence[Record], at: datetime) -> list[Record]:
        return []

    def get_session(self, session_id: str) -> Session | None:
        return None

    def list_turns(self, session_id: str, after: int = -1, limit: int = 1000) -> list[Turn]:
        return []

    def list_states(self, memory_id: str) -> list[PastState]:
        return []

    def list_links(self, memory_id: str) -> list[Link]:
        return []

    def list_links_by_relation(self, relation: Relation) -> list[Link]:
        return []

    def get_event(self, event_id: str) -> Event | None:
        return None

    def list_events(
        self,
        *,
        memory_ids: Sequence[str] | None = None,
        limit: int = 50,
        after: Position | None = None,
    ) -> list[Event]:
        return []

    def list_applications(self, rule_ids: Sequence[str]) -> list[RuleApplication]:
        return []

    def list_sessions(
        self,
        wanted: SessionFilter,
        limit: int,
        after: Position | None = None,
        *,
        oldest_first: bool = False,
    ) -> list[Session]:
        return []

    def list_rejections(self, limit: int, after: Position | None = None) -> list[Rejection]:
        return []

    def list_empty_sessions(self) -> list[Session]:
        return []

    def list_unembedded(self, model: str, limit: int) -> list[Record]:
        return []

    def count_embedded(self) -> dict[str, int]:
        return {}

    def count(self, wanted: Filter) -> int:
        return 0

    def tally(self, now: datetime) -> list[Tally]:
        return []

    def count_by_age(
        self, wanted: Filter, since: Literal["recorded_at", "confirmed_at"], days: int = 1
    ) -> list[AgeCount]:
        return []

    def count_events(self) -> int:
        return 0
