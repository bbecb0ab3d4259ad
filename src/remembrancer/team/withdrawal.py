"""Takes back one person's contribution to a pending team fact."""

from __future__ import annotations

from typing import TYPE_CHECKING

from remembrancer.errors import Conflict, NotFound
from remembrancer.team.service import contributor_id, reassess_fact
from remembrancer.types import TeamFact, TeamStatus, Tenant

if TYPE_CHECKING:
    from remembrancer.call import Call


def withdraw(call: Call, fact_id: str) -> TeamFact:
    """Withdraw the caller's contribution; a fact without any other contributor is removed.

    Raises NotFound if the caller has not contributed to it, and Conflict if it is not pending.
    """
    tenant = Tenant(call.owner.tenant)
    settings = call.services.live_settings.get(tenant, call.profile)
    with call.store.open_team_writer(tenant) as writer:
        contributor = contributor_id(writer.load_contributor_key(), call.principal.owner)
        fact = writer.get_fact(fact_id)
        if fact is None or fact_id not in writer.list_contributed_facts(contributor):
            raise NotFound("You have not proposed this to the team.")
        if fact.status is not TeamStatus.PENDING:
            raise Conflict(f"It is {fact.status} already. A reviewer can change that.")
        affected = writer.list_conflicts(fact_id)
        if writer.drop_contribution(fact_id, contributor):
            affected.append(fact_id)
        else:
            writer.remove([fact_id])
        for one in affected:
            reassess_fact(writer, one, call.now(), settings)
        return fact
