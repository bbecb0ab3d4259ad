"""Work that recurs: what it is, when it is due, and that only one process does it at a time."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING

from remembrancer.call import Call, Parts
from remembrancer.cron import Cron
from remembrancer.errors import Conflict, InvalidInput, RemembrancerError
from remembrancer.maintenance import tasks
from remembrancer.remember.embedding import embed_anew
from remembrancer.store.contract import Lease, Visibility
from remembrancer.types import JOBS as SURFACE
from remembrancer.types import Owner, Principal, Progress

if TYPE_CHECKING:
    from remembrancer.clock import Clock
    from remembrancer.config import Settings
    from remembrancer.store.contract import Store

HELD = timedelta(minutes=10)
"""For how long a job is taken; whoever is still at it takes it again before."""

KEYS_KEPT = timedelta(days=30)
"""For how long it can be seen that there was a key that opens nothing any more."""

HELD_LONG = {"backup": timedelta(hours=12)}
"""Of jobs that are one long step, during which nobody takes them again."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a job did: how many memories or conversations it changed, of how many people."""

    job: str
    changed: int
    people: int
    failures: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Scheduled:
    """When a job runs by the schedule, when it was done last and when it is due next."""

    job: str
    cron: str
    finished_at: datetime | None
    due_at: datetime | None


@dataclass(slots=True)
class Work:
    """The parts of the engine that jobs need, and the lease that lets one of them run."""

    parts: Parts
    holder: str = field(default_factory=lambda: secrets.token_hex(8))
    progress: Progress | None = None
    tenant: str | None = None
    """Whose people are looked after, if not everyone."""

    def owners(self) -> list[Owner]:
        """Those who are looked after."""
        everyone = self.store.owners()
        return [one for one in everyone if self.tenant in (None, one.tenant)]

    @property
    def settings(self) -> Settings:
        """What is configured."""
        return self.parts.settings

    @property
    def store(self) -> Store:
        """Where memories live."""
        return self.parts.store

    @property
    def clock(self) -> Clock:
        """What tells the time."""
        return self.parts.clock

    def call(self, owner: Owner, agent: str | None = None) -> Call:
        """On behalf of nobody but the person themselves, with the profile of an agent."""
        return self.parts.call(Principal(owner, None, SURFACE), agent)

    def calls(self, owner: Owner) -> Iterator[tuple[Call, Visibility]]:
        """Agents with rules of their own, each for its scope, and everything else."""
        agents = tuple(self.settings.agents)
        for agent in agents:
            yield self.call(owner, agent), Visibility(scopes=(agent,))
        yield self.call(owner), Visibility(without=agents)


def never() -> bool:
    """Jobs may take as long as they need."""
    return False


def run(work: Work, name: str) -> Outcome:
    """Do a job now, unless another process is at it."""
    if name not in JOBS:
        raise InvalidInput(f"There is no job {name!r}: use one of {', '.join(JOBS)}.")
    return _leased(work, name, work.store.lease(name))


def reembed(work: Work, *, drop_old: bool) -> Outcome:
    """Give everyone the vectors they miss and, if wanted, drop those of other models."""
    outcome = run(work, "reembed")
    for owner in work.owners() if drop_old else ():
        with work.call(owner).writing() as writer:
            if not writer.unembedded(work.parts.embedder.model, 1):
                writer.drop_vectors(besides=work.parts.embedder.model)
    return outcome


def tick(work: Work, is_over: Callable[[], bool]) -> list[Outcome]:
    """Do whatever is due by the schedule, until it is over; what others are at is left to them."""
    if work.store.let_go():
        work.parts.forget()
    done: list[Outcome] = []
    for name in JOBS:
        expression = getattr(work.settings.jobs, name)
        lease = work.store.lease(name)
        if expression and _is_due(work, lease, expression) and not _is_held(work, lease):
            try:
                done.append(_leased(work, name, lease, is_over))
            except Conflict:
                continue
            except _Over:
                break
    return done


def schedule(work: Work) -> list[Scheduled]:
    """When each job runs."""
    return [_scheduled(work, name) for name in JOBS]


def _scheduled(work: Work, name: str) -> Scheduled:
    expression: str = getattr(work.settings.jobs, name)
    last = work.store.lease(name).finished_at
    due = Cron.parse(expression).next_after(last) if expression and last else None
    # What was never done is due at once.
    return Scheduled(name, expression, last, due or (work.clock.now() if expression else None))


def _is_due(work: Work, lease: Lease, expression: str) -> bool:
    last = lease.finished_at
    return last is None or Cron.parse(expression).next_after(last) <= work.clock.now()


def _is_held(work: Work, lease: Lease) -> bool:
    return lease.held_until is not None and lease.held_until > work.clock.now()


class _Over(Exception):
    """There is no time for the rest of a job, which stays due."""


def _leased(work: Work, name: str, seen: Lease, is_over: Callable[[], bool] = never) -> Outcome:
    """Do a job while holding its lease, which is taken anew after each person."""
    taken = _taken(work, name, seen)
    changed = people = 0
    failures: list[str] = []
    try:
        for step in _steps(work, name):
            if is_over():
                raise _Over
            try:
                number = step()
                changed, people = changed + number, people + (number > 0)
            except RemembrancerError as error:
                # One person's trouble must not keep the others from being looked after.
                failures.append(f"{error.code}: {error}")
            taken = _taken(work, name, taken)
    except BaseException:
        work.store.finish(name, work.holder, None)
        raise
    work.store.finish(name, work.holder, work.clock.now())
    return Outcome(name, changed, people, tuple(failures))


def _taken(work: Work, name: str, seen: Lease) -> Lease:
    until = work.clock.now() + HELD_LONG.get(name, HELD)
    free = seen.holder == work.holder or not _is_held(work, seen)
    if not free or not work.store.take(name, seen, work.holder, until):
        raise Conflict(f"Another process is at the job {name}; it will be done.")
    return Lease(work.holder, until, seen.finished_at)


def _steps(work: Work, name: str) -> list[Callable[[], int]]:
    if name in ONCE:
        return [partial(ONCE[name], work)]
    return [partial(EACH[name], work, owner) for owner in work.owners()]


def _expire(work: Work, owner: Owner) -> int:
    return sum(tasks.expire(call, visible) for call, visible in work.calls(owner))


def _learn(work: Work, owner: Owner) -> int:
    from remembrancer.learn.queue import learn_what_is_due

    return learn_what_is_due(work.parts, Principal(owner, None, SURFACE))


def _consolidate(work: Work, owner: Owner) -> int:
    if work.parts.models.smart is None:
        return 0
    from remembrancer.learn.consolidation.run import consolidate, scopes_waiting

    scopes = scopes_waiting(work.call(owner))
    outcomes = [consolidate(work.call(owner, scope), scope) for scope in scopes]
    return sum(len(batch.ids) for outcome in outcomes for batch in outcome.batches)


def _tidy(work: Work) -> int:
    from remembrancer.erasure.erase import finish_abandoned

    work.parts.references.flush()
    finish_abandoned(work.parts)
    work.store.drop_keys(work.clock.now() - KEYS_KEPT)
    return work.store.tidy()


def _back_up(work: Work) -> int:
    from remembrancer.transfer import rotation

    work.parts.references.flush()
    directory = work.settings.data_directory() / "backups"
    kept = work.settings.store.backups_kept
    return rotation.add(work.store, directory, work.clock.now(), kept).people


EACH: dict[str, Callable[[Work, Owner], int]] = {
    "decay_sweep": _expire,
    "episode_cleanup": lambda work, owner: tasks.clean_episodes(work.call(owner)),
    "trash_purge": lambda work, owner: tasks.purge_trash(work.call(owner)),
    "close_sessions": lambda work, owner: tasks.close_sessions(work.call(owner)),
    "learn": _learn,
    "consolidate": _consolidate,
    "reembed": lambda work, owner: embed_anew(work.call(owner), work.progress),
}
"""What is done for each person; tells how much was changed."""

ONCE: dict[str, Callable[[Work], int]] = {"tidy": _tidy, "backup": _back_up}
"""What is done for all of the store at once."""

JOBS = (*EACH, *ONCE)
