"""Restores a backup into a store, and moves one store into another.

Each person or team is loaded in one transaction, and skipped if the target has the same rows. An
interrupted run can therefore be repeated.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from enum import Enum, auto
from functools import partial
from pathlib import Path

from remembrancer.errors import Conflict
from remembrancer.store.contract import DumpRow, Store
from remembrancer.store.erasure_marks import is_erased_since
from remembrancer.transfer import archive, strip_person
from remembrancer.transfer.archive import Archive
from remembrancer.transfer.data_owner import DataOwner, dump_rows, list_data_owners, load_rows
from remembrancer.transfer.ndjson import ArchiveMember, LineDigest, encode_lines, member_name
from remembrancer.transfer.progress import ProgressCounter
from remembrancer.types import Owner, Tenant


@dataclass(frozen=True, slots=True)
class TransferResult:
    """Counts of what was loaded, what was present already, and what was left out.

    `erased` counts people who were erased after the backup was made.
    """

    people: int
    teams: int
    team_facts: int
    rows: int
    present: int
    teams_present: int
    erased: int = 0


OpenRows = Callable[[], AbstractContextManager[Iterator[DumpRow]]]


@dataclass(frozen=True, slots=True)
class TransferItem:
    """A person or team to load, with its digest and a function that opens its rows."""

    data_owner: DataOwner
    member: ArchiveMember
    open_rows: OpenRows


class TargetState(Enum):
    """What the target store holds of a data owner: nothing, other rows, or the same rows."""

    FREE = auto()
    TAKEN = auto()
    SAME = auto()


def restore(path: Path, store: Store, *, replace: bool, steps: ProgressCounter) -> TransferResult:
    """Load a backup into a store, after the whole backup was verified."""
    with archive.open_archive(path) as found:
        steps.set_total(2 * len(found.members))
        found.check(steps)
        erased = _list_erased_people(found, store)
        if not erased:
            return _restore_archive(found, store, replace=replace, steps=steps)
    with (
        strip_person.copy_without_people(path, store, erased) as rest,
        archive.open_archive(rest) as found,
    ):
        result = _restore_archive(found, store, replace=replace, steps=steps)
        return dataclasses.replace(result, erased=len(erased))


def move(source: Store, target: Store, *, replace: bool, steps: ProgressCounter) -> TransferResult:
    """Copy everyone in a store into another one; the source is not changed."""
    data_owners = list_data_owners(source)
    steps.set_total(2 * len(data_owners))
    items = []
    for data_owner in data_owners:
        member = _compute_member(source, data_owner)
        if member.rows:
            items.append(TransferItem(data_owner, member, partial(dump_rows, source, data_owner)))
        steps.advance()
    return _load_items(items, source.dump_system, target, replace=replace, steps=steps)


def _list_erased_people(found: Archive, store: Store) -> list[Owner]:
    """Return the people who were erased after the backup was made; they must stay erased."""
    with found.read_system_rows() as rows:
        people = [
            Owner(str(columns["tenant"]), str(columns["name"]))
            for table, columns in rows
            if table == "users"
        ]
    created_at = found.manifest.created_at
    return [one for one in people if is_erased_since(store, one, created_at)]


def _restore_archive(
    found: Archive, store: Store, *, replace: bool, steps: ProgressCounter
) -> TransferResult:
    items = [
        TransferItem(found.read_data_owner(one), one, partial(found.read_rows, one))
        for one in found.members
    ]
    return _load_items(items, found.read_system_rows, store, replace=replace, steps=steps)


def _load_items(
    items: Sequence[TransferItem],
    open_system_rows: OpenRows,
    store: Store,
    *,
    replace: bool,
    steps: ProgressCounter,
) -> TransferResult:
    states = [(item, _check_target(store, item)) for item in items]
    taken = [item.data_owner for item, state in states if state is TargetState.TAKEN]
    if taken and not replace:
        raise Conflict(_conflict_message(taken))
    with open_system_rows() as rows:
        store.load_system(rows)
    loaded: list[TransferItem] = []
    present: list[TransferItem] = []
    team_facts = 0
    for item, state in states:
        if state is TargetState.SAME:
            present.append(item)
        else:
            with item.open_rows() as rows:
                team_facts += load_rows(store, item.data_owner, rows, replace=replace)
            loaded.append(item)
        steps.advance()
    return TransferResult(
        people=_count(loaded, Owner),
        teams=_count(loaded, Tenant),
        team_facts=team_facts,
        rows=sum(one.member.rows for one in loaded),
        present=_count(present, Owner),
        teams_present=_count(present, Tenant),
    )


def _count(items: Sequence[TransferItem], kind: type[DataOwner]) -> int:
    return sum(isinstance(one.data_owner, kind) for one in items)


def _check_target(store: Store, item: TransferItem) -> TargetState:
    present = _compute_member(store, item.data_owner)
    if present == item.member:
        return TargetState.SAME
    # A single row is the owner itself, or the key of an empty team.
    return TargetState.TAKEN if present.rows > 1 else TargetState.FREE


def _compute_member(store: Store, data_owner: DataOwner) -> ArchiveMember:
    """Return the backup member that the rows in a store would make."""
    digest = LineDigest()
    with dump_rows(store, data_owner) as rows:
        for _ in digest.digest_lines(encode_lines(rows, data_owner)):
            continue
    return digest.to_member(member_name(data_owner))


def _conflict_message(taken: Sequence[DataOwner]) -> str:
    match taken[0]:
        case Owner(tenant, user):
            first = f"{user} of {tenant}"
        case Tenant(name):
            first = f"The team of {name}"
    who = f"{first} has" if len(taken) == 1 else f"{first} and {len(taken) - 1} more have"
    return (
        f"{who} other memories here, so nothing was changed. "
        "To overwrite them, use --replace or replace=True."
    )
