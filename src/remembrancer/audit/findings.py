"""The snapshot that an audit reads, and the findings that it returns."""

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
from remembrancer.remember.provenance import EPISODES_KEY
from remembrancer.store.contract import Filter, Reader
from remembrancer.store.moments import has_begun
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


class Flaw(StrEnum):
    """Kinds of findings."""

    DUPLICATE = "duplicate"
    STALE = "stale"
    CONTRADICTING = "contradicting"
    UNSUPPORTED = "unsupported"
    SECRET = "secret"  # noqa: S105 - it is the name of a flaw
    ORPHAN = "orphan"
    MISDATED = "misdated"


class Fix(StrEnum):
    """Fixes for findings; `repair` applies all but REEMBED, and REDACT only on request."""

    FORGET = "forget"
    EXPIRE = "expire"
    RELEASE = "release"
    REDATE = "redate"
    REDACT = "redact"
    REEMBED = "reembed"


@dataclass(frozen=True, slots=True)
class Finding:
    """One flaw; of duplicates, the first id is the memory to keep."""

    kind: Flaw
    ids: tuple[str, ...]
    message: str
    fix: Fix | None = None

    @property
    def affected(self) -> tuple[str, ...]:
        """The ids without the duplicate that is kept."""
        return self.ids[1:] if self.kind is Flaw.DUPLICATE else self.ids


@dataclass(frozen=True, slots=True)
class AuditSnapshot:
    """All visible memories except turns, as they were read.

    `cited_turns` are the turns that memories cite, `derived_ids` the memories with a link to their
    sources.
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
        """Memories with the status active, even if they have expired since the last sweep."""
        return [one for one in self.records.values() if one.status is Status.ACTIVE]

    @property
    def in_force(self) -> list[Record]:
        """Active memories that are valid now and not overdue."""
        return [one for one in self.active if self._is_valid_now(one) and not self.is_overdue(one)]

    def get_confidence_band(self, record: Record) -> ConfidenceBand:
        return confidence_band(record, self.decay_in(record.scope), self.now)

    def is_overdue(self, record: Record) -> bool:
        """True if the next sweep would expire it; episodes expire by date only."""
        if record.expires_at is not None and record.expires_at <= self.now:
            return True
        return (
            record.kind is not Kind.EPISODE
            and self.get_confidence_band(record) is ConfidenceBand.EXPIRED
        )

    def unsupported_reason(self, record: Record) -> str | None:
        """Why an inferred memory is unsupported; None if it is supported or not inferred."""
        if record.source not in INFERRED_SOURCES:
            return None
        derived = record.id in self.derived_ids or EPISODES_KEY in record.metadata
        if record.source is Source.CONSOLIDATED and derived:
            return None
        return explain_unsupported(record, self.cited_turns)

    def _is_valid_now(self, record: Record) -> bool:
        ended = record.valid_until is not None and record.valid_until <= self.now
        return has_begun(record, self.now) and not ended


def load_snapshot(call: Call, reader: Reader) -> AuditSnapshot:
    """Read all visible memories, whatever their status."""
    now = call.now()
    everything = Filter(now=now, visible=call.resolve_visibility(), statuses=tuple(Status))
    found = {one.id: one for one in iter_records(reader, everything) if is_retained(call, one)}
    cited = _load_cited_turns(call, reader, found.values())
    derived = frozenset(one.source for one in reader.list_links_by_relation(Relation.DERIVED_FROM))
    return AuditSnapshot(call, reader, now, found, cache(call.decay_in), cited, derived)


def _load_cited_turns(call: Call, reader: Reader, records: Iterable[Record]) -> dict[str, Turn]:
    cited = {turn.turn_id for one in records for turn in one.evidence}
    found = reader.load(one for one in cited if looks_like_id(one))
    return {one.id: one for one in found.values() if isinstance(one, Turn) and call.can_see(one)}


def is_retained(call: Call, record: Record) -> bool:
    """False if a memory's time in the trash is over."""
    return record.status is not Status.TRASHED or call.is_within_trash_period(record)


def format_quote(record: Record) -> str:
    """The beginning of a memory in quotes, redacted."""
    line = " ".join(redact_text(record.content).split())
    return f"“{line if len(line) <= MAX_QUOTE_CHARS else line[: MAX_QUOTE_CHARS - 1] + '…'}”"


def format_date(moment: datetime) -> str:
    """A date such as `2 Mar 2026`, in UTC because the library knows no time zone."""
    return f"{moment.day} {moment:%b %Y}"
