"""The caller of a tool: checks which agents and scopes a call can name.

No tool takes a user or a tenant.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from zoneinfo import ZoneInfo

from remembrancer.clock import as_utc
from remembrancer.errors import InvalidInput, NotAllowed
from remembrancer.memory import Memory
from remembrancer.profiles import Profile
from remembrancer.types import GLOBAL_SCOPE, AsOf, Principal, TeamOrigin, validate_name


@dataclass(frozen=True, slots=True)
class Caller:
    """A memory as one caller sees it; a caller with an agent is pinned to that agent.

    A date without a time zone is read in `time_zone`, or else in the zone of the user.
    """

    memory: Memory
    time_zone: str | None = None
    team_origin: TeamOrigin = TeamOrigin.AGENT
    """Who authors what is proposed to the team: the user, if they ask our own assistant for it."""
    as_of: AsOf | None = None
    """The past moment that a reading tool looks back to."""

    @property
    def principal(self) -> Principal:
        return self.memory.principal

    @property
    def profile(self) -> Profile:
        return self.memory.profile

    @property
    def must_name_agent(self) -> bool:
        """True if agents have separate scopes here and the caller is not pinned to one."""
        separate = self.profile.scopes.visibility != "shared"
        return separate and self.principal.agent is None

    def acting_as(self, agent: str) -> Caller:
        """Return a caller for the same user, pinned to an agent."""
        agent = validate_name(agent, "agent")
        self._check_agent(agent)
        return replace(self, memory=self.memory.acting_as(agent))

    def resolve_read_scope(self, scope: str | None) -> str | None:
        """Return the scope to search; a pinned caller sees only its own and the global scope."""
        if scope is None or self.principal.agent is None:
            return scope
        if scope != GLOBAL_SCOPE:
            self._check_agent(scope)
        return None

    def resolve_write_scope(self, scope: str | None) -> str | None:
        """Return the scope to store in; a pinned caller can use its own and the global scope."""
        if scope is not None and scope != GLOBAL_SCOPE:
            self._check_agent(scope)
        return scope

    def looking_back(self, known: datetime | None, true: datetime | None) -> Caller:
        """Return a caller that reads what was known then, and what was true then."""
        if known is None and true is None:
            return self
        return replace(self, as_of=AsOf(known and self.to_utc(known), true and self.to_utc(true)))

    def to_utc(self, moment: datetime) -> datetime:
        zone = moment.tzinfo or ZoneInfo(self.time_zone or self.memory.time_zone())
        try:
            return as_utc(moment.replace(tzinfo=zone))
        except OverflowError:
            raise InvalidInput("The date is out of range.") from None

    def _check_agent(self, name: str) -> None:
        own = self.principal.agent
        if own is None or name == own:
            return
        if self.profile.scopes.visibility == "nested" and name.startswith(f"{own}/"):
            return
        raise NotAllowed(f"You act as {own!r} and cannot name another agent.")
