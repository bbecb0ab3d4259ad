"""Whose memories are taken out of a store and into another: a person's, or a team's."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager

from remembrancer.store.contract import Row, Store
from remembrancer.types import Owner, Tenant

Whose = Owner | Tenant


def everyone(store: Store) -> list[Whose]:
    """All people, then all teams."""
    return [*store.owners(), *store.teams()]


def dumped(store: Store, whose: Whose) -> AbstractContextManager[Iterator[Row]]:
    """Everything that a store holds of them."""
    return store.dump_team(whose) if isinstance(whose, Tenant) else store.dump(whose)


def load(store: Store, whose: Whose, rows: Iterable[Row], *, replace: bool) -> int:
    """Bring them in; how many team facts came with them."""
    if isinstance(whose, Tenant):
        return store.load_team(whose, rows, replace=replace)
    store.load(whose, rows, replace=replace)
    return 0
