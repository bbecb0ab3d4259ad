"""What an audit reads, and what it has to say about it; which flaws there are is elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from functools import cache

from remembrancer.audit.support import lacking
from remembrancer.call import Call
from remembrancer.decay import standing
from remembrancer.guard.redaction import without_secrets
from remembrancer.profiles import Decay
from remembrancer.store.contract import Filter, Reader
from remembrancer.store.nearest import everything
from remembrancer.types import (
    Kind,
    Record,
    Relation,
    Source,
    Standing,
    Status,
    Turn,
    looks_like_id,
)

SHORT = 60
CONCLUDED = (Source.EXTRACTED, Source.CONSOLIDATED)
"""What software concluded, and must therefore have evidence for."""


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
class Seen:
    """Everything but turns that a principal may see, as it was read.

    `turns` are those that are cited, `derived` the memories that are linked to what they come from.
    """

    call: Call
    reader: Reader
    now: datetime
    records: Mapping[str, Record]
    decay_in: Callable[[str], Decay]
    turns: Mapping[str, Turn]
    derived: frozenset[str]

    @property
    def active(self) -> list[Record]:
        """What is active by its row, also if its time has run out."""
        return [one for one in self.records.values() if one.status is Status.ACTIVE]

    @property
    def in_force(self) -> list[Record]:
        """What counts now."""
        return [one for one in self.active if self._is_true(one) and not self.is_overdue(one)]

    def standing(self, record: Record) -> Standing:
        """What its confidence means for a memory."""
        return standing(record, self.decay_in(record.scope), self.now)

    def is_overdue(self, record: Record) -> bool:
        """Whether a sweep would end it; only its time ends an episode."""
        if record.expires_at is not None and record.expires_at <= self.now:
            return True
        return record.kind is not Kind.EPISODE and self.standing(record) is Standing.EXPIRED

    def lacking(self, record: Record) -> str | None:
        """Why a memory that software concluded is unsupported; None if it is not."""
        if record.source not in CONCLUDED:
            return None
        derived = record.id in self.derived or "episodes" in record.metadata
        if record.source is Source.CONSOLIDATED and derived:
            return None
        return lacking(record, self.turns)

    def _is_true(self, record: Record) -> bool:
        ended = record.valid_until is not None and record.valid_until <= self.now
        return record.valid_from <= self.now and not ended


def looked_at(call: Call, reader: Reader) -> Seen:
    """Read all that may be seen, whatever its status."""
    now = call.now()
    wanted = Filter(now=now, visible=call.visible(), statuses=tuple(Status))
    found = {one.id: one for one in everything(reader, wanted) if is_there(call, one)}
    cited = _cited(call, reader, found.values())
    derived = frozenset(one.source for one in reader.related(Relation.DERIVED_FROM))
    return Seen(call, reader, now, found, cache(call.decay_in), cited, derived)


def _cited(call: Call, reader: Reader, records: Iterable[Record]) -> dict[str, Turn]:
    cited = {turn.turn_id for one in records for turn in one.evidence}
    found = reader.load(one for one in cited if looks_like_id(one))
    return {one.id: one for one in found.values() if isinstance(one, Turn) and call.sees(one)}


def is_there(call: Call, record: Record) -> bool:
    """Whether a memory is not gone from the trash."""
    return record.status is not Status.TRASHED or call.is_kept(record)


def quoted(record: Record) -> str:
    """The beginning of a memory, without a secret that may be in it."""
    line = " ".join(without_secrets(record.content).split())
    return f"“{line if len(line) <= SHORT else line[: SHORT - 1] + '…'}”"


def day(moment: datetime) -> str:
    """A date in words, as `2 Mar 2026`; in UTC, as the library knows no other zone."""
    return f"{moment.day} {moment:%b %Y}"
