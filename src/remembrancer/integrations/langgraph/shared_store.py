"""A LangGraph store for many users, where the namespace selects the user."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import TYPE_CHECKING
from urllib.parse import quote

from langchain_core.runnables import RunnableConfig
from langgraph.config import get_config
from langgraph.store.base import (
    BaseStore,
    InvalidNamespaceError,
    ListNamespacesOp,
    Op,
    Result,
    SearchOp,
    TTLConfig,
    validate_op_namespace,
)

from remembrancer.errors import InvalidInput
from remembrancer.integrations.langgraph.items import Namespace, normalise_labels
from remembrancer.integrations.langgraph.store import RemembrancerStore

if TYPE_CHECKING:
    from remembrancer.engine import Remembrancer

SURFACE = "langgraph"


class SharedStore(BaseStore):
    """A LangGraph store for all users of an open Remembrancer.

    A namespace begins with an organisation and a user. A shorter one is refused, and so is one of
    another user than the running graph is for.
    """

    __slots__ = ("_fields", "_people", "ttl_config")
    supports_ttl = True

    def __init__(
        self, people: Remembrancer, *, fields: list[str] | None = None, ttl: TTLConfig | None = None
    ) -> None:
        self._people = people
        self._fields = fields
        self.ttl_config = ttl

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Run the operations on the memory of each user; none is run if one is refused."""
        ops = list(ops)
        for op in ops:
            validate_op_namespace(op)
        people = [_get_op_person(op) for op in ops]
        _refuse_others(set(people))
        results: list[Result] = [None] * len(ops)
        for person in dict.fromkeys(people):
            indexes = [index for index, one in enumerate(people) if one == person]
            found = self._open_store(person).batch(ops[index] for index in indexes)
            for index, result in zip(indexes, found, strict=True):
                results[index] = result
        return results

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Run `batch` in a thread."""
        return await asyncio.to_thread(self.batch, list(ops))

    def _open_store(self, person: Namespace) -> RemembrancerStore:
        org, user = person
        memory = self._people.for_user(user, tenant=org, surface=SURFACE)
        return RemembrancerStore(memory, under=person, fields=self._fields)


def run_config(
    org: str, user: str, thread: str, *, checkpoint: str | None = None
) -> RunnableConfig:
    """Return the configuration of a run for a user, with a thread id that no other user can have.

    With a checkpoint, the run continues from there on a new branch.
    """
    names = (*normalise_labels((org, user)), thread)
    thread_id = ":".join(quote(name, safe="") for name in names)
    values = {"org_id": org, "user_id": user, "thread_id": thread_id}
    if checkpoint is not None:
        values["checkpoint_id"] = checkpoint
    return {"configurable": values}


def get_person(config: RunnableConfig) -> Namespace | None:
    """Return the organisation and user of a run, or None if its configuration has neither."""
    values = config.get("configurable", {})
    org, user = values.get("org_id"), values.get("user_id")
    if org is None and user is None:
        return None
    if not isinstance(org, str) or not isinstance(user, str):
        raise InvalidInput("The run needs both org_id and user_id as configurable.")
    return normalise_labels((org, user))


def _get_op_person(op: Op) -> Namespace:
    match op:
        case SearchOp():
            labels = op.namespace_prefix
        case ListNamespacesOp():
            labels = _find_prefix(op)
        case _:
            labels = op.namespace
    if len(labels) < 2 or "*" in labels[:2]:
        raise InvalidNamespaceError("A namespace must begin with an organisation and a user.")
    return normalise_labels(tuple(labels[:2]))


def _find_prefix(op: ListNamespacesOp) -> Namespace:
    """Return the longest prefix condition."""
    paths = [one.path for one in op.match_conditions or () if one.match_type == "prefix"]
    return max((tuple(path) for path in paths), key=len, default=())


def _refuse_others(people: set[Namespace]) -> None:
    """Raise an error for users that the running graph is not for, if there is a graph."""
    try:
        config = get_config()
    except RuntimeError:
        return
    own = get_person(config)
    if own is not None and people - {own}:
        raise InvalidNamespaceError("The namespace is of another user than this graph runs for.")
