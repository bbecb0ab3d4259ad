"""One LangGraph store for everyone: a namespace says whose memory it is, and is never another's."""

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
    """A LangGraph store for all people of an open Remembrancer.

    A namespace begins with an organisation and a user; whatever names less, or names a person that
    the running graph is not for, is refused.
    """

    __slots__ = ("_fields", "_people", "ttl_config")
    supports_ttl = True

    def __init__(
        self,
        people: Remembrancer,
        *,
        fields: list[str] | None = None,
        ttl: TTLConfig | None = None,
    ) -> None:
        self._people = people
        self._fields = fields
        self.ttl_config = ttl

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Do what is asked of each person's memory; nothing, if anything is to be refused."""
        ops = list(ops)
        for op in ops:
            validate_op_namespace(op)
        whose = [_get_op_person(op) for op in ops]
        _refuse_others(set(whose))
        results: list[Result] = [None] * len(ops)
        for person in dict.fromkeys(whose):
            places = [place for place, one in enumerate(whose) if one == person]
            told = self._open_store(person).batch(ops[place] for place in places)
            for place, result in zip(places, told, strict=True):
                results[place] = result
        return results

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """The same for async code, in a thread."""
        return await asyncio.to_thread(self.batch, list(ops))

    def _open_store(self, person: Namespace) -> RemembrancerStore:
        org, user = person
        memory = self._people.for_user(user, tenant=org, surface=SURFACE)
        return RemembrancerStore(memory, under=person, fields=self._fields)


def run_config(
    org: str, user: str, thread: str, *, checkpoint: str | None = None
) -> RunnableConfig:
    """The configuration of a run for a person, in a thread that nobody else can name.

    With the id of a checkpoint it goes on from there, on a branch of its own.
    """
    named = ":".join(quote(name, safe="") for name in (*normalise_labels((org, user)), thread))
    said = {"org_id": org, "user_id": user, "thread_id": named}
    return {"configurable": said if checkpoint is None else {**said, "checkpoint_id": checkpoint}}


def get_person(config: RunnableConfig) -> Namespace | None:
    """The organisation and the user that a run is for, if its configuration says so."""
    said = config.get("configurable", {})
    org, user = said.get("org_id"), said.get("user_id")
    if org is None and user is None:
        return None
    if not isinstance(org, str) or not isinstance(user, str):
        raise InvalidInput("Say both for whom a graph runs: org_id and user_id, as configurable.")
    return normalise_labels((org, user))


def _get_op_person(op: Op) -> Namespace:
    """Whose memory an operation is about."""
    match op:
        case SearchOp():
            labels = op.namespace_prefix
        case ListNamespacesOp():
            labels = _find_prefix(op)
        case _:
            labels = op.namespace
    if len(labels) < 2 or "*" in labels[:2]:
        raise InvalidNamespaceError("A namespace begins with an organisation and a user.")
    return normalise_labels(tuple(labels[:2]))


def _find_prefix(op: ListNamespacesOp) -> Namespace:
    """The beginning that all listed namespaces share, as far as it names a person."""
    paths = [one.path for one in op.match_conditions or () if one.match_type == "prefix"]
    return max((tuple(path) for path in paths), key=len, default=())


def _refuse_others(people: set[Namespace]) -> None:
    """Refuse whoever the running graph is not for; outside of a graph there is no such person."""
    try:
        config = get_config()
    except RuntimeError:
        return
    own = get_person(config)
    if own is not None and people - {own}:
        raise InvalidNamespaceError("This graph runs for another person than the namespace names.")
