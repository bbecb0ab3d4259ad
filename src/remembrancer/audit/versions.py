"""Finds versions that a wrong clock dated out of order, and the dates that put them in order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import pairwise

from remembrancer.audit.findings import (
    AuditSnapshot,
    Finding,
    Fix,
    Flaw,
    format_date,
    format_quote,
)
from remembrancer.store.contract import VALID_STATUSES
from remembrancer.store.moments import has_begun
from remembrancer.types import Record, Status


def find_misdated(snapshot: AuditSnapshot) -> Iterator[Finding]:
    """Report versions that end before they begin, or after a later version began."""
    for version, end in correct_ends(snapshot.records, snapshot.now).items():
        one = snapshot.records[version]
        assert one.valid_until is not None
        message = (
            f"{format_quote(one)} is valid from {format_date(one.valid_from)} to "
            f"{format_date(one.valid_until)}, which a wrong clock must have said: it was replaced "
            f"on {format_date(end)}."
        )
        yield Finding(Flaw.MISDATED, (one.id,), message, Fix.REDATE)


def correct_ends(records: Mapping[str, Record], now: datetime) -> dict[str, datetime]:
    """When the versions that a wrong clock misdated ended, by their id."""
    lineages: dict[str, list[Record]] = {}
    for one in records.values():
        if one.status in VALID_STATUSES:
            lineages.setdefault(one.lineage, []).append(one)
    return {
        version: end
        for some in lineages.values()
        if len(some) > 1
        for version, end in _correct_lineage(_sort_by_order(some, records), now)
    }


def _correct_lineage(versions: Sequence[Record], now: datetime) -> Iterator[tuple[str, datetime]]:
    """From the last version back: each ends when the next that ever held begins, at the latest."""
    went_back = any(one.recorded_at > other.recorded_at for one, other in pairwise(versions))
    begun_next: datetime | None = None
    for one in reversed(versions):
        end = one.valid_until
        if end is not None and one.status is Status.SUPERSEDED:
            if went_back and begun_next is not None:
                end = min(end, begun_next)
            if has_begun(one, now):
                end = max(end, one.valid_from)
            if end != one.valid_until:
                yield one.id, end
        if end is None or end > one.valid_from:
            begun_next = min(one.valid_from, begun_next or one.valid_from)


def _sort_by_order(versions: Iterable[Record], records: Mapping[str, Record]) -> list[Record]:
    """The versions in the order in which they replaced each other, whatever their dates say."""

    def count_earlier(record: Record) -> int:
        count, older = 0, records.get(record.supersedes or "")
        while older is not None:
            count, older = count + 1, records.get(older.supersedes or "")
        return count

    return sorted(versions, key=count_earlier)
