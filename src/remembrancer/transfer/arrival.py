"""Bringing people into a store, out of a backup or out of another store, one after the other.

Each arrives as a whole or not at all, and whoever is there already is passed over; so what was
interrupted is completed by doing it again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from enum import Enum, auto
from functools import partial
from pathlib import Path

from remembrancer.errors import Conflict
from remembrancer.store.contract import Row, Store
from remembrancer.transfer import archive
from remembrancer.transfer.archive import Archive
from remembrancer.transfer.lines import Member, Sum, lines_of, name_of
from remembrancer.transfer.steps import Steps
from remembrancer.types import Owner


@dataclass(frozen=True, slots=True)
class Arrived:
    """Who was brought in with how many rows, and how many people were there already."""

    people: int
    rows: int
    present: int


Rows = Callable[[], AbstractContextManager[Iterator[Row]]]


@dataclass(frozen=True, slots=True)
class Parcel:
    """One person on the way: what they add up to, and a way to read them."""

    owner: Owner
    member: Member
    rows: Rows


class Place(Enum):
    """What a store holds of someone who is about to arrive."""

    FREE = auto()
    TAKEN = auto()
    SAME = auto()


def restore(path: Path, store: Store, *, replace: bool, steps: Steps) -> Arrived:
    """Bring everyone in a backup into a store, after the whole of it was found sound."""
    with archive.opened(path) as found:
        steps.expect(2 * len(found.people))
        found.check(steps)
        parcels = [_packed(found, member) for member in found.people]
        return _deliver(parcels, found.system, store, replace=replace, steps=steps)


def move(source: Store, target: Store, *, replace: bool, steps: Steps) -> Arrived:
    """Bring everyone in a store into another one; the first keeps what it has."""
    owners = source.owners()
    steps.expect(2 * len(owners))
    parcels = []
    for owner in owners:
        member = _added_up(source, owner)
        if member.rows:
            parcels.append(Parcel(owner, member, partial(source.dump, owner)))
        steps.step()
    return _deliver(parcels, source.dump_system, target, replace=replace, steps=steps)


def _packed(found: Archive, member: Member) -> Parcel:
    return Parcel(found.owner(member), member, partial(found.rows, member))


def _deliver(
    parcels: Sequence[Parcel], system: Rows, store: Store, *, replace: bool, steps: Steps
) -> Arrived:
    places = [_place(store, parcel) for parcel in parcels]
    taken = [parcels[at].owner for at, place in enumerate(places) if place is Place.TAKEN]
    if taken and not replace:
        raise Conflict(_refusal(taken))
    with system() as rows:
        store.load_system(rows)
    for parcel, place in zip(parcels, places, strict=True):
        if place is not Place.SAME:
            with parcel.rows() as rows:
                store.load(parcel.owner, rows, replace=replace)
        steps.step()
    arrived = [parcels[at] for at, place in enumerate(places) if place is not Place.SAME]
    total = sum(one.member.rows for one in arrived)
    return Arrived(len(arrived), total, len(parcels) - len(arrived))


def _place(store: Store, parcel: Parcel) -> Place:
    here = _added_up(store, parcel.owner)
    if here == parcel.member:
        return Place.SAME
    # One row only says who they are.
    return Place.TAKEN if here.rows > 1 else Place.FREE


def _added_up(store: Store, owner: Owner) -> Member:
    """What a store holds of a person, as the member of a backup that it would be."""
    total = Sum()
    with store.dump(owner) as rows:
        for _ in total.passing(lines_of(rows, owner)):
            continue
    return total.member(name_of(owner))


def _refusal(taken: Sequence[Owner]) -> str:
    first = f"{taken[0].user} of {taken[0].tenant}"
    who = f"{first} has" if len(taken) == 1 else f"{first} and {len(taken) - 1} more have"
    return (
        f"{who} other memories here, so nothing was changed. "
        "To give those up, ask for them to be replaced (--replace, replace=True)."
    )
