"""What a reader finds for someone of whom nothing is stored."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from remembrancer.store.contract import Embedding, Filter, Hit, Position, Tally
from remembrancer.types import Event, Link, Record, State


class Nothing:
    """A reader of no memories; it needs no database and creates none."""

    def get(self, memory_id: str) -> Record | None:
        return None

    def load(self, ids: Iterable[str]) -> dict[str, Record]:
        return {}

    def find(self, wanted: Filter, limit: int, after: Position | None = None) -> list[Record]:
        return []

    def semantic(self, query: Embedding, wanted: Filter, limit: int) -> list[Hit]:
        return []

    def keyword(self, terms: Sequence[str], wanted: Filter, limit: int) -> list[Hit]:
        return []

    def as_known(self, records: Sequence[Record], at: datetime) -> list[Record]:
        return []

    def states(self, memory_id: str) -> list[State]:
        return []

    def links(self, memory_id: str) -> list[Link]:
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

    def tally(self) -> list[Tally]:
        return []

    def count_events(self) -> int:
        return 0
