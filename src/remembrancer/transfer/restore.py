"""Bringing people and teams into a store, out of a backup or another store, one after the other.

Each arrives as a whole or not at all, and whoever is there already is passed over; so what was
interrupted is completed by doing it again.
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
from remembrancer.transfer.ndjson import ArchiveMember, LineDigest, encode_lines, member_name
from remembrancer.transfer.progress import ProgressCounter
from remembrancer.transfer.whose import DataOwner, dump_rows, list_data_owners, load_rows
from remembrancer.types import Owner, Tenant


@dataclass(frozen=True, slots=True)
class TransferResult:
    """Who was brought in with how many rows, how many were there already, and who stays out.

    The erased are people who were erased after the backup was made.
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
    """A person or a team on the way: what they add up to, and a way to read them."""

    data_owner: DataOwner
    member: ArchiveMember
    rows: OpenRows


class TargetState(Enum):
    """What a store holds of someone who is about to arrive."""

    FREE = auto()
    TAKEN = auto()
    SAME = auto()


def restore(path: Path, store: Store, *, replace: bool, steps: ProgressCounter) -> TransferResult:
    """Bring everyone in a backup into a store, after the whole of it was found sound."""
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
        arrived = _restore_archive(found, store, replace=replace, steps=steps)
        return dataclasses.replace(arrived, erased=len(erased))


def move(source: Store, target: Store, *, replace: bool, steps: ProgressCounter) -> TransferResult:
    """Bring everyone in a store into another one; the first keeps what it has."""
    all_of_them = list_data_owners(source)
    steps.set_total(2 * len(all_of_them))
    parcels = []
    for whose in all_of_them:
        member = _compute_member(source, whose)
        if member.rows:
            parcels.append(TransferItem(whose, member, partial(dump_rows, source, whose)))
        steps.advance()
    return _load_items(parcels, source.dump_system, target, replace=replace, steps=steps)


def _list_erased_people(found: Archive, store: Store) -> list[Owner]:
    """The people in a backup who were erased after it was made: they must not come back."""
    with found.read_system_rows() as rows:
        people = [
            Owner(str(columns["tenant"]), str(columns["name"]))
            for table, columns in rows
            if table == "users"
        ]
    at = found.manifest.created_at
    return [one for one in people if is_erased_since(store, one, at)]


def _restore_archive(
    found: Archive, store: Store, *, replace: bool, steps: ProgressCounter
) -> TransferResult:
    parcels = [_build_item(found, member) for member in found.members]
    return _load_items(parcels, found.read_system_rows, store, replace=replace, steps=steps)


def _build_item(found: Archive, member: ArchiveMember) -> TransferItem:
    return TransferItem(found.read_data_owner(member), member, partial(found.read_rows, member))


def _load_items(
    parcels: Sequence[TransferItem],
    system: OpenRows,
    store: Store,
    *,
    replace: bool,
    steps: ProgressCounter,
) -> TransferResult:
    places = [_check_target(store, parcel) for parcel in parcels]
    taken = [
        parcels[at].data_owner for at, place in enumerate(places) if place is TargetState.TAKEN
    ]
    if taken and not replace:
        raise Conflict(_conflict_message(taken))
    with system() as rows:
        store.load_system(rows)
    arrived: list[TransferItem] = []
    present: list[TransferItem] = []
    facts = 0
    for parcel, place in zip(parcels, places, strict=True):
        if place is TargetState.SAME:
            present.append(parcel)
        else:
            with parcel.rows() as rows:
                facts += load_rows(store, parcel.data_owner, rows, replace=replace)
            arrived.append(parcel)
        steps.advance()
    return TransferResult(
        people=_count(arrived, Owner),
        teams=_count(arrived, Tenant),
        team_facts=facts,
        rows=sum(one.member.rows for one in arrived),
        present=_count(present, Owner),
        teams_present=_count(present, Tenant),
    )


def _count(parcels: Sequence[TransferItem], kind: type[DataOwner]) -> int:
    return sum(isinstance(one.data_owner, kind) for one in parcels)


def _check_target(store: Store, parcel: TransferItem) -> TargetState:
    here = _compute_member(store, parcel.data_owner)
    if here == parcel.member:
        return TargetState.SAME
    # One row only says who they are, or is the key of a team that knows nothing.
    return TargetState.TAKEN if here.rows > 1 else TargetState.FREE


def _compute_member(store: Store, data_owner: DataOwner) -> ArchiveMember:
    """What a store holds of someone, as the member of a backup that it would be."""
    total = LineDigest()
    with dump_rows(store, data_owner) as rows:
        for _ in total.digest_lines(encode_lines(rows, data_owner)):
            continue
    return total.to_member(member_name(data_owner))


def _conflict_message(taken: Sequence[DataOwner]) -> str:
    match taken[0]:
        case Owner(tenant, user):
            first = f"{user} of {tenant}"
        case Tenant(name):
            first = f"The team of {name}"
    who = f"{first} has" if len(taken) == 1 else f"{first} and {len(taken) - 1} more have"
    return (
        f"{who} other memories here, so nothing was changed. "
        "To give those up, ask for them to be replaced (--replace, replace=True)."
    )
