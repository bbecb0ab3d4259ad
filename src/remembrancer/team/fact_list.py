"""Lists the approved facts of a team for its members, with the class of their authors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from remembrancer.paging import decode_cursor, encode_cursor, validate_limit
from remembrancer.team.confidence import SECONDS_PER_DAY, decay_confidence
from remembrancer.team.past import load_index
from remembrancer.types import AsOf, Page, TeamFact, TeamKind, TeamOrigin, Tenant, parse_enum

if TYPE_CHECKING:
    from remembrancer.call import Call


@dataclass(frozen=True, slots=True)
class TeamListed:
    """A team fact as members list it; nothing in it identifies a person."""

    kind: TeamKind
    content: str
    importance: float
    confidence: float
    origin: TeamOrigin


def list_facts(
    call: Call,
    *,
    origins: Sequence[TeamOrigin | str] = (),
    kind: TeamKind | str | None = None,
    limit: int = 50,
    cursor: str | None = None,
    as_of: AsOf | None = None,
) -> Page[TeamListed]:
    """Approved facts by page, newest first; none if the settings forbid recall on this surface."""
    limit, after = validate_limit(limit), decode_cursor(cursor)
    end = (after.at, after.id) if after else None
    wanted = {parse_enum(TeamOrigin, one, "origin") for one in origins} or set(TeamOrigin)
    kinds = {parse_enum(TeamKind, kind, "kind")} if kind else set(TeamKind)
    matching = [
        (fact, confidence)
        for fact, confidence in _load_approved(call, as_of.known if as_of else None)
        if fact.origin in wanted and fact.kind in kinds and (end is None or _place(fact) < end)
    ]
    matching.sort(key=lambda one: _place(one[0]), reverse=True)
    last = matching[limit - 1][0] if len(matching) > limit else None
    return Page(
        tuple(
            TeamListed(fact.kind, fact.content, fact.importance, round(confidence, 4), fact.origin)
            for fact, confidence in matching[:limit]
        ),
        encode_cursor(last.recorded_at, last.id) if last else None,
    )


def _load_approved(call: Call, known: datetime | None) -> list[tuple[TeamFact, float]]:
    """The facts that are approved, or were then, each with its confidence."""
    tenant = Tenant(call.owner.tenant)
    settings = call.services.live_settings.get(tenant, call.profile)
    if not call.profile.team.enabled or not settings.can_recall(call.principal.surface):
        return []
    index = load_index(call.services, tenant, known)
    days = ((known or call.now()).timestamp() - index.confirmed_at) / SECONDS_PER_DAY
    confidence = decay_confidence(index.confidence, days)
    return list(zip(index.facts, confidence.tolist(), strict=True))


def _place(fact: TeamFact) -> tuple[datetime, str]:
    return fact.recorded_at, fact.id
