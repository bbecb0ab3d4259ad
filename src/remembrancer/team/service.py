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
from remembrancer.guard.redaction import validate_text
from remembrancer.ids import new_id
from remembrancer.paging import validate_limit
from remembrancer.store.contract import Embedding
from remembrancer.team.confidence import is_contradiction, team_confidence
from remembrancer.team.origin_filter import parse_origins
from remembrancer.types import (
    Owner,
    TeamFact,
    TeamKind,
    TeamOrigin,
    TeamRecalled,
    TeamStatus,
    Tenant,
    parse_enum,
)

if TYPE_CHECKING:
    from remembrancer.call import Call, Services
    from remembrancer.profiles import Profile
    from remembrancer.store.team_contract import TeamWriter
    from remembrancer.team.settings import TeamSettings

MAX_TEAM_FACT_CHARS = 500
MIN_RELATED_SIMILARITY = 0.6
"""How similar facts must be to be looked at for a contradiction."""


class ProposalOutcome(StrEnum):
    """What became of a proposal."""

    PENDING = "pending"
    CORROBORATED = "corroborated"
    APPROVED = "approved"
    KNOWN = "known"
    REJECTED_BEFORE = "rejected_before"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class TeamProposalResult:
    """The outcome of a proposal: which fact it is, how that stands, and which facts contradict it.

    `rules` are the rules that a refused one breaks, never the words that do.
    """

    verdict: ProposalOutcome
    fact_id: str | None = None
    rules: tuple[str, ...] = ()
    status: TeamStatus | None = None
    conflicts: tuple[str, ...] = ()


def recall_team(
    services: Services,
    tenant: Tenant,
    query: str,
    settings: TeamSettings,
    *,
    origins: Sequence[TeamOrigin] | None = None,
    limit: int | None = None,
) -> list[TeamRecalled]:
    """What the team knows about something; nobody is named, neither who asks nor who said so.

    A limit can only lower what the switch says.
    """
    most = settings.limit if limit is None else min(validate_limit(limit), settings.limit)
    with services.store.open_team_reader(tenant) as reader:
        index = services.team_indexes.get(reader, tenant, services.embedder.model)
    if not index.facts:
        return []
    vector = services.embedder.embed([query])[0]
    now, least = services.clock.now(), settings.recall_confidence
    found = index.find_best(vector, now, most, min_confidence=least, origins=origins)
    services.usage.record_team_recalls(tenant, [fact.id for fact, _ in found])
    return [
        TeamRecalled(fact.kind, fact.content, fact.importance, round(believed, 4))
        for fact, believed in found
    ]


def recall_anonymously(
    services: Services, tenant: Tenant, query: str, limit: int | None
) -> list[TeamRecalled]:
    """What the team knows for someone who is nobody here, if that is switched on."""
    profile = services.profile_of()
    switches = services.live_settings.get(tenant, profile)
    if not profile.team.enabled or not switches.can_recall(None):
        return []
    return recall_team(services, tenant, query, switches, origins=parse_origins(query), limit=limit)


def recall_for_call(call: Call, query: str, limit: int | None = None) -> list[TeamRecalled]:
    """What the team knows for a prompt on the caller's surface, if that is switched on."""
    tenant = Tenant(call.owner.tenant)
    switches = call.services.live_settings.get(tenant, call.profile)
    if not call.profile.team.enabled or not switches.can_recall(call.principal.surface):
        return []
    return recall_team(
        call.services, tenant, query, switches, origins=parse_origins(query), limit=limit
    )


def propose(
    call: Call,
    content: str,
    *,
    kind: TeamKind | str = TeamKind.FACT,
    origin: TeamOrigin = TeamOrigin.USER,
    importance: float = 3,
) -> TeamProposalResult:
    """Say something to the team; it is kept without a person, or not at all."""
    if not call.profile.team.enabled:
        raise InvalidInput(f"The profile {call.profile.name!r} has no team memory.")
    content = " ".join(validate_text(content, "The proposal", MAX_TEAM_FACT_CHARS).split())
    kind = parse_enum(TeamKind, kind, "kind")
    if kind not in call.profile.team.kinds:
        raise InvalidInput(f"kind: use one of {', '.join(call.profile.team.kinds)}.")
    if not 1 <= importance <= 5:
        raise InvalidInput("The importance of a team fact is from 1 to 5.")
    rules = find_broken_rules(content)
    if rules:
        return TeamProposalResult(ProposalOutcome.REFUSED, rules=rules)
    tenant = Tenant(call.owner.tenant)
    switches = call.services.live_settings.get(tenant, call.profile)
    embedding = call.embed(content)
    now = call.now()
    fact = TeamFact(
        id=new_id("team", now),
        kind=kind,
        content=content,
        origin=origin,
        importance=importance,
        confidence=team_confidence(1),
        recorded_at=now,
        confirmed_at=now,
    )
    with call.store.open_team_writer(tenant) as desk:
        return _enter_proposal(
            desk, fact, embedding, contributor_id(desk.load_contributor_key(), call.owner), switches
        )


def find_broken_rules(content: str) -> tuple[str, ...]:
    """Why something must not be shared, by the names of rules."""
    from remembrancer.guard.instructions.detector import detect_instructions
    from remembrancer.guard.persons.detector import detect_personal_data

    return tuple(dict.fromkeys((*detect_personal_data(content), *detect_instructions(content))))


def contributor_id(key: bytes, owner: Owner) -> str:
    """Who said it, as only the tenant's key can tell: one for all they speak through."""
    return hashlib.blake2b(owner.id.encode(), key=key, digest_size=16).hexdigest()


def withdraw_contributions(services: Services, owner: Owner, profile: Profile) -> str:
    """Take back all that someone has said to their team; who they were there.

    What nobody else has said goes with it, the rest stays and is believed less.
    """
    tenant = Tenant(owner.tenant)
    switches = services.live_settings.get(tenant, profile)
    with services.store.open_team_writer(tenant) as desk:
        who = contributor_id(desk.load_contributor_key(), owner)
        touched = [
            one
            for said in desk.list_contributed_facts(who)
            for one in (said, *desk.list_conflicts(said))
        ]
        desk.remove(desk.drop_contributions(who))
        for one in dict.fromkeys(touched):
            if desk.get_fact(one) is not None:
                reassess_fact(desk, one, services.clock.now(), switches)
    return who


def _enter_proposal(
    writer: TeamWriter, fact: TeamFact, embedding: Embedding, who: str, settings: TeamSettings
) -> TeamProposalResult:
    known = writer.load_embedded_facts(embedding.model, tuple(TeamStatus))
    scores = [float(one.vector @ embedding.vector) for one in known]
    closest = max(range(len(known)), key=scores.__getitem__, default=None)
    if closest is not None and scores[closest] >= settings.dedup_threshold:
        same = known[closest].fact
        if not is_contradiction(same.content, fact.content):
            return _corroborate(writer, same, who, fact.recorded_at, settings)
    writer.add(fact, embedding)
    writer.add_contribution(fact.id, who, fact.recorded_at)
    mark_contradictions(writer, fact, embedding)
    reassess_fact(writer, fact.id, fact.recorded_at, settings)
    approved = _get_fact(writer, fact.id).status is TeamStatus.APPROVED
    return _build_result(
        writer, ProposalOutcome.APPROVED if approved else ProposalOutcome.PENDING, fact.id
    )


def _build_result(writer: TeamWriter, verdict: ProposalOutcome, fact_id: str) -> TeamProposalResult:
    conflicts = tuple(writer.list_conflicts(fact_id))
    return TeamProposalResult(
        verdict, fact_id, status=_get_fact(writer, fact_id).status, conflicts=conflicts
    )


def mark_contradictions(writer: TeamWriter, fact: TeamFact, embedding: Embedding) -> None:
    """Note which facts say otherwise."""
    for one in writer.load_embedded_facts(
        embedding.model, (TeamStatus.PENDING, TeamStatus.APPROVED)
    ):
        close = (
            float(one.vector @ embedding.vector) >= MIN_RELATED_SIMILARITY
            and one.fact.id != fact.id
        )
        if close and is_contradiction(one.fact.content, fact.content):
            writer.add_conflict(one.fact.id, fact.id, fact.recorded_at)


def reassess_fact(writer: TeamWriter, fact_id: str, now: datetime, settings: TeamSettings) -> None:
    """Set anew how far a fact and its rivals are believed, and promote what may be."""
    for one in (fact_id, *writer.list_conflicts(fact_id)):
        fact = _get_fact(writer, one)
        rivals, voices = len(writer.list_conflicts(one)), writer.count_contributors(one)
        enough = settings.promote_at is not None and voices >= settings.promote_at
        promoted = fact.status is TeamStatus.PENDING and enough and not rivals
        if promoted:
            writer.change(one, {"status": TeamStatus.APPROVED, "decided_at": now})
        approved = promoted or fact.status is TeamStatus.APPROVED
        writer.change(one, {"confidence": team_confidence(voices, rivals, approved=approved)})


def _get_fact(writer: TeamWriter, fact_id: str) -> TeamFact:
    fact = writer.get_fact(fact_id)
    assert fact is not None
    return fact


def _corroborate(
    writer: TeamWriter, fact: TeamFact, who: str, now: datetime, settings: TeamSettings
) -> TeamProposalResult:
    """Someone says what is known already: once more, or as a further voice."""
    if fact.status is TeamStatus.REJECTED:
        return _build_result(writer, ProposalOutcome.REJECTED_BEFORE, fact.id)
    if not writer.add_contribution(fact.id, who, now):
        return _build_result(writer, ProposalOutcome.KNOWN, fact.id)
    writer.change(fact.id, {"confirmed_at": now})
    reassess_fact(writer, fact.id, now, settings)
    pending = fact.status is TeamStatus.PENDING
    promoted = pending and _get_fact(writer, fact.id).status is TeamStatus.APPROVED
    return _build_result(
        writer, ProposalOutcome.APPROVED if promoted else ProposalOutcome.CORROBORATED, fact.id
    )
