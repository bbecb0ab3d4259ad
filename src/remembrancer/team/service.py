"""Team memory: anonymous facts that users propose and everyone in the tenant can recall.

Recall takes no user and returns no identity. A proposal must not break a rule, and is pending until
a reviewer approves it or enough different users have proposed the same.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING

from remembrancer.agreement.verdict import Agreement, judge
from remembrancer.errors import InvalidInput
from remembrancer.guard.redaction import validate_text
from remembrancer.ids import new_id
from remembrancer.paging import validate_limit
from remembrancer.store.contract import Embedding
from remembrancer.team.activity import record_outcome
from remembrancer.team.confidence import team_confidence
from remembrancer.team.origin_filter import parse_origins
from remembrancer.team.past import load_index
from remembrancer.team.review_reasons import needs_reviewer
from remembrancer.team.third_person import restate_for_team
from remembrancer.types import (
    AsOf,
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
MIN_RELATED_SIMILARITY = 0.5
"""Similarity from which two facts are checked for a contradiction."""

MAX_COMPARED = 20
"""The most similar facts that are compared word by word."""


class ProposalOutcome(StrEnum):
    """The outcome of a proposal."""

    PENDING = "pending"
    CORROBORATED = "corroborated"
    APPROVED = "approved"
    KNOWN = "known"
    REJECTED_BEFORE = "rejected_before"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class TeamProposalResult:
    """The outcome of a proposal, its fact with status, and the facts that contradict it.

    `rules` names the rules that a refused proposal breaks, never the words that do. What
    `needs_reviewer` is not approved by any number of proposals.
    """

    verdict: ProposalOutcome
    fact_id: str | None = None
    rules: tuple[str, ...] = ()
    status: TeamStatus | None = None
    conflicts: tuple[str, ...] = ()
    needs_reviewer: bool = False


def recall_team(
    services: Services,
    tenant: Tenant,
    query: str,
    settings: TeamSettings,
    *,
    origins: Sequence[TeamOrigin] | None = None,
    limit: int | None = None,
    known_at: datetime | None = None,
) -> list[TeamRecalled]:
    """Recall team facts for a query, without the identity of the caller or the contributors.

    `limit` can only lower the limit of the settings; `known_at` recalls what was approved then.
    """
    max_results = settings.limit if limit is None else min(validate_limit(limit), settings.limit)
    index = load_index(services, tenant, known_at)
    if not index.facts:
        return []
    vector = services.embedder.embed([query])[0]
    found = index.find_best(
        vector,
        known_at or services.clock.now(),
        max_results,
        min_confidence=settings.recall_confidence,
        origins=origins,
    )
    services.usage.record_team_recalls(tenant, [fact.id for fact, _ in found])
    return [
        TeamRecalled(fact.kind, fact.content, fact.importance, round(confidence, 4))
        for fact, confidence in found
    ]


def recall_anonymously(
    services: Services, tenant: Tenant, query: str, limit: int | None
) -> list[TeamRecalled]:
    """Recall for an anonymous caller; empty unless the settings allow it."""
    profile = services.profile_of()
    settings = services.live_settings.get(tenant, profile)
    if not profile.team.enabled or not settings.can_recall(None):
        return []
    return recall_team(services, tenant, query, settings, origins=parse_origins(query), limit=limit)


def recall_for_call(
    call: Call, query: str, limit: int | None = None, as_of: AsOf | None = None
) -> list[TeamRecalled]:
    """Recall for the caller's surface; empty unless the settings allow it."""
    tenant = Tenant(call.owner.tenant)
    settings = call.services.live_settings.get(tenant, call.profile)
    if not call.profile.team.enabled or not settings.can_recall(call.principal.surface):
        return []
    return recall_team(
        call.services,
        tenant,
        query,
        settings,
        origins=parse_origins(query),
        limit=limit,
        known_at=as_of.known if as_of else None,
    )


def propose(
    call: Call,
    content: str,
    *,
    kind: TeamKind | str = TeamKind.FACT,
    origin: TeamOrigin = TeamOrigin.USER,
    importance: float = 3,
) -> TeamProposalResult:
    """Propose a fact to the team; it is stored without the user's identity."""
    if not call.profile.team.enabled:
        raise InvalidInput(f"The profile {call.profile.name!r} has no team memory.")
    content = read_team_fact(content, "The proposal")
    kind = parse_enum(TeamKind, kind, "kind")
    if kind not in call.profile.team.kinds:
        raise InvalidInput(f"kind: use one of {', '.join(call.profile.team.kinds)}.")
    if not 1 <= importance <= 5:
        raise InvalidInput("The importance of a team fact is from 1 to 5.")
    call.store.system.check_owner(call.principal.owner)
    rules, tenant = find_broken_rules(content), Tenant(call.owner.tenant)
    if rules:
        with call.store.open_team_writer(tenant) as writer:
            record_outcome(writer, call.now(), origin, ProposalOutcome.REFUSED, rules)
        return TeamProposalResult(ProposalOutcome.REFUSED, rules=rules)
    settings = call.services.live_settings.get(tenant, call.profile)
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
    with call.store.open_team_writer(tenant) as writer:
        contributor = contributor_id(writer.load_contributor_key(), call.principal.owner)
        result = _enter_proposal(writer, fact, embedding, contributor, settings)
        record_outcome(writer, now, origin, result.verdict)
        return result


def read_team_fact(content: str, what: str) -> str:
    """The text on one line and in the third person; raises InvalidInput if it cannot be stored."""
    line = " ".join(validate_text(content, what, MAX_TEAM_FACT_CHARS).split())
    return validate_text(restate_for_team(line), what, MAX_TEAM_FACT_CHARS)


def find_broken_rules(content: str) -> tuple[str, ...]:
    """The names of the rules that forbid sharing a text."""
    # These load large word lists.
    from remembrancer.guard.instructions.detector import detect_instructions
    from remembrancer.guard.persons.detector import detect_personal_data

    return tuple(dict.fromkeys((*detect_personal_data(content), *detect_instructions(content))))


def contributor_id(key: bytes, owner: Owner) -> str:
    """A keyed hash of the owner, the same for all their surfaces."""
    return hashlib.blake2b(owner.id.encode(), key=key, digest_size=16).hexdigest()


def withdraw_contributions(services: Services, owner: Owner, profile: Profile) -> str:
    """Remove an owner's contributions; returns their contributor id.

    Facts without any other contributor are removed; the others lose confidence.
    """
    tenant = Tenant(owner.tenant)
    settings = services.live_settings.get(tenant, profile)
    with services.store.open_team_writer(tenant) as writer:
        contributor = contributor_id(writer.load_contributor_key(), owner)
        affected = [
            one
            for fact_id in writer.list_contributed_facts(contributor)
            for one in (fact_id, *writer.list_conflicts(fact_id))
        ]
        writer.remove(writer.drop_contributions(contributor))
        for one in dict.fromkeys(affected):
            if writer.get_fact(one) is not None:
                reassess_fact(writer, one, services.clock.now(), settings)
    return contributor


def _enter_proposal(
    writer: TeamWriter,
    fact: TeamFact,
    embedding: Embedding,
    contributor: str,
    settings: TeamSettings,
) -> TeamProposalResult:
    same = find_same_fact(writer, fact, embedding, settings.dedup_threshold)
    if same is not None:
        return _corroborate(writer, same, contributor, fact.recorded_at, settings)
    writer.add(fact, embedding)
    writer.add_contribution(fact.id, contributor, fact.recorded_at)
    mark_contradictions(writer, fact, embedding)
    reassess_fact(writer, fact.id, fact.recorded_at, settings)
    approved = _get_fact(writer, fact.id).status is TeamStatus.APPROVED
    return _build_result(
        writer, ProposalOutcome.APPROVED if approved else ProposalOutcome.PENDING, fact.id
    )


def _build_result(writer: TeamWriter, verdict: ProposalOutcome, fact_id: str) -> TeamProposalResult:
    conflicts = tuple(writer.list_conflicts(fact_id))
    fact = _get_fact(writer, fact_id)
    return TeamProposalResult(
        verdict,
        fact_id,
        status=fact.status,
        conflicts=conflicts,
        needs_reviewer=needs_reviewer(fact.content),
    )


def find_same_fact(
    writer: TeamWriter,
    fact: TeamFact,
    embedding: Embedding,
    threshold: float,
    statuses: Sequence[TeamStatus] = tuple(TeamStatus),
) -> TeamFact | None:
    """The most similar fact that says the same, if it is at least this similar."""
    for known, similarity in _iter_similar(writer, fact, embedding, threshold, statuses):
        if judge(known.content, fact.content, similarity) is Agreement.SAME:
            return known
    return None


def mark_contradictions(writer: TeamWriter, fact: TeamFact, embedding: Embedding) -> None:
    """Record conflicts with related facts that contradict this one."""
    statuses = (TeamStatus.PENDING, TeamStatus.APPROVED)
    for known, similarity in _iter_similar(
        writer, fact, embedding, MIN_RELATED_SIMILARITY, statuses
    ):
        if judge(known.content, fact.content, similarity) is Agreement.CONTRADICTS:
            writer.add_conflict(known.id, fact.id, fact.recorded_at)


def _iter_similar(
    writer: TeamWriter,
    fact: TeamFact,
    embedding: Embedding,
    threshold: float,
    statuses: Sequence[TeamStatus],
) -> Iterator[tuple[TeamFact, float]]:
    """Other facts with these statuses and their similarity, the most similar first."""
    scored = [
        (one.fact, float(one.vector @ embedding.vector))
        for one in writer.load_embedded_facts(embedding.model, statuses)
        if one.fact.id != fact.id
    ]
    close = [one for one in scored if one[1] >= threshold]
    return iter(sorted(close, key=lambda one: (-one[1], one[0].id))[:MAX_COMPARED])


def reassess_fact(writer: TeamWriter, fact_id: str, now: datetime, settings: TeamSettings) -> None:
    """Recompute the confidence of a fact and its conflicts, and promote those that qualify."""
    for one in (fact_id, *writer.list_conflicts(fact_id)):
        fact = _get_fact(writer, one)
        conflicts, contributors = len(writer.list_conflicts(one)), writer.count_contributors(one)
        enough = settings.promote_at is not None and contributors >= settings.promote_at
        is_waiting = fact.status is TeamStatus.PENDING and enough and not conflicts
        promoted = is_waiting and not needs_reviewer(fact.content)
        if promoted:
            writer.change(one, {"status": TeamStatus.APPROVED, "decided_at": now})
        approved = promoted or fact.status is TeamStatus.APPROVED
        confidence = team_confidence(contributors, conflicts, approved=approved)
        writer.change(one, {"confidence": confidence})


def _get_fact(writer: TeamWriter, fact_id: str) -> TeamFact:
    fact = writer.get_fact(fact_id)
    assert fact is not None
    return fact


def _corroborate(
    writer: TeamWriter, fact: TeamFact, contributor: str, now: datetime, settings: TeamSettings
) -> TeamProposalResult:
    """Count a proposal of a known fact, unless the contributor has proposed it before."""
    if fact.status is TeamStatus.REJECTED:
        return _build_result(writer, ProposalOutcome.REJECTED_BEFORE, fact.id)
    if not writer.add_contribution(fact.id, contributor, now):
        return _build_result(writer, ProposalOutcome.KNOWN, fact.id)
    writer.change(fact.id, {"confirmed_at": now})
    reassess_fact(writer, fact.id, now, settings)
    pending = fact.status is TeamStatus.PENDING
    promoted = pending and _get_fact(writer, fact.id).status is TeamStatus.APPROVED
    return _build_result(
        writer, ProposalOutcome.APPROVED if promoted else ProposalOutcome.CORROBORATED, fact.id
    )
