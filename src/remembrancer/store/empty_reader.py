"""What a reader finds for someone of whom nothing is stored."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Literal

from remembrancer.store.contract import (
    Aged,
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
    Record,
    Rejection,
    Relation,
    RuleApplication,
    Session,
    State,
    Turn,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from remembrancer.search.index import Index


class Nothing:
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
        oldest: bool = False,
    ) -> list[Record]:
        return []

    def ids(self, wanted: Filter, limit: int) -> list[str]:
        return []

    def holder(self, scope: str, subject: str, predicate: str) -> Fact | None:
        return None

    def passing(self, ids: Sequence[str], wanted: Filter) -> dict[str, Record]:
        return {}

    def index(self, model: str) -> Index:
        from remembrancer.search.index import Index

        return Index(model)

    def beyond(self, query: Embedding) -> list[Hit]:
        return []

    def similarities(self, query: Embedding, ids: Sequence[str]) -> list[Hit]:
        return []

    def vectors(self, model: str, ids: Sequence[str]) -> dict[str, NDArray[np.float32]]:
        return {}

    def as_known(self, records: Sequence[Record], at: datetime) -> list[Record]:
        return []

    def session(self, session_id: str) -> Session | None:
        return None

    def turns(self, session_id: str, after: int = -1, limit: int = 1000) -> list[Turn]:
        return []

    def states(self, memory_id: str) -> list[State]:
        return []

    def links(self, memory_id: str) -> list[Link]:
        return []

    def related(self, relation: Relation) -> list[Link]:
        return []

    def event(self, event_id: str) -> Event | None:
        return None

    def events(
        self,
        *,
        memory_ids: Sequence[str] | None = None,
        limit: int = 50,
        after: Position | None = None,
    ) -> list[Event]:
        return []

    def applications(self, rule_ids: Sequence[str]) -> list[RuleApplication]:
        return []

    def sessions(
        self,
        wanted: SessionFilter,
        limit: int,
        after: Position | None = None,
        *,
        oldest: bool = False,
    ) -> list[Session]:
        return []

    def rejections(self, limit: int, after: Position | None = None) -> list[Rejection]:
        return []

    def empty_sessions(self) -> list[Session]:
        return []

    def unembedded(self, model: str, limit: int) -> list[Record]:
        return []

    def embedded(self) -> dict[str, int]:
        return {}

    def count(self, wanted: Filter) -> int:
        return 0

    def tally(self, now: datetime) -> list[Tally]:
        return []

    def ages(
        self, wanted: Filter, since: Literal["recorded_at", "confirmed_at"], days: int = 1
    ) -> list[Aged]:
        return []

    def count_events(self) -> int:
        return 0
