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
from remembrancer.store.contract import Row, Store
from remembrancer.store.erasure_marks import erased_since
from remembrancer.transfer import archive, strip_person
from remembrancer.transfer.archive import Archive
from remembrancer.transfer.ndjson import Member, Sum, lines_of, name_of
from remembrancer.transfer.progress import Steps
from remembrancer.transfer.whose import Whose, dumped, everyone, load
from remembrancer.types import Owner, Tenant


@dataclass(frozen=True, slots=True)
class Arrived:
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


Rows = Callable[[], AbstractContextManager[Iterator[Row]]]


@dataclass(frozen=True, slots=True)
class Parcel:
    """A person or a team on the way: what they add up to, and a way to read them."""

    whose: Whose
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
        steps.expect(2 * len(found.members))
        found.check(steps)
        erased = _erased(found, store)
        if not erased:
            return _unpacked(found, store, replace=replace, steps=steps)
    with strip_person.copied(path, store, erased) as rest, archive.opened(rest) as found:
        arrived = _unpacked(found, store, replace=replace, steps=steps)
        return dataclasses.replace(arrived, erased=len(erased))


def move(source: Store, target: Store, *, replace: bool, steps: Steps) -> Arrived:
    """Bring everyone in a store into another one; the first keeps what it has."""
    all_of_them = everyone(source)
    steps.expect(2 * len(all_of_them))
    parcels = []
    for whose in all_of_them:
        member = _added_up(source, whose)
        if member.rows:
            parcels.append(Parcel(whose, member, partial(dumped, source, whose)))
        steps.step()
    return _deliver(parcels, source.dump_system, target, replace=replace, steps=steps)


def _erased(found: Archive, store: Store) -> list[Owner]:
    """The people in a backup who were erased after it was made: they must not come back."""
    with found.system() as rows:
        people = [
            Owner(str(columns["tenant"]), str(columns["name"]))
            for table, columns in rows
            if table == "users"
        ]
    at = found.manifest.created_at
    return [one for one in people if erased_since(store, one, at)]


def _unpacked(found: Archive, store: Store, *, replace: bool, steps: Steps) -> Arrived:
    parcels = [_packed(found, member) for member in found.members]
    return _deliver(parcels, found.system, store, replace=replace, steps=steps)


def _packed(found: Archive, member: Member) -> Parcel:
    return Parcel(found.whose(member), member, partial(found.rows, member))


def _deliver(
    parcels: Sequence[Parcel], system: Rows, store: Store, *, replace: bool, steps: Steps
) -> Arrived:
    places = [_place(store, parcel) for parcel in parcels]
    taken = [parcels[at].whose for at, place in enumerate(places) if place is Place.TAKEN]
    if taken and not replace:
        raise Conflict(_refusal(taken))
    with system() as rows:
        store.load_system(rows)
    arrived: list[Parcel] = []
    present: list[Parcel] = []
    facts = 0
    for parcel, place in zip(parcels, places, strict=True):
        if place is Place.SAME:
            present.append(parcel)
        else:
            with parcel.rows() as rows:
                facts += load(store, parcel.whose, rows, replace=replace)
            arrived.append(parcel)
        steps.step()
    return Arrived(
        people=_count(arrived, Owner),
        teams=_count(arrived, Tenant),
        team_facts=facts,
        rows=sum(one.member.rows for one in arrived),
        present=_count(present, Owner),
        teams_present=_count(present, Tenant),
    )


def _count(parcels: Sequence[Parcel], kind: type[Whose]) -> int:
    return sum(isinstance(one.whose, kind) for one in parcels)


def _place(store: Store, parcel: Parcel) -> Place:
    here = _added_up(store, parcel.whose)
    if here == parcel.member:
        return Place.SAME
    # One row only says who they are, or is the key of a team that knows nothing.
    return Place.TAKEN if here.rows > 1 else Place.FREE


def _added_up(store: Store, whose: Whose) -> Member:
    """What a store holds of someone, as the member of a backup that it would be."""
    total = Sum()
    with dumped(store, whose) as rows:
        for _ in total.passing(lines_of(rows, whose)):
            continue
    return total.member(name_of(whose))


def _refusal(taken: Sequence[Whose]) -> str:
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
