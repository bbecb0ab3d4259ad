"""Remembrancer: an open store, the memories of its users, and administration."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import datetime, timedelta
from enum import Enum
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from remembrancer.access.account_links import AccountLinks
from remembrancer.access.idempotency import IdempotencyStore
from remembrancer.access.instances import (
    Instances,
    InstanceSettings,
    list_instances,
    validate_members,
)
from remembrancer.access.keys import Keys, NewKey
from remembrancer.access.login_links import LoginLinks
from remembrancer.access.time_zones import TimeZones
from remembrancer.call import Services
from remembrancer.clock import Clock, SystemClock
from remembrancer.errors import InvalidInput
from remembrancer.guard.redaction import refuse_secret_name
from remembrancer.learn.worker import Learner
from remembrancer.llm.models import Models
from remembrancer.maintenance import runner
from remembrancer.maintenance.runner import JobContext, JobResult, ScheduledJob
from remembrancer.memory import Memory
from remembrancer.recall.usage_counter import UsageCounter
from remembrancer.store.contract import ErasureExtent, Health, Store
from remembrancer.team.index import TeamIndexCache
from remembrancer.team.review import EDIT_CAPABILITY, VIEW_CAPABILITY, Review
from remembrancer.team.service import recall_anonymously
from remembrancer.team.settings import LiveSettings
from remembrancer.transfer.progress import ProgressCounter
from remembrancer.types import (
    Json,
    Key,
    Owner,
    Principal,
    TeamRecalled,
    Tenant,
    validate_name,
)

if TYPE_CHECKING:
    from remembrancer.config import Settings
    from remembrancer.embed import Embedder
    from remembrancer.erasure.erase import Inventory
    from remembrancer.erasure.receipts import Receipt
    from remembrancer.learn.pipeline import LearnedBatch
    from remembrancer.transfer.archive import Backup
    from remembrancer.transfer.restore import TransferResult
    from remembrancer.types import Progress


class ConfiguredUser(Enum):
    """Stands for the user that the configuration names."""

    NAME = "the configured user"


class Remembrancer:
    """An open store. Close it, or use it in a `with` block."""

    def __init__(
        self,
        settings: Settings,
        store: Store,
        embedder: Embedder,
        clock: Clock | None = None,
        models: Models | None = None,
    ) -> None:
        self.settings = settings
        clock = clock or SystemClock()
        self._services = Services(
            settings,
            store,
            embedder,
            clock,
            UsageCounter(store),
            models or Models(),
            LiveSettings(store),
            Instances(store),
            TeamIndexCache(),
            TimeZones(store, settings.time_zone),
        )
        self._jobs = JobContext(self._services)
        self._keys = Keys(store, clock)
        self.idempotency = IdempotencyStore(store, clock)
        self.account_links = AccountLinks(store, clock)
        self.login_links = LoginLinks(store, clock, self._keys)
        self._learner = Learner(self._services)

    @property
    def _store(self) -> Store:
        return self._services.store

    def for_user(
        self,
        user: str | ConfiguredUser = ConfiguredUser.NAME,
        *,
        tenant: str | None = None,
        agent: str | None = None,
        surface: str = "library",
        capabilities: Iterable[str] = (),
    ) -> Memory:
        """The memory of one user, by default of the configured one.

        `agent` names the assistant that acts for them.
        """
        owner = self._resolve_person(user, tenant)
        agent = validate_name(agent, "agent") if agent is not None else None
        for given in (agent, surface):
            refuse_secret_name(given)
        return self.for_principal(
            Principal(owner, agent, validate_name(surface, "surface"), frozenset(capabilities))
        )

    def for_principal(self, principal: Principal) -> Memory:
        """The memory of an authenticated caller, who is a person."""
        Owner.of_person(principal.owner.tenant, principal.owner.user)
        return Memory(self._services.build_call(principal, principal.agent), self._learner)

    def is_shared(self, agent: str | None) -> bool:
        """True if an agent's memories belong to the agent, for all users who have access to it."""
        owner = self._services.profile_of(agent).scopes.owner
        return agent is not None and owner == "instance"

    def for_namespace(self, namespace: Sequence[str], *, surface: str = "library") -> Memory:
        """The memory under a namespace (organisation, user, …); it reaches nothing outside it."""
        if isinstance(namespace, str):
            raise InvalidInput(f"A namespace is a list of labels: pass [{namespace!r}].")
        if len(namespace) < 2:
            raise InvalidInput("A namespace starts with an organisation and a user.")
        tenant, user, *path = namespace
        if any(not step or "/" in step for step in path):
            raise InvalidInput("Each part of a namespace must be non-empty and contain no slash.")
        agent = "/".join(path) or None
        return self.for_user(user, tenant=tenant, agent=agent, surface=surface)

    def team_recall(
        self, query: str, *, tenant: str | None = None, limit: int | None = None
    ) -> list[TeamRecalled]:
        """Search a team's memory anonymously, if the team's settings allow that."""
        return recall_anonymously(self._services, self._resolve_tenant(tenant), query, limit)

    def tells_anyone(self, *, tenant: str | None = None) -> bool:
        """True if the team's settings allow anonymous recall."""
        profile = self.settings.profile_for()
        settings = self._services.live_settings.get(self._resolve_tenant(tenant), profile)
        return profile.team.enabled and settings.can_recall(None)

    def review(
        self,
        reviewer: str | ConfiguredUser = ConfiguredUser.NAME,
        *,
        tenant: str | None = None,
        capabilities: Iterable[str] = (VIEW_CAPABILITY, EDIT_CAPABILITY),
    ) -> Review:
        """Administration of a team's memory; a surface passes its caller's capabilities."""
        owner = self._resolve_person(reviewer, tenant)
        principal = Principal(owner, None, "library", frozenset(capabilities))
        return Review(self._services, principal)

    def create_key(
        self,
        user: str | ConfiguredUser = ConfiguredUser.NAME,
        *,
        tenant: str | None = None,
        agent: str | None = None,
        capabilities: Iterable[str] = (),
        label: str | None = None,
        expires_at: datetime | None = None,
    ) -> NewKey:
        """Create an API key for a user or one of their agents; its secret is returned only here."""
        owner = self._resolve_person(user, tenant)
        return self._keys.create(
            owner, agent=agent, capabilities=capabilities, label=label, expires_at=expires_at
        )

    def create_session(self, owner: Owner, capabilities: Iterable[str], *, hours: float) -> NewKey:
        """Create a key for a browser session."""
        until = self._services.clock.now() + timedelta(hours=hours)
        return self._keys.create(
            owner, capabilities=capabilities, label="browser session", expires_at=until
        )

    def list_valid_digests(self) -> frozenset[str]:
        """The digests of all keys that open something now."""
        return self._keys.list_valid_digests()

    def list_keys(self, owner: Owner | None = None) -> list[Key]:
        """The keys of one user, or of all, newest first, without their secrets."""
        return self._keys.list(owner)

    def revoke_key(self, key_id: str, owner: Owner | None = None) -> Key:
        """Revoke a key; with `owner`, only if it belongs to them."""
        return self._keys.revoke(key_id, owner)

    def revoke_secret(self, secret: str) -> None:
        """Revoke the key with this secret, if there is one."""
        self._keys.revoke_secret(secret)

    def principal_of(self, secret: str, *, surface: str = "rest") -> Principal | None:
        """The principal of a key's secret, or None if the key is unknown, expired or revoked."""
        return self._keys.principal_of(secret, surface)

    def _resolve_person(self, user: str | ConfiguredUser, tenant: str | None) -> Owner:
        if user is None:  # a session without a user must not reach the configured user's data
            raise InvalidInput("The user is None, which names nobody. Pass a user.")
        name = self.settings.user if isinstance(user, ConfiguredUser) else user
        return Owner.of_person(self._resolve_tenant(tenant).name, name)

    def _resolve_tenant(self, name: str | None) -> Tenant:
        return Tenant(self.settings.tenant if name is None else name)

    def find_own_time_zone(self, owner: Owner) -> ZoneInfo | None:
        """The time zone that a user has set; None if they have set none."""
        return self._services.time_zones.get_own(owner)

    def find_time_zone(self, owner: Owner, default: str | None = None) -> ZoneInfo:
        """The zone that a user has set, else the default or that of the configuration."""
        own = self.find_own_time_zone(owner)
        return own or ZoneInfo(default or self.settings.time_zone)

    def now(self) -> datetime:
        """The current time of the store's clock."""
        return self._services.clock.now()

    def setting(self, key: str) -> Json:
        """A value stored for the tenant, such as the position of a bot in its update queue."""
        return self._store.system.get_setting(self._resolve_tenant(None), key)

    def change_setting(self, key: str, change: Callable[[Json], Json]) -> None:
        """Change a stored value atomically, for every process."""
        self._store.system.change_setting(self._resolve_tenant(None), key, change)

    def owners(self) -> list[Owner]:
        """All users who have stored something."""
        return [one for one in self._store.system.list_owners() if one.instance is None]

    def run_job(self, name: str, *, tenant: str | None = None) -> JobResult:
        """Run a recurring job now, for all users or for those of one tenant."""
        return runner.run(replace(self._jobs, tenant=tenant), name)

    def schedule(self) -> list[ScheduledJob]:
        """The schedule, last run and next due time of each job."""
        return runner.list_schedules(self._jobs)

    @property
    def models(self) -> Models:
        """The configured language models."""
        return self._services.models

    @property
    def embedding_model(self) -> str:
        """The name of the embedding model."""
        return self._services.embedder.model

    def reembed(
        self,
        progress: Progress | None = None,
        *,
        drop_old: bool = False,
        tenant: str | None = None,
    ) -> JobResult:
        """Compute the vectors that are missing after the embedding model changed."""
        work = replace(self._jobs, progress=progress, tenant=tenant)
        return runner.reembed(work, drop_old=drop_old)

    def tick(self, is_over: Callable[[], bool] = runner.never) -> list[JobResult]:
        """Run the jobs that are due, except those that another process is running.

        When `is_over` returns True, the remaining jobs stay due.
        """
        return runner.tick(self._jobs, is_over)

    def backup(self, path: str | Path | None = None, *, progress: Progress | None = None) -> Backup:
        """Write all memories into one private file and verify it.

        Writers are not blocked; each user and each team is consistent as of one moment. Without
        a path the file is named after the time, in the working directory.
        """
        from remembrancer.transfer import archive, rotation

        self.flush()
        now = self._services.clock.now()
        file = (
            Path(path).expanduser() if path is not None else Path.cwd() / rotation.backup_name(now)
        )
        return archive.write(self._store, file, now, ProgressCounter(progress))

    def backup_to_shelf(self) -> Backup:
        """Write a backup into the backup directory and delete the oldest beyond the retention."""
        from remembrancer.transfer import rotation

        self.flush()
        directory = self.settings.backup_directory()
        kept = self.settings.store.backup_retention
        return rotation.add_backup(self._store, directory, self._services.clock.now(), kept)

    def verify_backup(self, path: str | Path, *, progress: Progress | None = None) -> Backup:
        """Read a whole backup and check it; raises InvalidInput if it is damaged."""
        from remembrancer.transfer import archive

        return archive.verify(Path(path).expanduser(), ProgressCounter(progress))

    def restore_backup(
        self, path: str | Path, *, replace: bool = False, progress: Progress | None = None
    ) -> TransferResult:
        """Restore all users and teams of a backup; a damaged backup changes nothing.

        Raises Conflict if a user or team has other memories here, unless `replace` is set.
        """
        from remembrancer.transfer import restore

        self.flush()
        file = Path(path).expanduser()
        return restore.restore(file, self._store, replace=replace, steps=ProgressCounter(progress))

    def move_to(
        self, place: str | Path, *, replace: bool = False, progress: Progress | None = None
    ) -> TransferResult:
        """Copy all users and teams to another store, on either engine; nothing is removed."""
        from remembrancer.store.open import open_store_at
        from remembrancer.transfer import restore

        self.flush()
        target = open_store_at(self.settings, str(place), self._services.clock)
        try:
            return restore.move(
                self._store, target, replace=replace, steps=ProgressCounter(progress)
            )
        finally:
            target.close()

    def export(
        self, user: str, *, tenant: str | None = None, include_trash: bool = False
    ) -> Iterator[bytes]:
        """All data of a user as JSON lines, which `import_` reads back.

        What was forgotten, deleted or undone is left out, unless `include_trash` is set.
        """
        from remembrancer.transfer.person_export import export_person

        self.flush()
        owner = self._resolve_person(user, tenant)
        return export_person(self._store, owner, self.now(), include_trash=include_trash)

    def import_(
        self,
        user: str,
        lines: Iterable[bytes],
        *,
        tenant: str | None = None,
        replace: bool = False,
    ) -> int:
        """Import exported data as the memories of a user, all or nothing."""
        from remembrancer.transfer.person_export import import_person

        self.flush()
        owner = self._resolve_person(user, tenant)
        return import_person(self._store, owner, lines, replace=replace)

    def inventory(self, user: str, *, tenant: str | None = None) -> Inventory:
        """Count what erasing a user would remove; nothing is changed."""
        from remembrancer.erasure.erase import take_inventory

        self.flush()
        return take_inventory(self._services, self._resolve_person(user, tenant))

    def erase(
        self,
        user: str,
        *,
        tenant: str | None = None,
        contributions_only: bool = False,
        keep_account: bool = False,
        tell: Callable[[str], None] | None = None,
    ) -> Receipt:
        """Permanently remove all data of a user, or only their contributions to the team.

        Covers memories, sessions, vectors, keys and the backups made by the job; `keep_account`
        keeps keys and account links. Then it scans for traces; the receipt lists where. Calling it
        again finishes an interrupted erasure.
        """
        from remembrancer.erasure.erase import erase

        if contributions_only and keep_account:
            raise InvalidInput("Choose either contributions_only or keep_account.")
        self.flush()
        owner = self._resolve_person(user, tenant)
        extent = ErasureExtent.CONTRIBUTIONS if contributions_only else ErasureExtent.PERSON
        extent = ErasureExtent.MEMORIES if keep_account else extent
        return erase(self._services, owner, extent, tell=tell)

    def list_instances(self, principal: Principal) -> list[str]:
        """The instances that a caller can use, by name: stored, configured or with settings."""
        tenant, instances = principal.owner.tenant, self._services.instances
        known = {
            *list_instances(self._store.system.list_owners(), tenant),
            *instances.list_names(tenant),
            *self.settings.agents,
        }
        return sorted(one for one in known if instances.can_use(principal, one))

    def instance_settings(self, principal: Principal, name: str) -> InstanceSettings:
        """The settings of an instance; raises NotAllowed if the caller cannot use it."""
        self._services.instances.check_access(principal, name)
        return self._services.instances.get(principal.owner.tenant, name)

    def change_instance(
        self,
        principal: Principal,
        name: str,
        *,
        memory_enabled: bool | None = None,
        members: Iterable[str] | None = None,
        is_open: bool = False,
    ) -> InstanceSettings:
        """Change what is given; needs the capability `instances:admin`.

        `members` are the only users who have access; `is_open` gives all users access again.
        """
        self._services.instances.require_admin(principal, name)
        tenant = principal.owner.tenant
        changes: dict[str, Json] = {"members": None} if is_open else {}
        if members is not None:
            changes["members"] = validate_members(tenant, members)
        if memory_enabled is not None:
            changes["memory_enabled"] = memory_enabled
        return self._services.instances.change(tenant, validate_name(name, "instance"), changes)

    def share_instances(
        self, user: str | ConfiguredUser = ConfiguredUser.NAME, *, tenant: str | None = None
    ) -> int:
        """Copy what a user's own memory has of instances into the memories that users share.

        Returns the number of memories and messages; those that were copied before are left out.
        """
        from remembrancer.transfer.share_instances import share_instances

        return share_instances(self._services, self._resolve_person(user, tenant))

    def erase_instance(self, principal: Principal, name: str) -> Receipt:
        """Permanently remove an instance: its memories, conversations, settings and backups.

        Needs the capability `instances:admin`.
        """
        from remembrancer.erasure.erase import erase

        self._services.instances.require_admin(principal, name)
        self.flush()
        return erase(self._services, Owner.of_instance(principal.owner.tenant, name))

    def verify_receipt(self, receipt: Receipt) -> bool:
        """True if this store issued the receipt and nobody changed it."""
        from remembrancer.erasure.receipts import is_authentic

        return is_authentic(self._store, receipt)

    def health(self) -> Health:
        """The store's own health check."""
        return self._store.check_health()

    def check_writable(self) -> None:
        """Raise StoreUnavailable, with the reason, if a write would fail; nothing is stored."""
        self._store.check_writable()

    def flush(self) -> None:
        """Finish background work: recall counts, and learning that is due."""
        self._services.usage.flush()
        self._learner.drain()

    def collect_learned(self, owner: Owner) -> AbstractContextManager[list[LearnedBatch]]:
        """A block that collects what is learned for an owner in the background; flush inside it."""
        return self._learner.collect(owner)

    def close(self) -> None:
        """Write pending recall counts and close all connections.

        Learning that does not finish in a moment stays due for the next start.
        """
        self._learner.close()
        self._services.usage.close()
        self._services.models.close()
        self._store.close()

    def __enter__(self) -> Remembrancer:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
