"""What every verb works with: the parts of the engine, and on whose behalf it is called."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cache
from typing import TYPE_CHECKING

from remembrancer.embed.cache import CachedEmbedder
from remembrancer.errors import InvalidInput, ScopeRequired
from remembrancer.ids import new_id
from remembrancer.store.contract import Embedding, Filter, Visibility
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
    validate_name,
)

if TYPE_CHECKING:
    from remembrancer.clock import Clock
    from remembrancer.config import Settings
    from remembrancer.embed import Embedder
    from remembrancer.llm.models import Models
    from remembrancer.profiles import DecayPolicy, Profile
    from remembrancer.recall.usage_counter import UsageCounter
    from remembrancer.store.contract import Store, Writer
    from remembrancer.team.index import TeamIndexCache
    from remembrancer.team.settings import LiveSettings


ROOT_SCOPE = "/"
"""The scope of what lies in no namespace below the user: no namespace can be called that."""


@cache
def _embedding_executor() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(8, "remembrancer-embed")


@dataclass(frozen=True, slots=True)
class Call:
    """One principal at work."""

    principal: Principal
    profile: Profile
    store: Store
    embedder: Embedder
    clock: Clock
    usage: UsageCounter
    models: Models
    live_settings: LiveSettings
    team_indexes: TeamIndexCache
    profile_of: Callable[[str | None], Profile]

    @property
    def owner(self) -> Owner:
        """Whose memory this is."""
        return self.principal.owner

    def open_writer(self) -> AbstractContextManager[Writer]:
        """The only writer of this memory; what happens by itself makes none for who has none."""
        return self.store.open_writer(self.owner, create=self.principal.surface != JOBS_SURFACE)

    def decay_in(self, scope: str) -> DecayPolicy:
        """How memories of a scope fade: by the profile of the agent it belongs to, if it has one.

        What is judged by it ends at the same moment for whoever looks.
        """
        return self.profile_of(scope).decay

    def now(self) -> datetime:
        """The time by the engine's clock."""
        return self.clock.now()

    def embed(self, text: str) -> Embedding:
        """The vector of a text that holds no secret: the embedder may be someone else's server."""
        return Embedding(self.embedder.model, self.embedder.embed([text])[0])

    def embed_in_background(self, text: str) -> Future[Embedding]:
        """The vector of a text, computed while the caller does something else."""
        return _embedding_executor().submit(self.embed, text)

    def count_recalls(self, ids: Iterable[str]) -> None:
        """Note that these memories were used, which may extend their lives."""
        extend = self.profile.ttl.extend_on_use
        self.usage.record_recalls(self.owner, ids, self.now(), extend=extend)

    def new_event(
        self,
        action: Action,
        at: datetime,
        *,
        undoes: str | None = None,
        note: str | None = None,
    ) -> Event:
        """An event of this principal, to be filled by the store; a note holds no memory's words."""
        return Event(
            id=new_id("event", at),
            at=at,
            action=action,
            agent=self.principal.agent,
            surface=self.principal.surface,
            note=note,
            undoes=undoes,
        )

    def visible_filter(
        self,
        *,
        scope: str | None = None,
        kinds: tuple[Kind, ...] | None = None,
        as_of: AsOf | None = None,
    ) -> Filter:
        """What this principal may see of the wanted kinds, at the wanted moment."""
        as_of = as_of or AsOf()
        return Filter(
            now=self.now(),
            kinds=kinds or self.profile.recall.kinds,
            visible=self.resolve_visibility(scope),
            known_at=as_of.known,
            true_at=as_of.true,
        )

    def resolve_visibility(self, scope: str | None = None) -> Visibility:
        """The scopes that can be read: the asked one if it may be, else the principal's own."""
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
        """The scope that a new memory goes to."""
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
        """Whether a memory is within what this principal may read, and not gone from the trash."""
        if record.status is Status.TRASHED and not self.is_within_trash_period(record):
            return False
        return self.can_read_scope(record.scope, record.kind)

    def can_read_scope(self, scope: str, kind: Kind | None = None) -> bool:
        """Whether a scope is among those that this principal may read, for that kind."""
        return self.resolve_visibility().contains(scope, kind)

    def is_within_trash_period(self, trashed: Record) -> bool:
        """Whether the days in the trash are not over; after them it is as good as purged."""
        days = timedelta(days=self.profile.deletion.trash_days)
        return trashed.retired_at is None or self.now() < trashed.retired_at + days

    def _check_isolated_scope(self, wanted: str | None) -> str:
        own = self.principal.agent
        if wanted is None:
            raise ScopeRequired(
                f"The profile {self.profile.name!r} keeps instances apart: say which calls."
            )
        if own is not None and wanted != own:
            raise InvalidInput(f"The instance {own!r} cannot reach the memories of another one.")
        return wanted

    def _check_below(self, own: str | None, wanted: str | None) -> None:
        if own is not None and not f"{wanted}/".startswith(f"{own}/"):
            raise InvalidInput(f"The namespace {wanted!r} is not below {own!r}.")


@dataclass(frozen=True, slots=True)
class Services:
    """What an engine is made of: every call on it works with the same parts."""

    settings: Settings
    store: Store
    embedder: Embedder
    clock: Clock
    usage: UsageCounter
    models: Models
    live_settings: LiveSettings
    team_indexes: TeamIndexCache
    profiles: dict[str | None, Profile] = field(default_factory=dict)

    def profile_of(self, agent: str | None = None) -> Profile:
        """The profile by which an agent works, put together once."""
        own = agent if agent in self.settings.agents else None
        if own not in self.profiles:
            self.profiles[own] = self.settings.profile_for(own)
        return self.profiles[own]

    def clear_embedding_cache(self) -> None:
        """Let go of the vectors of texts: nobody knows whose they are."""
        if isinstance(self.embedder, CachedEmbedder):
            self.embedder.clear()

    def build_call(self, principal: Principal, agent: str | None = None) -> Call:
        """A principal at work, by the profile of an agent."""
        return Call(
            principal,
            self.profile_of(agent),
            self.store,
            self.embedder,
            self.clock,
            self.usage,
            self.models,
            self.live_settings,
            self.team_indexes,
            self.profile_of,
        )
