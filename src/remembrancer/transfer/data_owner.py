"""Dumps and loads the rows of a data owner, which is a person or a team."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager

from remembrancer.store.contract import DumpRow, Store
from remembrancer.types import Owner, Tenant

DataOwner = Owner | Tenant


def list_data_owners(store: Store) -> list[DataOwner]:
    return [*store.system.list_owners(), *store.list_teams()]


def dump_rows(store: Store, data_owner: DataOwner) -> AbstractContextManager[Iterator[DumpRow]]:
    return store.dump_team(data_owner) if isinstance(data_owner, Tenant) else store.dump(data_owner)


def load_rows(
    store: Store, data_owner: DataOwner, rows: Iterable[DumpRow], *, replace: bool
) -> int:
    """Load rows into a store and return how many team facts were among them."""
    if isinstance(data_owner, Tenant):
        return store.load_team(data_owner, rows, replace=replace)
    store.load(data_owner, rows, replace=replace)
    return 0
