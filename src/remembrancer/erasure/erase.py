"""Erases a person everywhere, then scans for what is left.

Each step is idempotent, so an interrupted erasure is finished by the next call. An erasure cannot
be undone, and learning in progress for an erased person is dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from remembrancer.erasure.instance_rows import count_authored, remove_authored
from remembrancer.erasure.receipts import Receipt, sign_receipt
from remembrancer.errors import UnknownPerson
from remembrancer.ids import new_id
from remembrancer.store import trace_scan
from remembrancer.store.contract import Erasure, ScanResult, TraceTerms
from remembrancer.store.erasure_marks import erasure_mark
from remembrancer.store.row_counts import RowSample, count_keys, count_rows, sample_rows
from remembrancer.team.service import contributor_id, withdraw_contributions
from remembrancer.transfer.strip_person import (
    PersonMarks,
    find_backups_with,
    strip_from_backups,
)
from remembrancer.types import Owner, Tenant

if TYPE_CHECKING:
    from remembrancer.call import Services


ABANDONED_AFTER = timedelta(minutes=10)

StepListener = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Inventory:
    """A person's data: rows by table, keys, backups, and contributions to the team.

    `team_facts` is the number of facts without another contributor; they are erased too. `shared`
    is the number of messages and memories that they wrote into instances.
    """

    rows: Mapping[str, int]
    keys: int
    contributions: int
    team_facts: int
    backups: int
    shared: int = 0

    @property
    def empty(self) -> bool:
        return not (self.rows or self.keys or self.contributions or self.backups or self.shared)


def take_inventory(services: Services, owner: Owner) -> Inventory:
    """Count what an erasure would remove, without changing anything."""
    return _build_inventory(services, owner, count_rows(services.store, owner))


def _build_inventory(services: Services, owner: Owner, rows: Mapping[str, int]) -> Inventory:
    contributed, sole = _count_contributions(services, owner)
    return Inventory(
        rows=rows,
        keys=count_keys(services.store, owner),
        contributions=contributed,
        team_facts=sole,
        backups=len(find_backups_with(_backup_directory(services), owner)),
        shared=count_authored(services, owner),
    )


def erase(
    services: Services,
    owner: Owner,
    *,
    contributions_only: bool = False,
    tell: StepListener | None = None,
) -> Receipt:
    """Erase a person, or only their contributions to the team, then scan for what is left."""
    tell = tell or (lambda _: None)
    instances: tuple[Owner, ...] = ()
    erasure, traces = _begin_erasure(services, owner, contributions_only=contributions_only)
    if not contributions_only:
        tell("Removing memories, conversations, vectors and keys.")
        services.store.delete_owner(owner)
        services.clear_embedding_cache()
        instances = _leave_instances(services, owner)
    tell("Withdrawing contributions to the team.")
    who = withdraw_contributions(services, owner, services.profile_of())
    tell("Rewriting backups.")
    author = services.instances.author_mark(owner)
    marks = PersonMarks(who, author)
    backups = strip_from_backups(
        _backup_directory(services), owner, marks, contributions_only=contributions_only
    )
    tell("Vacuuming shared files and scanning for traces.")
    # From here on the record names no one, so the scan can cover it too.
    services.store.system.save_erasure(replace(erasure, user=None, traces=()))
    left = [*backups.unreadable, *services.store.scrub(instances)]
    traces = replace(traces, ids=(*traces.ids, who, *(() if contributions_only else (author,))))
    found = _search_traces(services, None if contributions_only else owner, traces)
    done = replace(erasure, user=None, traces=(), finished_at=services.clock.now())
    services.store.system.save_erasure(erasure if any(one.found for one in found) else done)
    return sign_receipt(
        services.store, _build_receipt(owner, done, traces, found, left, backups.rewritten)
    )


def _leave_instances(services: Services, owner: Owner) -> tuple[Owner, ...]:
    """Remove a person from all instances, or the settings of an instance that is erased."""
    if owner.instance is not None:
        services.instances.forget(owner.tenant, owner.instance)
        return ()
    services.instances.forget_member(owner)
    return remove_authored(services, owner)


def finish_abandoned(services: Services) -> int:
    """Finish erasures that were interrupted; returns their number."""
    since = services.clock.now() - ABANDONED_AFTER
    abandoned = [
        one
        for one in services.store.system.list_erasures()
        if one.finished_at is None and one.begun_at < since
    ]
    for one in abandoned:
        if one.user is not None:
            only = one.contributions_only
            erase(services, Owner(one.tenant, one.user), contributions_only=only)
        else:  # only the record of the erasure is left to vacuum
            services.store.scrub()
            services.store.system.save_erasure(replace(one, finished_at=services.clock.now()))
    return len(abandoned)


def _begin_erasure(
    services: Services, owner: Owner, *, contributions_only: bool
) -> tuple[Erasure, TraceTerms]:
    """The unfinished erasure of this person, or a new one."""
    mark = erasure_mark(services.store, owner)
    for one in services.store.system.list_erasures():
        is_pending = one.finished_at is None and one.contributions_only == contributions_only
        if is_pending and one.mark == mark:
            return replace(one, user=owner.user), TraceTerms(one.traces)
    found = sample_rows(services.store, owner) if not contributions_only else RowSample()
    inventory = _build_inventory(services, owner, dict(found.counts))
    if inventory.empty and owner not in services.store.system.list_owners():
        raise UnknownPerson(f"{owner.user} of {owner.tenant} is unknown.")
    own = {**inventory.rows, "keys": inventory.keys, "instance_rows": inventory.shared}
    personal = {} if contributions_only else own
    team = {"team_contributions": inventory.contributions, "team_facts": inventory.team_facts}
    now = services.clock.now()
    erasure = Erasure(
        id=new_id("erasure", now),
        tenant=owner.tenant,
        mark=mark,
        begun_at=now,
        contributions_only=contributions_only,
        user=owner.user,
        traces=() if contributions_only else (owner.id, *found.ids),
        removed={name: count for name, count in {**personal, **team}.items() if count},
    )
    services.store.system.save_erasure(erasure)
    return erasure, TraceTerms(erasure.traces, tuple(found.words))


def _count_contributions(services: Services, owner: Owner) -> tuple[int, int]:
    """The number of team facts they stated, and of those that no one else did."""
    with services.store.open_team_writer(Tenant(owner.tenant)) as team:
        contributed = team.list_contributed_facts(
            contributor_id(team.load_contributor_key(), owner)
        )
        return len(contributed), sum(team.count_contributors(one) == 1 for one in contributed)


def _search_traces(services: Services, owner: Owner | None, traces: TraceTerms) -> list[ScanResult]:
    places = {one.place: one for one in services.store.scan_traces(owner, traces)}
    backups = _backup_directory(services)
    if backups is not None and backups.exists():
        # Only ids: others can have used the same words.
        scanned = trace_scan.scan_files(backups, replace(traces, words=()))
        size, found = sum(one.bytes for one in scanned), sum(one.found for one in scanned)
        places[backups.name] = ScanResult(backups.name, size, found)
    return list(places.values())


def _backup_directory(services: Services) -> Path | None:
    """The directory of automatic backups; None for a store in memory."""
    in_memory = services.store.check_health().place == "memory"
    return None if in_memory else services.settings.backup_directory()


def _build_receipt(
    owner: Owner,
    done: Erasure,
    traces: TraceTerms,
    found: list[ScanResult],
    left: list[str],
    rewritten: int,
) -> Receipt:
    assert done.finished_at is not None
    return Receipt(
        id=done.id,
        tenant=owner.tenant,
        user=owner.user,
        contributions_only=done.contributions_only,
        begun_at=done.begun_at,
        finished_at=done.finished_at,
        removed={**done.removed, "backups": rewritten} if rewritten else dict(done.removed),
        sought=len(traces.ids) + len(traces.words),
        searched=tuple(found),
        left=tuple(dict.fromkeys(left)),
    )
