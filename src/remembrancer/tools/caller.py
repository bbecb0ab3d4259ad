"""Who calls, and how much of their own memory they may name; nobody can name a user or a tenant."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from zoneinfo import ZoneInfo

from remembrancer.clock import as_utc
from remembrancer.errors import InvalidInput, NotAllowed
from remembrancer.memory import Memory
from remembrancer.profiles import Profile
from remembrancer.types import GLOBAL_SCOPE, Principal, validate_name


@dataclass(frozen=True, slots=True)
class Caller:
    """A person's memory in the hands of whoever calls; one with an agent is pinned to it.

    A date that names no time zone is in the person's, `time_zone`.
    """

    memory: Memory
    time_zone: str = "UTC"

    @property
    def principal(self) -> Principal:
        """For whom they call, and as which agent."""
        return self.memory.principal

    @property
    def profile(self) -> Profile:
        """The choices that hold for this caller."""
        return self.memory.profile

    @property
    def must_name_agent(self) -> bool:
        """Whether this caller has to say which agent it is, since agents are kept apart here."""
        apart = self.profile.scopes.visibility != "shared"
        return apart and self.principal.agent is None

    def acting_as(self, agent: str) -> Caller:
        """The same person's caller as one of their agents."""
        agent = validate_name(agent, "agent")
        self._check_agent(agent)
        return replace(self, memory=self.memory.acting_as(agent))

    def resolve_read_scope(self, scope: str | None) -> str | None:
        """The scope to look into; a pinned caller sees its own and the global, and no other."""
        if scope is None or self.principal.agent is None:
            return scope
        if scope != GLOBAL_SCOPE:
            self._check_agent(scope)
        return None

    def resolve_write_scope(self, scope: str | None) -> str | None:
        """The scope to store in: a pinned caller may share something, but not give it to others."""
        if scope is not None and scope != GLOBAL_SCOPE:
            self._check_agent(scope)
        return scope

    def to_utc(self, moment: datetime) -> datetime:
        """A moment in UTC; one that names no time zone is in the person's."""
        zone = moment.tzinfo or ZoneInfo(self.time_zone)
        try:
            return as_utc(moment.replace(tzinfo=zone))
        except OverflowError:
            raise InvalidInput("The date is too far away.") from None

    def _check_agent(self, name: str) -> None:
        own = self.principal.agent
        if own is None or name == own:
            return
        if self.profile.scopes.visibility == "nested" and name.startswith(f"{own}/"):
            return
        raise NotAllowed(f"You act as {own!r} and cannot name another agent.")
