"""A LangGraph store for many users, where the namespace selects the user."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Unpack

from langgraph.store.base import (
    InvalidNamespaceError,
    ListNamespacesOp,
    Op,
    Result,
    SearchOp,
)

from remembrancer.integrations.langgraph.item_store import ItemStore, StoreOptions, build_policy
from remembrancer.integrations.langgraph.items import Namespace, normalise_labels
from remembrancer.integrations.langgraph.misuse import check_item_value, check_op
from remembrancer.integrations.langgraph.run_person import (
    SURFACE,
    PersonOf,
    RunPerson,
    check_people,
    find_person,
    get_run,
    named_person,
)
from remembrancer.integrations.langgraph.store import RemembrancerStore, check_profile

if TYPE_CHECKING:
    from remembrancer.engine import Remembrancer

QUOTED_CHARACTERS = "%.*"
"""Characters that mean something in a namespace, or that LangGraph refuses there."""


class SharedStore(ItemStore):
    """A LangGraph store for all users of an open Remembrancer.

    A namespace begins with an organisation and a user, and a label of its own. With `tenant` it
    begins with the user, of that organisation. With `quoted` both are written as `quote_label`
    returns them, which any name can be. A namespace of another user than the running graph is for
    is refused, and in a graph, chain or tool that names nobody so are all; `person_of` finds that
    user.
    """

    __slots__ = ("_options", "_people", "_person_of", "_quoted", "_tenant")

    def __init__(
        self,
        people: Remembrancer,
        *,
        tenant: str | None = None,
        quoted: bool = False,
        person_of: PersonOf = named_person,
        **options: Unpack[StoreOptions],
    ) -> None:
        check_people(people, "SharedStore", person_of)
        check_item_value("tenant", tenant, str | None)
        profile = people.settings.profile_for()
        check_profile(profile)
        build_policy(profile, options)
        self._people = people
        self._tenant = tenant
        self._quoted = quoted
        self._person_of = person_of
        self._options = options
        self.ttl_config = options.get("ttl")

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Run the operations on the memory of each user; none is run if one is refused."""
        ops = list(ops)
        for op in ops:
            check_op(op)
        roots = [self._find_root(op) for op in ops]
        people = {root: self._read_person(root) for root in roots}
        self._refuse_others(people.values())
        results: list[Result] = [None] * len(ops)
        for root, person in people.items():
            indexes = [index for index, one in enumerate(roots) if one == root]
            store = self._open_store(root, person)
            found = store.batch(ops[index] for index in indexes)
            for index, result in zip(indexes, found, strict=True):
                results[index] = result
        return results

    def _find_root(self, op: Op) -> Namespace:
        """Return the labels of an operation that name a person."""
        match op:
            case SearchOp():
                labels = op.namespace_prefix
            case ListNamespacesOp():
                labels = _find_prefix(op)
            case _:
                labels = op.namespace
        length = 2 if self._tenant is None else 1
        named = tuple(labels[:length])
        if len(named) < length or "*" in named:
            raise InvalidNamespaceError(
                "A namespace must begin with an organisation and a user."
                if self._tenant is None
                else "A namespace must begin with a user."
            )
        is_prefix = isinstance(op, SearchOp | ListNamespacesOp)
        if self._tenant is None and len(labels) == length and not is_prefix:
            raise InvalidNamespaceError(
                f"{tuple(labels)} is an organisation and a user, and has no label of its own. "
                "If it begins with a user, open SharedStore(people, tenant=…)."
            )
        return normalise_labels(named)

    def _read_person(self, root: Namespace) -> RunPerson:
        names = [unquote_label(one) if self._quoted else one for one in root]
        return RunPerson(names[0] if self._tenant is None else self._tenant, names[-1])

    def _refuse_others(self, people: Iterable[RunPerson]) -> None:
        """Raise an error for users that the run in progress is not for, if there is a run."""
        run = get_run()
        if run is None:
            return
        tenant = self._people.settings.tenant if self._tenant is None else self._tenant
        own = find_person(run, tenant, self._person_of)
        if own is None:
            raise InvalidNamespaceError(
                "Say for whom the graph runs: set user_id in configurable or in the context. "
                "A chain or tool that is called with a configurable of its own names it there."
            )
        if set(people) - {own}:
            raise InvalidNamespaceError(
                "The namespace is of another user than this graph runs for."
            )

    def _open_store(self, root: Namespace, person: RunPerson) -> RemembrancerStore:
        memory = self._people.for_user(person.user, tenant=person.tenant, surface=SURFACE)
        return RemembrancerStore(memory, under=root, **self._options)


def quote_label(name: str) -> str:
    """Return the label of an organisation or a user for a store that is `quoted`."""
    check_item_value("The name to quote", name, str)
    return "".join(f"%{ord(one):02X}" if one in QUOTED_CHARACTERS else one for one in name)


def unquote_label(label: str) -> str:
    """Return the name in a quoted label; raises InvalidNamespaceError if it has another form."""
    codes = "|".join(f"{ord(one):02X}" for one in QUOTED_CHARACTERS)
    name = re.sub(f"%({codes})", lambda found: chr(int(found[1], 16)), label)
    if quote_label(name) != label:
        raise InvalidNamespaceError(f"{label!r} is not quoted: pass quote_label(…).")
    return name


def _find_prefix(op: ListNamespacesOp) -> Namespace:
    """Return the longest prefix condition."""
    paths = [one.path for one in op.match_conditions or () if one.match_type == "prefix"]
    return max((tuple(path) for path in paths), key=len, default=())
