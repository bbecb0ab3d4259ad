"""N1: what a LangGraph namespace says of an organisation and a user is where it stays."""

from __future__ import annotations

from itertools import permutations

import pytest
from langgraph.store.base import InvalidNamespaceError

from remembrancer.integrations.langgraph import SharedStore
from tests.support.opening import Open

pytestmark = pytest.mark.feature("N1")


def test_N1_one_store_for_all_shows_each_person_their_own_alone(
    open_memory: Open, tenant: str
) -> None:
    people = open_memory("namespaces")
    store = SharedStore(people)
    spaces = [(tenant, "ada"), (tenant, "bob"), (f"{tenant}2", "ada"), (tenant, "adabob")]
    for space in spaces:
        store.put((*space, "notes"), "k", {"text": f"This is of {space}."})

    for own, other in permutations(spaces, 2):
        found = [*store.search(own, limit=100), *store.search(own, query=f"of {other}", limit=100)]
        assert {one.value["text"] for one in found} == {f"This is of {own}."}
        assert {one.namespace for one in found} == {(*own, "notes")}
        assert store.list_namespaces(prefix=own) == [(*own, "notes")]
    for beyond in ((), (tenant,)):
        with pytest.raises(InvalidNamespaceError, match="an organisation and a user"):
            store.search(beyond)
        with pytest.raises(InvalidNamespaceError, match="an organisation and a user"):
            store.list_namespaces(prefix=beyond)

    people.erase("bob")
    assert store.search((tenant, "bob")) == []
    assert len(store.search((tenant, "ada"))) == 1
