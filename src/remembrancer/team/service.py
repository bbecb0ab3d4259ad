"""What a team knows: proposed by people, kept without them, recalled once it may be trusted.

Recall takes no user and gives no identity. A proposal must pass the gate, and waits until someone
approves it or enough different people have said the same.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING

from remembrancer.errors import InvalidInput
from remembrancer.guard.redaction import checked_text
from remembrancer.ids import new_id
from remembrancer.paging import checked_limit
from remembrancer.store.contract import Embedding
from remembrancer.team.confidence import confidence_of, contradict
from remembrancer.team.origin_filter import wanted_origins
from remembrancer.types import (
    Owner,
    TeamFact,
    TeamKind,
    TeamOrigin,
    TeamRecalled,
    TeamStatus,
    Tenant,
    member,
)

if TYPE_CHECKING:
    from remembrancer.call import Call, Parts
    from remembrancer.profiles import Profile
    from remembrancer.store.team_contract import TeamDesk
    from remembrancer.team.settings import Switches

LONGEST = 500
RELATED = 0.6
"""How similar facts must be to be looked at for a contradiction."""


class Verdict(StrEnum):
    """What became of a proposal."""

    PENDING = "pending"
    CORROBORATED = "corroborated"
    APPROVED = "approved"
    KNOWN = "known"
    REJECTED_BEFORE = "rejected_before"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Proposed:
    """The outcome of a proposal: which fact it is, how that stands, and which facts contradict it.

    `rules` are the rules that a refused one breaks, never the words that do.
    """

    verdict: Verdict
    fact_id: str | None = None
    rules: tuple[str, ...] = ()
    status: TeamStatus | None = None
    conflicts: tuple[str, ...] = ()


def recall(
    parts: Parts | Call,
    tenant: Tenant,
    query: str,
    switches: Switches,
    *,
    origins: Sequence[TeamOrigin] | None = None,
    limit: int | None = None,
) -> list[TeamRecalled]:
    """What the team knows about something; nobody is named, neither who asks nor who said so.

    A limit can only lower what the switch says.
    """
    most = switches.limit if limit is None else min(checked_limit(limit), switches.limit)
    with parts.store.recalling(tenant) as reader:
        index = parts.team_indexes.get(reader, tenant, parts.embedder.model)
    if not index.facts:
        return []
    vector = parts.embedder.embed([query])[0]
    now, least = parts.clock.now(), switches.recall_confidence
    found = index.best(vector, now, most, confidence=least, origins=origins)
    parts.references.note_told(tenant, [fact.id for fact, _ in found])
    return [
        TeamRecalled(fact.kind, fact.content, fact.importance, round(believed, 4))
        for fact, believed in found
    ]


def nobodys_recall(
    parts: Parts, tenant: Tenant, query: str, limit: int | None
) -> list[TeamRecalled]:
    """What the team knows for someone who is nobody here, if that is switched on."""
    profile = parts.profile_of()
    switches = parts.switches.of(tenant, profile)
    if not profile.team.enabled or not switches.recalls(None):
        return []
    return recall(parts, tenant, query, switches, origins=wanted_origins(query), limit=limit)


def told_to(call: Call, query: str, limit: int | None = None) -> list[TeamRecalled]:
    """What the team knows for a prompt on the caller's surface, if that is switched on."""
    tenant = Tenant(call.owner.tenant)
    switches = call.switches.of(tenant, call.profile)
    if not call.profile.team.enabled or not switches.recalls(call.principal.surface):
        return []
    return recall(call, tenant, query, switches, origins=wanted_origins(query), limit=limit)


def propose(
    call: Call,
    content: str,
    *,
    kind: TeamKind | str = TeamKind.FACT,
    origin: TeamOrigin = TeamOrigin.USER,
    importance: float = 3,
) -> Proposed:
    """Say something to the team; it is kept without a person, or not at all."""
    if not call.profile.team.enabled:
        raise InvalidInput(f"The profile {call.profile.name!r} has no team memory.")
    content = " ".join(checked_text(content, "The proposal", LONGEST).split())
    kind = member(TeamKind, kind, "kind")
    if kind not in call.profile.team.kinds:
        raise InvalidInput(f"kind: use one of {', '.join(call.profile.team.kinds)}.")
    if not 1 <= importance <= 5:
        raise InvalidInput("The importance of a team fact is from 1 to 5.")
    rules = broken_rules(content)
    if rules:
        return Proposed(Verdict.REFUSED, rules=rules)
    tenant = Tenant(call.owner.tenant)
    switches = call.switches.of(tenant, call.profile)
    embedding = call.embed(content)
    now = call.now()
    fact = TeamFact(
        id=new_id("team", now),
        kind=kind,
        content=content,
        origin=origin,
        importance=importance,
        confidence=confidence_of(1),
        recorded_at=now,
        confirmed_at=now,
    )
    with call.store.reviewing(tenant) as desk:
        return _entered(desk, fact, embedding, contributor(desk.key(), call.owner), switches)


def broken_rules(content: str) -> tuple[str, ...]:
    """Why something must not be shared, by the names of rules."""
    from remembrancer.guard.instructions.detector import suspicions
    from remembrancer.guard.persons.detector import refusals

    return tuple(dict.fromkeys((*refusals(content), *suspicions(content))))


def contributor(key: bytes, owner: Owner) -> str:
    """Who said it, as only the tenant's key can tell: one for all they speak through."""
    return hashlib.blake2b(owner.id.encode(), key=key, digest_size=16).hexdigest()


def withdraw(parts: Parts | Call, owner: Owner, profile: Profile) -> str:
    """Take back all that someone has said to their team; who they were there.

    What nobody else has said goes with it, the rest stays and is believed less.
    """
    tenant = Tenant(owner.tenant)
    switches = parts.switches.of(tenant, profile)
    with parts.store.reviewing(tenant) as desk:
        who = contributor(desk.key(), owner)
        touched = [one for said in desk.contributed(who) for one in (said, *desk.contested(said))]
        desk.remove(desk.withdraw(who))
        for one in dict.fromkeys(touched):
            if desk.fact(one) is not None:
                settle(desk, one, parts.clock.now(), switches)
    return who


def _entered(
    desk: TeamDesk, fact: TeamFact, embedding: Embedding, who: str, switches: Switches
) -> Proposed:
    known = desk.known(embedding.model, tuple(TeamStatus))
    scores = [float(one.vector @ embedding.vector) for one in known]
    closest = max(range(len(known)), key=scores.__getitem__, default=None)
    if closest is not None and scores[closest] >= switches.dedup_threshold:
        same = known[closest].fact
        if not contradict(same.content, fact.content):
            return _corroborated(desk, same, who, fact.recorded_at, switches)
    desk.add(fact, embedding)
    desk.contribute(fact.id, who, fact.recorded_at)
    contest(desk, fact, embedding)
    settle(desk, fact.id, fact.recorded_at, switches)
    approved = _held(desk, fact.id).status is TeamStatus.APPROVED
    return _outcome(desk, Verdict.APPROVED if approved else Verdict.PENDING, fact.id)


def _outcome(desk: TeamDesk, verdict: Verdict, fact_id: str) -> Proposed:
    conflicts = tuple(desk.contested(fact_id))
    return Proposed(verdict, fact_id, status=_held(desk, fact_id).status, conflicts=conflicts)


def contest(desk: TeamDesk, fact: TeamFact, embedding: Embedding) -> None:
    """Note which facts say otherwise."""
    for one in desk.known(embedding.model, (TeamStatus.PENDING, TeamStatus.APPROVED)):
        close = float(one.vector @ embedding.vector) >= RELATED and one.fact.id != fact.id
        if close and contradict(one.fact.content, fact.content):
            desk.contest(one.fact.id, fact.id, fact.recorded_at)


def settle(desk: TeamDesk, fact_id: str, now: datetime, switches: Switches) -> None:
    """Set anew how far a fact and its rivals are believed, and promote what may be."""
    for one in (fact_id, *desk.contested(fact_id)):
        fact = _held(desk, one)
        rivals, voices = len(desk.contested(one)), desk.contributors(one)
        enough = switches.promote_at is not None and voices >= switches.promote_at
        promoted = fact.status is TeamStatus.PENDING and enough and not rivals
        if promoted:
            desk.change(one, {"status": TeamStatus.APPROVED, "decided_at": now})
        approved = promoted or fact.status is TeamStatus.APPROVED
        desk.change(one, {"confidence": confidence_of(voices, rivals, approved=approved)})


def _held(desk: TeamDesk, fact_id: str) -> TeamFact:
    fact = desk.fact(fact_id)
    assert fact is not None
    return fact


def _corroborated(
    desk: TeamDesk, fact: TeamFact, who: str, now: datetime, switches: Switches
) -> Proposed:
    """Someone says what is known already: once more, or as a further voice."""
    if fact.status is TeamStatus.REJECTED:
        return _outcome(desk, Verdict.REJECTED_BEFORE, fact.id)
    if not desk.contribute(fact.id, who, now):
        return _outcome(desk, Verdict.KNOWN, fact.id)
    desk.change(fact.id, {"confirmed_at": now})
    settle(desk, fact.id, now, switches)
    pending = fact.status is TeamStatus.PENDING
    promoted = pending and _held(desk, fact.id).status is TeamStatus.APPROVED
    return _outcome(desk, Verdict.APPROVED if promoted else Verdict.CORROBORATED, fact.id)
