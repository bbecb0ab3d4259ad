"""What a team knew at a moment: the facts that were approved then, in their wording of then."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from remembrancer.store.team_contract import EmbeddedTeamFact, TeamState
from remembrancer.team.index import TeamIndex, build_index
from remembrancer.types import TeamFact, TeamStatus, Tenant

if TYPE_CHECKING:
    from remembrancer.call import Services
    from remembrancer.store.team_contract import TeamWriter


def keep_approved(writer: TeamWriter, fact: TeamFact, now: datetime) -> None:
    """Store what an approved fact says before it changes; what is not approved, nobody is told."""
    if fact.status is TeamStatus.APPROVED:
        since = fact.approved_at
        writer.keep_state(
            TeamState(fact.id, fact.content, fact.importance, fact.confidence, since, now)
        )


def load_index(services: Services, tenant: Tenant, known: datetime | None) -> TeamIndex:
    """The approved facts of a team, now or at a moment."""
    model = services.embedder.model
    with services.store.open_team_reader(tenant) as reader:
        if known is None:
            return services.team_indexes.get(reader, tenant, model)
        version = reader.read_version()
        found = reader.load_embedded_facts(model, tuple(TeamStatus))
        states = find_first_states(reader.list_states_after(known))
    then = [
        replace(one, fact=fact)
        for one in found
        if (fact := restore_fact(one.fact, states.get(one.fact.id), known)) is not None
    ]
    return build_index(version, _embed_reworded(services, found, then))


def find_first_states(states: Iterable[TeamState]) -> dict[str, TeamState]:
    """The first of the states of each fact."""
    first: dict[str, TeamState] = {}
    for one in states:
        first.setdefault(one.fact_id, one)
    return first


def restore_fact(fact: TeamFact, state: TeamState | None, known: datetime) -> TeamFact | None:
    """The fact as it was approved at a moment, or None; `state` is the first that ended later."""
    if state is None:
        is_known = fact.status is TeamStatus.APPROVED and fact.approved_at <= known
        return fact if is_known else None
    if state.since > known:
        return None
    return replace(
        fact,
        status=TeamStatus.APPROVED,
        content=state.content,
        importance=state.importance,
        confidence=state.confidence,
        decided_at=state.since,
    )


def _embed_reworded(
    services: Services, found: Iterable[EmbeddedTeamFact], then: Iterable[EmbeddedTeamFact]
) -> list[EmbeddedTeamFact]:
    """Give facts whose wording has changed since the vector of their wording then."""
    current: Mapping[str, str] = {one.fact.id: one.fact.content for one in found}
    then = list(then)
    reworded = {
        one.fact.id: one.fact.content for one in then if one.fact.content != current[one.fact.id]
    }
    if not reworded:
        return then
    vectors = dict(zip(reworded, services.embedder.embed([*reworded.values()]), strict=True))
    return [replace(one, vector=vectors.get(one.fact.id, one.vector)) for one in then]
