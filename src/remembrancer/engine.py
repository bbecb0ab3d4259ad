"""An open store and the engine over it: whose memory to hand out, and what concerns everyone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from remembrancer.access.account_links import AccountLinks
from remembrancer.access.idempotency import IdempotencyStore
from remembrancer.access.keys import Keys, NewKey
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
from remembrancer.store.contract import Health, Store
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
    from remembrancer.transfer.archive import Backup
    from remembrancer.transfer.restore import TransferResult
    from remembrancer.types import Progress


class Remembrancer:
    """An open store and the engine over it. Close it, or use it in a `with` block."""

    def __init__(
        self,
        settings: Settings,
        store: Store,
        embedder: Embedder,
        clock: Clock | None = None,
        models: Models | None = None,
    ) -> None:
        self.settings = settings
        self._store = store
        self._embedder = embedder
        self._clock = clock or SystemClock()
        self._usage = UsageCounter(store)
        self._models = models or Models()
        parts = Services(
            settings,
            store,
            embedder,
            self._clock,
            self._usage,
            self._models,
            LiveSettings(store),
            TeamIndexCache(),
        )
        self._work = JobContext(parts)
        self._keys = Keys(store, self._clock)
        self.idempotency = IdempotencyStore(store, self._clock)
        self.account_links = AccountLinks(store, self._clock)
        self._learner = Learner(parts)

    def for_user(
        self,
        user: str | None = None,
        *,
        tenant: str | None = None,
        agent: str | None = None,
        surface: str = "library",
        capabilities: Iterable[str] = (),
    ) -> Memory:
        """The memory of one person, and nobody else's; `agent` says who acts for them."""
        owner = Owner(
            self.settings.tenant if tenant is None else tenant,
            self.settings.user if user is None else user,
        )
        agent = validate_name(agent, "agent") if agent is not None else None
        for name in (agent, surface):
            refuse_secret_name(name)
        return self.for_principal(
            Principal(owner, agent, validate_name(surface, "surface"), frozenset(capabilities))
        )

    def for_principal(self, principal: Principal) -> Memory:
        """The memory of whoever is calling, as the agent that calls for them."""
        return Memory(self._work.services.build_call(principal, principal.agent), self._learner)

    def for_namespace(self, namespace: Sequence[str], *, surface: str = "library") -> Memory:
        """The memory under a namespace (organisation, user, …); it reaches nothing beside it."""
        if len(namespace) < 2:
            raise InvalidInput("A namespace starts with an organisation and a user.")
        tenant, user, *path = namespace
        if any(not step or "/" in step for step in path):
            raise InvalidInput("The parts of a namespace are not empty and have no slash in them.")
        agent = "/".join(path) or None
        return self.for_user(user, tenant=tenant, agent=agent, surface=surface)

    def team_recall(
        self, query: str, *, tenant: str | None = None, limit: int | None = None
    ) -> list[TeamRecalled]:
        """What a team knows, for nobody in particular, if the team's settings allow that."""
        return recall_anonymously(self._work.services, self._resolve_tenant(tenant), query, limit)

    def tells_anyone(self, *, tenant: str | None = None) -> bool:
        """Whether a team's settings let anyone ask what it knows."""
        profile = self.settings.profile_for()
        switches = self._work.services.live_settings.get(self._resolve_tenant(tenant), profile)
        return profile.team.enabled and switches.can_recall(None)

    def review(
        self,
        reviewer: str | None = None,
        *,
        tenant: str | None = None,
        capabilities: Iterable[str] = (VIEW_CAPABILITY, EDIT_CAPABILITY),
    ) -> Review:
        """A team's memory for whoever looks after it; a surface passes on what its caller may."""
        owner = Owner(self._resolve_tenant(tenant).name, reviewer or self.settings.user)
        principal = Principal(owner, None, "library", frozenset(capabilities))
        return Review(self._work.services, principal)

    def create_key(
        self,
        user: str | None = None,
        *,
        tenant: str | None = None,
        agent: str | None = None,
        capabilities: Iterable[str] = (),
        label: str | None = None,
        expires_at: datetime | None = None,
    ) -> NewKey:
        """A key that lets one person, or an agent of theirs, in; its secret is told once."""
        owner = Owner(
            self._resolve_tenant(tenant).name, self.settings.user if user is None else user
        )
        return self._keys.create(
            owner, agent=agent, capabilities=capabilities, label=label, expires_at=expires_at
        )

    def create_session(self, owner: Owner, capabilities: Iterable[str], *, hours: float) -> NewKey:
        """A key for a browser, for some hours."""
        until = self._clock.now() + timedelta(hours=hours)
        return self._keys.create(
            owner, capabilities=capabilities, label="browser session", expires_at=until
        )

    def list_keys(self, owner: Owner | None = None) -> list[Key]:
        """The keys of one person, or of everyone, newest first; never their secrets."""
        return self._keys.list(owner)

    def revoke_key(self, key_id: str, owner: Owner | None = None) -> Key:
        """Let a key open nothing any more; `owner`: only if it is theirs."""
        return self._keys.revoke(key_id, owner)

    def revoke_secret(self, secret: str) -> None:
        """Let the key with this secret open nothing any more, if there is one."""
        self._keys.revoke_secret(secret)

    def principal_of(self, secret: str, *, surface: str = "rest") -> Principal | None:
        """Who comes with a key's secret; None for every secret that opens nothing."""
        return self._keys.principal_of(secret, surface)

    def _resolve_tenant(self, name: str | None) -> Tenant:
        return Tenant(self.settings.tenant if name is None else name)

    def now(self) -> datetime:
        """The time by which everything here goes."""
        return self._clock.now()

    def setting(self, key: str) -> Json:
        """Something that is kept for the store as a whole, such as how far a bot has read."""
        return self._store.get_setting(self._resolve_tenant(None), key)

    def change_setting(self, key: str, change: Callable[[Json], Json]) -> None:
        """Change it for every process, while nobody else does."""
        self._store.change_setting(self._resolve_tenant(None), key, change)

    def owners(self) -> list[Owner]:
        """Everyone who has stored something here."""
        return self._store.list_owners()

    def run_job(self, name: str, *, tenant: str | None = None) -> JobResult:
        """Do a recurring job now, for everyone or for the people of one tenant."""
        return runner.run(replace(self._work, tenant=tenant), name)

    def schedule(self) -> list[ScheduledJob]:
        """When each job runs, when it was done last and when it is due next."""
        return runner.list_schedules(self._work)

    @property
    def models(self) -> Models:
        """The language models at hand."""
        return self._models

    @property
    def embedding_model(self) -> str:
        """The model that makes vectors here."""
        return self._embedder.model

    def reembed(
        self,
        progress: Progress | None = None,
        *,
        drop_old: bool = False,
        tenant: str | None = None,
    ) -> JobResult:
        """Compute the vectors that are missing after another model was configured."""
        work = replace(self._work, progress=progress, tenant=tenant)
        return runner.reembed(work, drop_old=drop_old)

    def tick(self, is_over: Callable[[], bool] = runner.never) -> list[JobResult]:
        """Do whatever is due by the configured schedule, unless another process is at it.

        As soon as `is_over` says so, the rest is left for the next time.
        """
        return runner.tick(self._work, is_over)

    def backup(self, path: str | Path | None = None, *, progress: Progress | None = None) -> Backup:
        """Write everyone's memories into one private file, and read it back before it counts.

        Others may go on writing; each person and each team is in it as of one moment. Without a
        path it is named after the time, in the working directory.
        """
        from remembrancer.transfer import archive, rotation

        self.flush()
        now = self._clock.now()
        file = (
            Path(path).expanduser() if path is not None else Path.cwd() / rotation.backup_name(now)
        )
        return archive.write(self._store, file, now, ProgressCounter(progress))

    def backup_to_shelf(self) -> Backup:
        """Write a backup to where the recurring ones are; the oldest give way to it."""
        from remembrancer.transfer import rotation

        self.flush()
        place = self.settings.data_directory() / "backups"
        kept = self.settings.store.backup_retention
        return rotation.add_backup(self._store, place, self._clock.now(), kept)

    def verify_backup(self, path: str | Path, *, progress: Progress | None = None) -> Backup:
        """Read a backup from its beginning to its end; an error says what is wrong with it."""
        from remembrancer.transfer import archive

        return archive.verify(Path(path).expanduser(), ProgressCounter(progress))

    def restore_backup(
        self, path: str | Path, *, replace: bool = False, progress: Progress | None = None
    ) -> TransferResult:
        """Bring back everyone in a backup; nothing is changed unless all of it is sound.

        Other memories of a person or a team here are a Conflict, unless they are to be replaced.
        """
        from remembrancer.transfer import restore

        self.flush()
        file = Path(path).expanduser()
        return restore.restore(file, self._store, replace=replace, steps=ProgressCounter(progress))

    def move_to(
        self, place: str | Path, *, replace: bool = False, progress: Progress | None = None
    ) -> TransferResult:
        """Copy everyone into another place, on the same engine or the other; nothing is removed."""
        from remembrancer.store.open import open_store_at
        from remembrancer.transfer import restore

        self.flush()
        target = open_store_at(self.settings, str(place), self._clock)
        try:
            return restore.move(
                self._store, target, replace=replace, steps=ProgressCounter(progress)
            )
        finally:
            target.close()

    def export(self, user: str, *, tenant: str | None = None) -> Iterator[bytes]:
        """Everything there is of a person, as lines of JSON that `import_` brings back."""
        from remembrancer.transfer.person_export import export_person

        self.flush()
        return export_person(self._store, Owner(self._resolve_tenant(tenant).name, user))

    def import_(
        self,
        user: str,
        lines: Iterable[bytes],
        *,
        tenant: str | None = None,
        replace: bool = False,
    ) -> int:
        """Bring in what was exported as the memories of a person, all of it or nothing."""
        from remembrancer.transfer.person_export import import_person

        self.flush()
        owner = Owner(self._resolve_tenant(tenant).name, user)
        return import_person(self._store, owner, lines, replace=replace)

    def inventory(self, user: str, *, tenant: str | None = None) -> Inventory:
        """What an erasure of a person would remove; nothing is changed."""
        from remembrancer.erasure.erase import take_inventory

        self.flush()
        return take_inventory(self._work.services, Owner(self._resolve_tenant(tenant).name, user))

    def erase(
        self,
        user: str,
        *,
        tenant: str | None = None,
        contributions_only: bool = False,
        tell: Callable[[str], None] | None = None,
    ) -> Receipt:
        """Remove everything of a person for good, or only what they told the team.

        It covers memories, conversations, vectors, keys and the backups made by the job; then it
        searches for what is left, and the receipt says where. An erasure that was interrupted is
        finished by asking again.
        """
        from remembrancer.erasure.erase import erase

        self.flush()
        owner = Owner(self._resolve_tenant(tenant).name, user)
        parts = self._work.services
        return erase(parts, owner, contributions_only=contributions_only, tell=tell)

    def verify_receipt(self, receipt: Receipt) -> bool:
        """Whether a receipt of an erasure was given out here, in these words."""
        from remembrancer.erasure.receipts import is_authentic

        return is_authentic(self._store, receipt)

    def health(self) -> Health:
        """What the store says about itself."""
        return self._store.check_health()

    def flush(self) -> None:
        """Finish what was left to the background: recall counts, and learning that is due."""
        self._usage.flush()
        self._learner.drain()

    def close(self) -> None:
        """Write what is waiting and give back all connections.

        What could not be learned in a moment stays due, and is learned the next time.
        """
        self._learner.close()
        self._usage.close()
        self._models.close()
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
