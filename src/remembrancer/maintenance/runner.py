"""Runs recurring jobs by their schedule, each under a lease, so that no two processes run it."""

from __future__ import annotations

import secrets
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING

from remembrancer.call import Call, Services
from remembrancer.cron import Cron
from remembrancer.errors import Conflict, InvalidInput, RemembrancerError
from remembrancer.maintenance import clock_watch, tasks
from remembrancer.remember.embedding import embed_missing
from remembrancer.remember.inversion import invert_misleading_rules
from remembrancer.store.contract import Lease, Visibility
from remembrancer.text_format import pluralize
from remembrancer.types import Action, Owner, Principal, Progress

if TYPE_CHECKING:
    from remembrancer.clock import Clock
    from remembrancer.config import Settings
    from remembrancer.store.contract import Store

LEASE_DURATION = timedelta(minutes=10)
"""The job renews its lease before this is over."""

KEY_RETENTION = timedelta(days=30)
"""Expired and revoked keys are listed for this long, then deleted."""

LEASE_DURATION_BY_JOB = {"backup": timedelta(hours=12)}
"""For jobs that are one long step and cannot renew their lease."""


@dataclass(frozen=True, slots=True)
class JobResult:
    """What a job did: how many memories or sessions it changed, and for how many people.

    `note` says what it logged beside its changes, or could not do.
    """

    job: str
    changed: int
    people: int
    failures: tuple[str, ...] = ()
    note: str | None = None


@dataclass(frozen=True, slots=True)
class ScheduledJob:
    """A job's cron expression, when it finished last and when it is due next."""

    job: str
    cron: str
    finished_at: datetime | None
    due_at: datetime | None


@dataclass(slots=True)
class JobContext:
    """The services that jobs need, and the holder of their leases.

    `faded` counts the memories that the running job has logged as faded.
    """

    services: Services
    holder: str = field(default_factory=lambda: secrets.token_hex(8))
    progress: Progress | None = None
    tenant: str | None = None
    """Only this tenant's people, or everyone if None."""
    faded: int = 0
    left: tuple[str, ...] = ()
    """What the running job could not overwrite of what was deleted, and why."""

    def owners(self) -> list[Owner]:
        everyone = self.store.system.list_owners()
        return [one for one in everyone if self.tenant in (None, one.tenant)]

    @property
    def settings(self) -> Settings:
        return self.services.settings

    @property
    def store(self) -> Store:
        return self.services.store

    @property
    def clock(self) -> Clock:
        return self.services.clock

    def call(self, owner: Owner, agent: str | None = None) -> Call:
        """A call on the owner's own behalf, with the profile of an agent or of the instance."""
        return self.services.build_call(Principal.for_jobs(owner), agent or owner.instance)

    def calls_by_scope(self, owner: Owner) -> Iterator[tuple[Call, Visibility]]:
        """Calls for each agent with its own settings, within its scope, and one for everything
        else.
        """
        agents = tuple(self.settings.agents) if owner.instance is None else ()
        for agent in agents:
            yield self.call(owner, agent), Visibility(scopes=(agent,))
        yield self.call(owner), Visibility(excluded_scopes=agents)


def never() -> bool:
    return False


def run(work: JobContext, name: str) -> JobResult:
    """Run a job now. Raises Conflict if another process is running it."""
    if name not in JOB_NAMES:
        raise InvalidInput(f"Unknown job {name!r}. Use one of {', '.join(JOB_NAMES)}.")
    return _run_leased(work, name, work.store.system.get_lease(name))


def reembed(work: JobContext, *, drop_old: bool) -> JobResult:
    """Embed every memory that lacks a vector and, with `drop_old`, delete those of other models."""
    outcome = run(work, "reembed")
    for owner in work.owners() if drop_old else ():
        with work.call(owner).open_writer() as writer:
            if not writer.list_unembedded(work.services.embedder.model, 1):
                writer.drop_vectors(keep_model=work.services.embedder.model)
    return outcome


def tick(work: JobContext, is_over: Callable[[], bool]) -> list[JobResult]:
    """Run the jobs that are due until `is_over`; those that another process runs are skipped.

    After a leap of the clock, those that would do harm if it were wrong wait.
    """
    if work.store.evict_erased():
        work.services.clear_embedding_cache()
    clock = clock_watch.look(work.store, work.clock.now())
    done: list[JobResult] = []
    for name in JOB_NAMES:
        cron = getattr(work.settings.jobs, name)
        lease = work.store.system.get_lease(name)
        if clock.waits_until is not None and name in JOBS_THAT_WAIT:
            continue
        if cron and _is_due(work, lease, cron) and not _is_held(work, name, lease):
            try:
                done.append(_run_leased(work, name, lease, is_over))
            except Conflict:
                continue
            except _OutOfTime:
                break
    return done


def list_schedules(work: JobContext) -> list[ScheduledJob]:
    return [_build_schedule(work, name) for name in JOB_NAMES]


def _build_schedule(work: JobContext, name: str) -> ScheduledJob:
    cron: str = getattr(work.settings.jobs, name)
    last = work.store.system.get_lease(name).finished_at
    now = work.clock.now()
    due = Cron.parse(cron).next_after(last) if cron and last and last <= now else None
    # A job that has never finished is due at once.
    return ScheduledJob(name, cron, last, due or (now if cron else None))


def _is_due(work: JobContext, lease: Lease, cron: str) -> bool:
    """True if it is time, or if the job finished at a time that is still to come."""
    last, now = lease.finished_at, work.clock.now()
    return last is None or last > now or Cron.parse(cron).next_after(last) <= now


def _is_held(work: JobContext, name: str, lease: Lease) -> bool:
    """True if another process runs the job; a lease from a clock that was ahead is void."""
    if lease.held_until is None:
        return False
    return timedelta() < lease.held_until - work.clock.now() <= 2 * _lease_duration(name)


def _lease_duration(name: str) -> timedelta:
    return LEASE_DURATION_BY_JOB.get(name, LEASE_DURATION)


class _OutOfTime(Exception):
    """No time is left for the rest of a job, which stays due."""


def _run_leased(
    work: JobContext, name: str, expected: Lease, is_over: Callable[[], bool] = never
) -> JobResult:
    """Run a job under its lease, which is renewed after each person."""
    lease = _take_lease(work, name, expected)
    changed = people = work.faded = 0
    work.left = ()
    failures: list[str] = []
    try:
        for step in _list_steps(work, name):
            if is_over():
                raise _OutOfTime
            try:
                number = step()
                changed, people = changed + number, people + (number > 0)
            except RemembrancerError as error:
                # An error for one person must not stop the job for the others.
                failures.append(f"{error.code}: {error}")
            lease = _take_lease(work, name, lease)
    except BaseException:
        work.store.system.release_lease(name, work.holder, None)
        raise
    work.store.system.release_lease(name, work.holder, work.clock.now())
    return JobResult(name, changed, people, tuple(failures), _build_note(work, name))


def _build_note(work: JobContext, name: str) -> str | None:
    """Say how many memories faded, or how many episodes wait for a model."""
    if work.left:
        return " ".join(work.left)
    if work.faded:
        return f"{pluralize(work.faded, 'memory', 'memories')} faded"
    if name != "consolidate" or work.services.models.smart is not None:
        return None
    from remembrancer.learn.consolidation.backlog import count_pending, describe_waiting

    waiting = count_pending(work.store, work.owners(), work.clock.now())
    return describe_waiting(waiting) if waiting else None


def _take_lease(work: JobContext, name: str, expected: Lease) -> Lease:
    until = work.clock.now() + _lease_duration(name)
    free = expected.holder == work.holder or not _is_held(work, name, expected)
    if not free or not work.store.system.acquire_lease(name, expected, work.holder, until):
        raise Conflict(f"{name} is already running in another process.")
    return Lease(work.holder, until, expected.finished_at)


def _list_steps(work: JobContext, name: str) -> list[Callable[[], int]]:
    if name in JOBS_PER_STORE:
        return [partial(JOBS_PER_STORE[name], work)]
    return [partial(JOBS_PER_OWNER[name], work, owner) for owner in work.owners()]


def _sweep(work: JobContext, owner: Owner) -> int:
    """The memories that expire or are revived, and the rules that become warnings; fading changes
    nothing.
    """
    scopes = list(work.calls_by_scope(owner))
    changed = sum(tasks.revive(call, visible) for call, visible in scopes)
    changed += sum(
        tasks.expire(call, visible) + invert_misleading_rules(call, visible)
        for call, visible in scopes
    )
    work.faded += tasks.note_fading(work.call(owner), scopes)
    return changed


def _close_sessions(work: JobContext, owner: Owner) -> int:
    archives = not clock_watch.must_wait(work.store, work.clock.now())
    return tasks.close_sessions(work.call(owner), archives=archives)


def _learn(work: JobContext, owner: Owner) -> int:
    from remembrancer.learn.queue import learn_due_sessions

    batches = learn_due_sessions(work.services, Principal.for_jobs(owner))
    return len({one.session_id for one in batches})


def _consolidate(work: JobContext, owner: Owner) -> int:
    if work.services.models.smart is None:
        return 0
    from remembrancer.learn.consolidation.run import consolidate, list_pending_scopes

    scopes = list_pending_scopes(work.call(owner))
    outcomes = [consolidate(work.call(owner, scope), scope) for scope in scopes]
    return sum(len(batch.ids) for outcome in outcomes for batch in outcome.batches)


def _tidy(work: JobContext) -> int:
    from remembrancer.erasure.erase import finish_abandoned

    work.services.usage.flush()
    finish_abandoned(work.services)
    now = work.clock.now()
    if not clock_watch.must_wait(work.store, now):
        work.store.system.drop_keys(now - KEY_RETENTION)
    if _has_deleted_since(work, work.store.system.get_lease("tidy").finished_at):
        work.left = work.store.scrub_deleted()
    return work.store.tidy()


def _has_deleted_since(work: JobContext, moment: datetime | None) -> bool:
    """True if memories were deleted for good since then, or if the clock was set back."""
    now = work.clock.now()
    since = None if moment is not None and moment > now else moment
    for owner in work.owners():
        with work.store.open_reader(owner) as reader:
            found = [reader.find_last_event(one, now) for one in (Action.DELETED, Action.PURGED)]
        if any(at is not None and (since is None or at >= since) for at in found):
            return True
    return False


def _back_up(work: JobContext) -> int:
    from remembrancer.transfer import rotation

    work.services.usage.flush()
    directory = work.settings.backup_directory()
    now, kept = work.clock.now(), work.settings.store.backup_retention
    if clock_watch.must_wait(work.store, now):
        kept = sys.maxsize
    return rotation.add_backup(work.store, directory, now, kept).people


JOBS_PER_OWNER: dict[str, Callable[[JobContext, Owner], int]] = {
    "decay_sweep": _sweep,
    "episode_cleanup": lambda work, owner: tasks.clean_episodes(work.call(owner)),
    "trash_purge": lambda work, owner: tasks.purge_trash(work.call(owner)),
    "close_sessions": _close_sessions,
    "learn": _learn,
    "consolidate": _consolidate,
    "reembed": lambda work, owner: embed_missing(work.call(owner), work.progress),
}
"""Jobs that run per person; they return the number of changes."""

JOBS_THAT_WAIT = ("decay_sweep", "episode_cleanup", "trash_purge")
"""Jobs that expire or delete by the clock alone."""

JOBS_PER_STORE: dict[str, Callable[[JobContext], int]] = {"tidy": _tidy, "backup": _back_up}
"""Jobs that run once for the whole store."""

JOB_NAMES = (*JOBS_PER_OWNER, *JOBS_PER_STORE)
