"""Erases a person everywhere, then scans for what is left.

Each step is idempotent, so an interrupted erasure is finished by the next call. An erasure cannot
be undone, and learning in progress for an erased person is dropped.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from remembrancer.erasure.instance_rows import count_authored, remove_authored
from remembrancer.erasure.receipts import Receipt, sign_receipt
from remembrancer.errors import UnknownPerson
from remembrancer.ids import new_id
from remembrancer.store import scan_process
from remembrancer.store.contract import Erasure, ErasureExtent, ScanResult, TraceTerms
from remembrancer.store.erasure_marks import erasure_mark
from remembrancer.store.leases import CLOCK, SIGHTING_INTERVAL
from remembrancer.store.row_counts import (
    RowSample,
    count_keys,
    count_traced_rows,
    sample_rows,
)
from remembrancer.team.service import contributor_id, withdraw_contributions
from remembrancer.text_format import pluralize
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

    `memories` counts a memory once, however many versions it has. `team_facts` is the number of
    facts without another contributor; they are erased too. `shared` is the number of messages and
    memories that they wrote into instances.
    """

    rows: Mapping[str, int]
    memories: int
    keys: int
    contributions: int
    team_facts: int
    backups: int
    shared: int = 0

    @property
    def empty(self) -> bool:
        return not (self.keys or self.has_memories)

    @property
    def has_memories(self) -> bool:
        """True if there is anything beside the account."""
        return bool(self.rows or self.contributions or self.backups or self.shared)


def describe_inventory(inventory: Inventory) -> str:
    """What is lost when everything is forgotten, in words: "2 memories, 1 conversation, …"."""
    sole = inventory.team_facts
    parts = [
        pluralize(inventory.memories, "memory", "memories"),
        pluralize(inventory.rows.get("sessions", 0), "conversation"),
        pluralize(inventory.contributions, "contribution to the team", "contributions to the team"),
    ]
    if sole:
        parts[-1] += f", with {pluralize(sole, 'team fact')} that only you told"
    return ", ".join(parts)


def get_confirmation_code(inventory: Inventory) -> str:
    """A code that confirms what an inventory describes, and nothing that comes later."""
    return hashlib.sha256(describe_inventory(inventory).encode()).hexdigest()[:6]


def take_inventory(services: Services, owner: Owner) -> Inventory:
    """Count what an erasure would remove, without changing anything."""
    return _build_inventory(services, owner, sample_rows(services.store, owner))


def _build_inventory(services: Services, owner: Owner, found: RowSample) -> Inventory:
    contributed, sole = _count_contributions(services, owner)
    return Inventory(
        rows=dict(found.counts),
        memories=len(found.lineages),
        keys=count_keys(services.store, owner),
        contributions=contributed,
        team_facts=sole,
        backups=len(find_backups_with(_backup_directory(services), owner)),
        shared=count_authored(services, owner),
    )


def erase(
    services: Services,
    owner: Owner,
    extent: ErasureExtent = ErasureExtent.PERSON,
    *,
    tell: StepListener | None = None,
) -> Receipt:
    """Erase a person, or a part of what is theirs, then scan for what is left."""
    erasure, traces = _begin_erasure(services, owner, extent)
    return _carry_out(services, owner, erasure, traces, tell or (lambda _: None))


def _carry_out(
    services: Services, owner: Owner, erasure: Erasure, traces: TraceTerms, tell: StepListener
) -> Receipt:
    extent = _get_extent(erasure, owner)
    instances: tuple[Owner, ...] = ()
    if extent is not ErasureExtent.CONTRIBUTIONS and _is_due(services, owner, extent, traces):
        tell("Removing memories, conversations, vectors and keys.")
        keep_account = extent is ErasureExtent.MEMORIES
        services.store.delete_owner(owner, keep_account=keep_account)
        services.clear_embedding_cache()
        instances = _leave_instances(services, owner, keep_account=keep_account)
    tell("Withdrawing contributions to the team.")
    who = withdraw_contributions(services, owner, services.profile_of())
    tell("Rewriting backups.")
    author = services.instances.author_mark(owner)
    marks = PersonMarks(who, author)
    backups = strip_from_backups(_backup_directory(services), owner, marks, extent)
    tell("Vacuuming shared files and scanning for traces.")
    # From here on the record names no one, so the scan can cover it too.
    nameless = replace(erasure, user=None, traces=())
    services.store.system.save_erasure(nameless)
    left = [*backups.unreadable, *services.store.scrub(instances)]
    is_personal = extent is not ErasureExtent.CONTRIBUTIONS
    traces = replace(traces, ids=(*traces.ids, who, *((author,) if is_personal else ())))
    found = _search_traces(services, owner, extent, traces)
    done = replace(nameless, finished_at=services.clock.now())
    # An account that was kept may be in use again, and must not be emptied a second time.
    unfinished = nameless if extent is ErasureExtent.MEMORIES else erasure
    is_traced = any(one.found for one in found)
    services.store.system.save_erasure(unfinished if is_traced else done)
    return sign_receipt(
        services.store, _build_receipt(owner, done, extent, traces, found, left, backups.rewritten)
    )


def _leave_instances(services: Services, owner: Owner, *, keep_account: bool) -> tuple[Owner, ...]:
    """Remove what a person wrote into instances, or the settings of an instance that is erased."""
    if owner.instance is not None:
        services.instances.forget(owner.tenant, owner.instance)
        return ()
    if not keep_account:
        services.instances.forget_member(owner)
    return remove_authored(services, owner)


def finish_abandoned(services: Services) -> int:
    """Finish erasures that were interrupted; returns their number."""
    now = services.clock.now()
    since = now - ABANDONED_AFTER
    abandoned = [
        one
        for one in services.store.system.list_erasures()
        if one.finished_at is None and (one.begun_at < since or one.begun_at > now)
    ]
    for one in abandoned:
        if one.user is not None:
            owner = Owner(one.tenant, one.user)
            _carry_out(services, owner, one, TraceTerms(one.traces), lambda _: None)
        else:  # only the record of the erasure is left to vacuum
            services.store.scrub()
            services.store.system.save_erasure(replace(one, finished_at=services.clock.now()))
    return len(abandoned)


def _get_extent(erasure: Erasure, owner: Owner) -> ErasureExtent:
    """An account that is kept is not searched for: the traces then lack the owner's id."""
    if erasure.contributions_only:
        return ErasureExtent.CONTRIBUTIONS
    return ErasureExtent.PERSON if owner.id in erasure.traces else ErasureExtent.MEMORIES


def _is_due(services: Services, owner: Owner, extent: ErasureExtent, traces: TraceTerms) -> bool:
    """False if all that is there was stored after the memories were removed."""
    if extent is ErasureExtent.PERSON:
        return True
    total, traced = count_traced_rows(services.store, owner, traces.ids)
    return traced > 0 or total == 0


def _begin_erasure(
    services: Services, owner: Owner, extent: ErasureExtent
) -> tuple[Erasure, TraceTerms]:
    """The unfinished erasure of this person, or a new one."""
    mark = erasure_mark(services.store, owner)
    is_personal = extent is not ErasureExtent.CONTRIBUTIONS
    found = sample_rows(services.store, owner) if is_personal else RowSample()
    own_id = (owner.id,) if extent is ErasureExtent.PERSON else ()
    traces = TraceTerms((*own_id, *found.ids) if is_personal else (), tuple(found.words))
    for one in services.store.system.list_erasures():
        is_pending = one.finished_at is None and one.mark == mark
        if is_pending and _can_resume(one, owner, extent):
            ids = tuple(dict.fromkeys((*one.traces, *traces.ids)))
            return replace(one, user=owner.user, traces=ids), replace(traces, ids=ids)
    inventory = _build_inventory(services, owner, found)
    if inventory.empty and owner not in services.store.system.list_owners():
        raise UnknownPerson(f"{owner.user} of {owner.tenant} is unknown.")
    keys = {"keys": inventory.keys} if extent is ErasureExtent.PERSON else {}
    shared = {"instance_rows": inventory.shared} if is_personal else {}
    team = {"team_contributions": inventory.contributions, "team_facts": inventory.team_facts}
    counts = {**inventory.rows, **keys, **shared, **team}
    now = services.clock.now()
    erasure = Erasure(
        id=new_id("erasure", now),
        tenant=owner.tenant,
        mark=mark,
        begun_at=_latest_moment(services, owner, now),
        contributions_only=not is_personal,
        user=owner.user,
        traces=traces.ids,
        removed={name: count for name, count in counts.items() if count},
    )
    services.store.system.save_erasure(erasure)
    return erasure, traces


def _latest_moment(services: Services, owner: Owner, now: datetime) -> datetime:
    """Now, or what the clock said before it went back: a backup of then must not restore them."""
    with services.store.open_reader(owner) as reader:
        last = reader.last_moment()
    seen = services.store.system.get_lease(CLOCK).finished_at
    if seen is not None and seen > now:
        seen += SIGHTING_INTERVAL  # the clock can have gone on for so long
    return max(now, last or now, seen or now)


def _can_resume(pending: Erasure, owner: Owner, extent: ErasureExtent) -> bool:
    if pending.user is None:  # What is there of an account that was kept was stored since.
        wanted = extent is ErasureExtent.CONTRIBUTIONS
        return extent is not ErasureExtent.MEMORIES and pending.contributions_only == wanted
    return _get_extent(pending, owner) is extent


def _count_contributions(services: Services, owner: Owner) -> tuple[int, int]:
    """The number of team facts they stated, and of those that no one else did."""
    with services.store.open_team_writer(Tenant(owner.tenant)) as team:
        contributed = team.list_contributed_facts(
            contributor_id(team.load_contributor_key(), owner)
        )
        return len(contributed), sum(team.count_contributors(one) == 1 for one in contributed)


def _search_traces(
    services: Services, owner: Owner, extent: ErasureExtent, traces: TraceTerms
) -> list[ScanResult]:
    gone = owner if extent is ErasureExtent.PERSON else None
    places = {one.place: one for one in services.store.scan_traces(gone, traces)}
    if extent is ErasureExtent.MEMORIES:
        _, traced = count_traced_rows(services.store, owner, traces.ids)
        places["rows"] = ScanResult("rows", 0, traced)
    backups = _backup_directory(services)
    if backups is not None and backups.exists():
        # Only ids: others can have used the same words.
        scanned = scan_process.scan_files(backups, replace(traces, words=()))
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
    extent: ErasureExtent,
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
        account_kept=extent is ErasureExtent.MEMORIES,
        begun_at=done.begun_at,
        finished_at=done.finished_at,
        removed={**done.removed, "backups": rewritten} if rewritten else dict(done.removed),
        sought=len(traces.ids) + len(traces.words),
        searched=tuple(found),
        left=tuple(dict.fromkeys(left)),
    )
