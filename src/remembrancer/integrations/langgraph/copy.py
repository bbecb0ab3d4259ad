"""Copies the items of one LangGraph store into another."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from langgraph.store.base import BaseStore, SearchItem

from remembrancer.integrations.langgraph.items import Namespace

MAX_ITEMS = 2**31 - 1


def copy_store(
    old: BaseStore,
    new: BaseStore,
    *,
    rename: Callable[[Namespace], Namespace] = lambda namespace: namespace,
) -> int:
    """Copy all items, and return how many there are; `rename` maps their namespaces.

    LangGraph's stores do not say when an item expires: items are copied as ones that do not. An
    import of the old store's database keeps their times.
    """
    count = 0
    for item in _iter_items(old):
        new.put(rename(item.namespace), item.key, item.value, ttl=None)
        count += 1
    return count


def _iter_items(store: BaseStore) -> Iterator[SearchItem]:
    for namespace in store.list_namespaces(limit=MAX_ITEMS):
        found = store.search(namespace, limit=MAX_ITEMS, refresh_ttl=False)
        yield from (one for one in found if one.namespace == namespace)
