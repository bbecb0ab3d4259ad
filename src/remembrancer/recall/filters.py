"""Which memories a listing or a recall is about: options of a call as a store filter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, TypedDict

from remembrancer.call import Call
from remembrancer.clock import as_utc
from remembrancer.decay import build_belief
from remembrancer.store.contract import Filter
from remembrancer.types import (
    AsOf,
    Backlog,
    Kind,
    Maturity,
    Mode,
    Permanence,
    parse_enum,
)

if TYPE_CHECKING:
    pass


MAX_QUERY_CHARS = 20_000


class ListFilter(TypedDict, total=False):
    """Which memories a listing or a recall is about."""

    kinds: Sequence[Kind | str]
    categories: Sequence[str]
    tags: Sequence[str]
    scope: str | None
    as_of: AsOf | datetime | None
    minimum_importance: float
    subject: str | None
    maturities: Sequence[Maturity | str]
    permanences: Sequence[Permanence | str]
    backlogs: Sequence[Backlog | str]
    session: str | None
    confidence_below: float
    recorded_from: datetime | None
    recorded_before: datetime | None


class RecallOptions(ListFilter, total=False):
    """What may be said about the memories to bring back.

    `now` is when the question is asked, for "last week" and the like; `deadline_ms` how long to
    wait for the embedding of the query before doing without it; `used` is False for whoever only
    looks, which does not count as recalling.
    """

    mode: Mode | str
    limit: int
    minimum_confidence: float
    now: datetime | None
    deadline_ms: float | None
    used: bool


def build_filter(call: Call, wanted: ListFilter) -> Filter:
    """The filter that a caller's wishes amount to."""
    kinds = tuple(parse_enum(Kind, kind, "kinds") for kind in wanted.get("kinds", ())) or None
    passing = call.visible_filter(
        scope=wanted.get("scope"), kinds=kinds, as_of=to_as_of(wanted.get("as_of"))
    )
    for category in wanted.get("categories", ()):
        call.profile.resolve_category(category)
    since, before = wanted.get("recorded_from"), wanted.get("recorded_before")
    below = wanted.get("confidence_below")
    return replace(
        passing,
        subject=wanted.get("subject"),
        confidence=None if below is None else build_belief(call.profile.decay, below=below),
        maturities=tuple(
            parse_enum(Maturity, one, "maturities") for one in wanted.get("maturities", ())
        ),
        permanences=tuple(
            parse_enum(Permanence, one, "permanences") for one in wanted.get("permanences", ())
        ),
        backlogs=tuple(parse_enum(Backlog, one, "backlogs") for one in wanted.get("backlogs", ())),
        session_id=wanted.get("session"),
        recorded_from=since and as_utc(since),
        recorded_before=before and as_utc(before),
        categories=tuple(wanted.get("categories", ())),
        tags=tuple(wanted.get("tags", ())),
        minimum_importance=wanted.get("minimum_importance", call.profile.recall.minimum_importance),
    )


def to_as_of(as_of: AsOf | datetime | None) -> AsOf | None:
    """A plain date means the world as it was known on that date."""
    match as_of:
        case None:
            return None
        case datetime():
            return AsOf(known=as_utc(as_of))
        case AsOf(known, true):
            return AsOf(known and as_utc(known), true and as_utc(true))
