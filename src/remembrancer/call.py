"""A call: the services of an engine, and the principal on whose behalf they work."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import cache
from typing import TYPE_CHECKING

from remembrancer.clock import ManualClock
from remembrancer.embed.cache import CachedEmbedder
from remembrancer.errors import InvalidInput, ScopeRequired
from remembrancer.guard.lookalike_names import explain_lookalike, refuse_lookalike_name
from remembrancer.ids import new_id
from remembrancer.llm.models import Models
from remembrancer.store.contract import Embedding, Filter, Position, Visibility
from remembrancer.store.moments import SMALLEST_STEP
from remembrancer.types import (
    GLOBAL_SCOPE,
    JOBS_SURFACE,
    Action,
    AsOf,
    Event,
    Kind,
    Owner,
    Principal,
    Record,
    Status,
    Turn,
    to_as_of,
    validate_name,
)

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

    from remembrancer.access.instances import Instances
    from remembrancer.access.time_zones import TimeZones
    from remembrancer.clock import Clock
    from remembrancer.config import Settings
    from remembrancer.embed import Embedder
    from remembrancer.profiles import DecayPolicy, Profile
    from remembrancer.recall.usage_counter import UsageCounter
    from remembrancer.store.contract import Store, Writer
    from remembrancer.team.index import TeamIndexCache
    from remembrancer.team.settings import LiveSettings


ROOT_SCOPE = "/"
"""The scope of memories in no namespace below the user. No namespace can have this name."""


@cache
def _embedding_executor() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(8, "remembrancer-embed")


@dataclass(frozen=True, slots=True)
class Services:
    """The parts of an engine, shared by all of its calls."""

    settings: Settings
    store: Store
    embedder: Embedder
    clock: Clock
    usage: UsageCounter
    models: Models
    live_settings: LiveSettings
    instances: Instances
    team_indexes: TeamIndexCache
    time_zones: TimeZones
    profiles: dict[str | None, Profile] = field(default_factory=dict)

    def profile_of(self, agent: str | None = None) -> Profile:
        """The profile of an agent, built once."""
        own = agent if agent in self.settings.agents else None
        if own not in self.profiles:
            self.profiles[own] = self.settings.profile_for(own)
        return self.profiles[own]

    def clear_embedding_cache(self) -> None:
        """Drop all cached vectors: the cache does not know whose texts they are of."""
        if isinstance(self.embedder, CachedEmbedder):
            self.embedder.clear()

    def build_call(self, principal: Principal, agent: str | None = None) -> Call:
        """A call of this principal, with the profile of an agent.

        Raises NotAllowed if the memories belong to an instance that the principal cannot use.
        """
        self._check_agent_name(principal)
        call = Call(principal, self.profile_of(agent), self)
        instance = call.owner.instance
        if instance is None:
            return call
        self.instances.check_access(principal, instance)
        if principal.owner.instance is not None:
            return call
        return replace(call, author=self.instances.author_mark(principal.owner))

    def _check_agent_name(self, principal: Principal) -> None:
        """Raise InvalidInput for an agent without memories whose name looks like another one."""
        agent = principal.agent
        if agent is None or agent in self.settings.agents or explain_lookalike(agent) is None:
            return
        with self.store.open_reader(principal.owner) as reader:
            if all(agent not in (one.scope, one.agent) for one in reader.tally(self.clock.now())):
                refuse_lookalike_name(agent, "agent")


@dataclass(frozen=True, slots=True)
class Citation:
    """The message that made a model write, if it is known; `is_requested` if it asks for that."""

    turn: Turn | None
    is_requested: bool


@dataclass(frozen=True, slots=True)
class Call:
    """A principal, its profile and the services it uses.

    `author` is the mark of a person on what they write into an instance. What is stored cites the
    message of the `citation`.
    """

    principal: Principal
    profile: Profile
    services: Services
    author: str | None = None
    citation: Citation | None = None

    @property
    def store(self) -> Store:
        return self.services.store

    @property
    def embedder(self) -> Embedder:
        return self.services.embedder

    @property
    def models(self) -> Models:
        return self.services.models

    def without_models(self) -> Call:
        """The same call for a part of the work that uses no language model."""
        return replace(self, services=replace(self.services, models=Models()))

    def at(self, moment: datetime) -> Call:
        """The same call as if it were made at another time."""
        return replace(self, services=replace(self.services, clock=ManualClock(moment)))

    @property
    def owner(self) -> Owner:
        """Whose memories these are: the person's, or those of an instance that its users share."""
        own, agent = self.principal.owner, self.principal.agent
        if self.profile.scopes.owner == "person" or agent is None or own.instance is not None:
            return own
        return Owner.of_instance(own.tenant, agent)

    @property
    def is_memory_enabled(self) -> bool:
        """False if memory is off for the instance: no learning, and no memories in prompts."""
        name = self.owner.instance
        tenant = self.owner.tenant
        return name is None or self.services.instances.get(tenant, name).memory_enabled

    def open_writer(self, *, alone: bool = False) -> AbstractContextManager[Writer]:
        """The owner's only writer. Jobs work alone, and create no store for one who has none."""
        is_job = self.principal.surface == JOBS_SURFACE
        return self.store.open_writer(self.owner, create=not is_job, alone=alone or is_job)

    def decay_in(self, scope: str) -> DecayPolicy:
        """The decay of memories in a scope: that of the agent's profile, for every reader."""
        return self.services.profile_of(scope).decay

    def now(self) -> datetime:
        return self.services.clock.now()

    def load_zone(self) -> ZoneInfo:
        """The time zone of the person on whose behalf the call is made."""
        return self.services.time_zones.get(self.principal.owner)

    def embed(self, text: str) -> Embedding:
        """The vector of a text. Redact secrets first: the embedder may be a remote server."""
        return Embedding(self.embedder.model, self.embedder.embed([text])[0])

    def embed_in_background(self, text: str) -> Future[Embedding]:
        return _embedding_executor().submit(self.embed, text)

    def count_recalls(self, ids: Iterable[str]) -> None:
        """Count these memories as recalled, which extends their TTL if the profile says so."""
        ttl = self.profile.ttl
        times = ttl.max_times if ttl.extend_on_use else None
        self.services.usage.record_recalls(self.owner, ids, self.now(), extend_times=times)

    def new_event(
        self,
        action: Action,
        at: datetime,
        *,
        undoes: str | None = None,
        note: str | None = None,
        batch_id: str | None = None,
    ) -> Event:
        """An event of this principal; the store adds the changes. No note quotes a memory."""
        return Event(
            id=new_id("event", at),
            at=at,
            action=action,
            agent=self.principal.agent,
            surface=self.principal.surface,
            note=note,
            undoes=undoes,
            batch_id=batch_id,
        )

    def visible_filter(
        self,
        *,
        scope: str | None = None,
        kinds: tuple[Kind, ...] | None = None,
        as_of: AsOf | None = None,
    ) -> Filter:
        """A filter for everything that this principal can see."""
        as_of = as_of or AsOf()
        return Filter(
            now=self.now(),
            kinds=kinds or self.profile.recall.kinds,
            visible=self.resolve_visibility(scope),
            hides_trash=True,
            known_at=as_of.known,
            true_at=as_of.true,
        )

    def read_as_of(self, as_of: AsOf | datetime | None) -> AsOf | None:
        """The moments to look back to; what is known as of now includes changes that a wrong clock
        dated later, unless the moment is one of theirs.
        """
        then, now = to_as_of(as_of), self.now()
        if then is None or then.known is None or then.known < now:
            return then
        with self.store.open_reader(self.owner) as reader:
            last = reader.last_moment()
            if last is None or last <= then.known:
                return then
            until = Position(then.known + SMALLEST_STEP, "")
            earlier = reader.list_events(limit=1, after=until)
        is_among_them = bool(earlier) and earlier[0].at > now
        return then if is_among_them else AsOf(true=then.true or then.known)

    def resolve_visibility(self, scope: str | None = None) -> Visibility:
        """The scopes that can be read: the requested one if allowed, else the principal's own."""
        own = self.principal.agent
        wanted = validate_name(scope, "scope") if scope is not None else own
        match self.profile.scopes.visibility:
            case "shared":
                if wanted is None:
                    return Visibility()
                return Visibility(scopes=(GLOBAL_SCOPE, wanted), episode_scopes=(wanted,))
            case "isolated":
                return Visibility(scopes=(self._check_isolated_scope(wanted),))
            case "nested":
                self._check_below(own, wanted)
                return Visibility(path_prefix=wanted)

    def resolve_write_scope(self, scope: str | None = None) -> str:
        """The scope of a new memory."""
        own = self.principal.agent
        wanted = validate_name(scope, "scope") if scope is not None else None
        match self.profile.scopes.visibility:
            case "isolated":
                return self._check_isolated_scope(wanted or own)
            case "nested":
                self._check_below(own, wanted or own)
                return wanted or own or ROOT_SCOPE
            case "shared":
                usual = own if self.profile.scopes.write == "own" else None
                return wanted or usual or GLOBAL_SCOPE

    def can_see(self, record: Record) -> bool:
        """True if this principal can read the memory, and its days in the trash are not over."""
        if record.status is Status.TRASHED and not self.is_within_trash_period(record):
            return False
        return self.can_read_scope(record.scope, record.kind)

    def can_read_scope(self, scope: str, kind: Kind | None = None) -> bool:
        return self.resolve_visibility().contains(scope, kind)

    def is_within_trash_period(self, trashed: Record) -> bool:
        """True until the trash period ends; after it the memory counts as purged."""
        days = timedelta(days=self.profile.deletion.trash_days)
        return trashed.retired_at is None or self.now() < trashed.retired_at + days

    def _check_isolated_scope(self, wanted: str | None) -> str:
        own = self.principal.agent
        if wanted is None or (own is None and self.profile.scopes.owner == "instance"):
            raise ScopeRequired(
                f"The profile {self.profile.name!r} isolates instances: pass the instance as agent."
            )
        if own is not None and wanted != own:
            raise InvalidInput(
                f"The instance {own!r} cannot read or write another instance's memories."
            )
        return wanted

    def _check_below(self, own: str | None, wanted: str | None) -> None:
        if own is not None and not f"{wanted}/".startswith(f"{own}/"):
            raise InvalidInput(f"The namespace {wanted!r} is not below {own!r}.")
