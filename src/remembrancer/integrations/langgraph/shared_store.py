"""A LangGraph store for many users, where the namespace selects the user."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import TYPE_CHECKING

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

from remembrancer.integrations.langgraph.items import Namespace, normalise_labels
from remembrancer.integrations.langgraph.run_person import (
    SURFACE,
    PersonOf,
    RunPerson,
    find_person,
    get_run,
    named_person,
)
from remembrancer.integrations.langgraph.store import RemembrancerStore

if TYPE_CHECKING:
    from remembrancer.engine import Remembrancer


class SharedStore(BaseStore):
    """A LangGraph store for all users of an open Remembrancer.

    A namespace begins with an organisation and a user. A shorter one is refused, and so is one of
    another user than the running graph is for.
    """

    __slots__ = ("_fields", "_people", "_person_of", "ttl_config")
    supports_ttl = True

    def __init__(
        self,
        people: Remembrancer,
        *,
        person_of: PersonOf = named_person,
        fields: list[str] | None = None,
        ttl: TTLConfig | None = None,
    ) -> None:
        self._people = people
        self._person_of = person_of
        self._fields = fields
        self.ttl_config = ttl

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Run the operations on the memory of each user; none is run if one is refused."""
        ops = list(ops)
        for op in ops:
            validate_op_namespace(op)
        people = [_get_op_person(op) for op in ops]
        self._refuse_others(people)
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

    def _refuse_others(self, people: Iterable[Namespace]) -> None:
        """Raise an error for users that the graph in progress is not for, if there is a graph."""
        run = get_run()
        own = find_person(run, self._people.settings.tenant, self._person_of) if run else None
        if run is None or (own is None and not run.is_graph):
            return
        if own is None or {RunPerson(*one) for one in people} - {own}:
            raise InvalidNamespaceError(
                "The namespace is of another user than this graph runs for."
                if own
                else "Say for whom the graph runs: set user_id in configurable or in the context."
            )

    def _open_store(self, person: Namespace) -> RemembrancerStore:
        org, user = person
        memory = self._people.for_user(user, tenant=org, surface=SURFACE)
        return RemembrancerStore(memory, under=person, fields=self._fields)


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
