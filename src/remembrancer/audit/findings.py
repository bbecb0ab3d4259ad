"""What an audit reads, and what it has to say about it; which flaws there are is elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from functools import cache

from remembrancer.audit.evidence import explain_unsupported
from remembrancer.call import Call
from remembrancer.decay import confidence_band
from remembrancer.guard.redaction import redact_text
from remembrancer.profiles import DecayPolicy
from remembrancer.store.contract import Filter, Reader
from remembrancer.store.nearest import iter_records
from remembrancer.types import (
    ConfidenceBand,
    Kind,
    Record,
    Relation,
    Source,
    Status,
    Turn,
    looks_like_id,
)

MAX_QUOTE_CHARS = 60
INFERRED_SOURCES = (Source.EXTRACTED, Source.CONSOLIDATED)
"""Sources of memories that software inferred, which therefore need evidence."""

EPISODES_KEY = "episodes"
"""Metadata key for the episodes that a consolidated memory came from; they can be gone by now."""


class Flaw(StrEnum):
    """What can be wrong with memories."""

    DUPLICATE = "duplicate"
    STALE = "stale"
    CONTRADICTING = "contradicting"
    UNSUPPORTED = "unsupported"
    SECRET = "secret"  # noqa: S105 - it is the name of a flaw
    ORPHAN = "orphan"


class Fix(StrEnum):
    """What can be done about it; `repair` does all but the last, and redacts only when told to."""

    FORGET = "forget"
    EXPIRE = "expire"
    RELEASE = "release"
    REDACT = "redact"
    REEMBED = "reembed"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong; of duplicates, the first is the one that stands."""

    kind: Flaw
    ids: tuple[str, ...]
    message: str
    fix: Fix | None = None

    @property
    def affected(self) -> tuple[str, ...]:
        """The memories that would not be missed, or that need a look."""
        return self.ids[1:] if self.kind is Flaw.DUPLICATE else self.ids


@dataclass(frozen=True, slots=True)
class AuditSnapshot:
    """Everything but turns that a principal may see, as it was read.

    `turns` are those that are cited, `derived` the memories that are linked to what they come from.
    """

    call: Call
    reader: Reader
    now: datetime
    records: Mapping[str, Record]
    decay_in: Callable[[str], DecayPolicy]
    cited_turns: Mapping[str, Turn]
    derived_ids: frozenset[str]

    @property
    def active(self) -> list[Record]:
        """What is active by its row, also if its time has run out."""
        return [one for one in self.records.values() if one.status is Status.ACTIVE]

    @property
    def in_force(self) -> list[Record]:
        """What counts now."""
        return [one for one in self.active if self._is_valid_now(one) and not self.is_overdue(one)]

    def get_confidence_band(self, record: Record) -> ConfidenceBand:
        """What its confidence means for a memory."""
        return confidence_band(record, self.decay_in(record.scope), self.now)

    def is_overdue(self, record: Record) -> bool:
        """Whether a sweep would end it; only its time ends an episode."""
        if record.expires_at is not None and record.expires_at <= self.now:
            return True
        return (
            record.kind is not Kind.EPISODE
            and self.get_confidence_band(record) is ConfidenceBand.EXPIRED
        )

    def unsupported_reason(self, record: Record) -> str | None:
        """Why a memory that software concluded is unsupported; None if it is not."""
        if record.source not in INFERRED_SOURCES:
            return None
        derived = record.id in self.derived_ids or EPISODES_KEY in record.metadata
        if record.source is Source.CONSOLIDATED and derived:
            return None
        return explain_unsupported(record, self.cited_turns)

    def _is_valid_now(self, record: Record) -> bool:
        ended = record.valid_until is not None and record.valid_until <= self.now
        return record.valid_from <= self.now and not ended


def load_snapshot(call: Call, reader: Reader) -> AuditSnapshot:
    """Read all that may be seen, whatever its status."""
    now = call.now()
    wanted = Filter(now=now, visible=call.resolve_visibility(), statuses=tuple(Status))
    found = {one.id: one for one in iter_records(reader, wanted) if is_retained(call, one)}
    cited = _load_cited_turns(call, reader, found.values())
    derived = frozenset(one.source for one in reader.list_links_by_relation(Relation.DERIVED_FROM))
    return AuditSnapshot(call, reader, now, found, cache(call.decay_in), cited, derived)


def _load_cited_turns(call: Call, reader: Reader, records: Iterable[Record]) -> dict[str, Turn]:
    cited = {turn.turn_id for one in records for turn in one.evidence}
    found = reader.load(one for one in cited if looks_like_id(one))
    return {one.id: one for one in found.values() if isinstance(one, Turn) and call.can_see(one)}


def is_retained(call: Call, record: Record) -> bool:
    """Whether a memory is not gone from the trash."""
    return record.status is not Status.TRASHED or call.is_within_trash_period(record)


def format_quote(record: Record) -> str:
    """The beginning of a memory, without a secret that may be in it."""
    line = " ".join(redact_text(record.content).split())
    return f"“{line if len(line) <= MAX_QUOTE_CHARS else line[: MAX_QUOTE_CHARS - 1] + '…'}”"


def format_date(moment: datetime) -> str:
    """A date in words, as `2 Mar 2026`; in UTC, as the library knows no other zone."""
    return f"{moment.day} {moment:%b %Y}"
