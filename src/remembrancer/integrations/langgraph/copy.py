"""Copies the items of one LangGraph store into another."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from langgraph.store.base import BaseStore, ListNamespacesOp, Op, SearchItem, SearchOp

from remembrancer.errors import InvalidInput
from remembrancer.integrations.langgraph.items import CopyOp, Namespace
from remembrancer.types import Origin, parse_enum

MAX_ITEMS = 2**31 - 1

Rename = Callable[[Namespace], Namespace]


def keep_name(namespace: Namespace) -> Namespace:
    return namespace


def copy_store(
    old: BaseStore,
    new: BaseStore,
    *,
    rename: Rename = keep_name,
    origin: Origin | str | None = None,
) -> int:
    """Copy all items, and return how many there are; `rename` maps their namespaces.

    Nobody vouches for what another store held, unless `origin` says who does: into a memory, text
    that reads like an instruction is copied into quarantine. LangGraph's stores do not say when an
    item expires: items are copied as ones that do not. An import of the old store's database keeps
    their times.
    """
    given = _check(old, new, origin)
    try:
        namespaces: Any = old.batch([_list_op()])[0]
        count = 0
        for namespace in namespaces:
            found: Any = old.batch([_search_op(namespace)])[0]
            puts = _build_puts(found, namespace, rename, given)
            new.batch(puts)
            count += len(puts)
    except asyncio.InvalidStateError:
        raise InvalidInput(
            "A store for async code cannot be copied like this in its event loop: "
            "use await acopy_store(old, new)."
        ) from None
    return count


async def acopy_store(
    old: BaseStore,
    new: BaseStore,
    *,
    rename: Rename = keep_name,
    origin: Origin | str | None = None,
) -> int:
    """Like `copy_store`, for stores of async code."""
    given = _check(old, new, origin)
    namespaces: Any = (await old.abatch([_list_op()]))[0]
    count = 0
    for namespace in namespaces:
        found: Any = (await old.abatch([_search_op(namespace)]))[0]
        puts = _build_puts(found, namespace, rename, given)
        await new.abatch(puts)
        count += len(puts)
    return count


def _check(old: object, new: object, origin: Origin | str | None) -> Origin | None:
    for store in (old, new):
        if not isinstance(store, BaseStore):
            raise InvalidInput(
                f"copy_store needs two LangGraph stores, not {type(store).__name__}."
            )
    return parse_enum(Origin, origin, "origin") if origin is not None else None


def _list_op() -> Op:
    return ListNamespacesOp(limit=MAX_ITEMS)


def _search_op(namespace: Namespace) -> Op:
    return SearchOp(namespace, limit=MAX_ITEMS, refresh_ttl=False)


def _build_puts(
    found: list[SearchItem], namespace: Namespace, rename: Rename, origin: Origin | None
) -> list[CopyOp]:
    puts = []
    for item in found:
        if item.namespace == namespace:
            op = CopyOp(rename(namespace), item.key, item.value)
            op.origin = origin
            puts.append(op)
    return puts
