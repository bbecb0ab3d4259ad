"""Statistics of the memories as they were known, or were true, at a moment.

The past is counted one by one: no table holds the counts of each moment.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import datetime, timedelta

from remembrancer.call import Call
from remembrancer.decay import effective_confidence, standing_at
from remembrancer.maintenance.stats import (
    CONFIDENCE_BANDS,
    LISTED_KINDS,
    SOON,
    WAITING,
    count_visible_events,
    find_last_consolidation,
    mean_effectiveness,
    tally_names,
)
from remembrancer.store.contract import Filter, Reader, Tally
from remembrancer.store.nearest import iter_records
from remembrancer.types import (
    AsOf,
    ConfidenceBand,
    Episode,
    Fact,
    Kind,
    Record,
    Rule,
    Stats,
    Status,
)

UNDELETED = tuple(one for one in Status if one is not Status.TRASHED)
TICK = timedelta(microseconds=1)


def count_past(call: Call, scope: str | None, as_of: AsOf) -> Stats:
    """The statistics of a moment; what is in the trash now is not counted."""
    at = as_of.known or call.now()
    with call.store.open_reader(call.owner) as reader:
        records = _load_past(call, reader, scope, as_of, at)
        events = count_visible_events(call, reader, scope, at)
        consolidated_at = find_last_consolidation(call, reader, scope, at)
    true = as_of.true or at
    records = [_expire(call, one, at, true) for one in records]
    active = [one for one in records if one.status is Status.ACTIVE and one.kind in LISTED_KINDS]
    believed = [
        (effective_confidence(one, call.profile.decay, at), one)
        for one in active
        if isinstance(one, Fact | Rule)
    ]
    rules = [one for one in active if isinstance(one, Rule)]
    return Stats(
        **tally_names([_tally(one) for one in records]),
        by_maturity=dict(Counter(one.maturity for one in rules)),
        by_confidence=dict(Counter(_name_band(confidence) for confidence, _ in believed)),
        effectiveness=mean_effectiveness(call, rules),
        fading=sum(_is_fading(call, one, at) for one in active),
        expiring=sum(one.expires_at is not None and one.expires_at <= at + SOON for one in active),
        backlog=sum(isinstance(one, Episode) and one.backlog in WAITING for one in active),
        events=events,
        consolidated_at=consolidated_at,
    )


def _load_past(
    call: Call, reader: Reader, scope: str | None, as_of: AsOf, at: datetime
) -> list[Record]:
    """The memories stored by then; with a moment of truth, only those in force, as active."""
    stored = Filter(
        now=call.now(),
        kinds=tuple(Kind),
        visible=call.resolve_visibility(scope),
        statuses=UNDELETED,
        recorded_before=at + TICK,
        hides_trash=True,
    )
    records = reader.as_of(list(iter_records(reader, stored)), at)
    if as_of.true is None:
        return records
    in_force = reader.matching(
        [one.id for one in records],
        call.visible_filter(scope=scope, kinds=tuple(Kind), as_of=as_of),
    )
    return [replace(one, status=Status.ACTIVE) for one in records if one.id in in_force]


def _expire(call: Call, record: Record, at: datetime, true: datetime) -> Record:
    """The memory, expired if it was active by its row alone."""
    if record.status is not Status.ACTIVE:
        return record
    has_ended = record.valid_until is not None and record.valid_until <= true
    standing = standing_at(record, call.profile.decay, at)
    if has_ended or standing is ConfidenceBand.EXPIRED:
        return replace(record, status=Status.EXPIRED)
    return record


def _tally(record: Record) -> Tally:
    return Tally(
        kind=record.kind,
        status=record.status,
        scope=record.scope,
        category=record.category if isinstance(record, Fact) else None,
        permanence=record.permanence,
        agent=record.agent,
        count=1,
    )


def _is_fading(call: Call, record: Record, at: datetime) -> bool:
    decay = call.profile.decay
    return effective_confidence(record, decay, at) < decay.recall_at


def _name_band(confidence: float) -> str:
    return next(name for name, _, below in CONFIDENCE_BANDS if confidence < below)
