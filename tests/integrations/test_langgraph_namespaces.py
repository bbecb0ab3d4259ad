"""A namespace leads to one person's memory and to nothing else, whatever is written into it."""

from __future__ import annotations

import asyncio
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from langchain_core.runnables import RunnableLambda
from langgraph.graph import START, StateGraph
from langgraph.store.base import (
    BaseStore,
    GetOp,
    InvalidNamespaceError,
    ListNamespacesOp,
    MatchCondition,
    PutOp,
    SearchOp,
)

from remembrancer.engine import Remembrancer
from remembrancer.errors import InvalidInput
from remembrancer.integrations.langgraph import (
    AssistantState,
    RemembrancerStore,
    SharedStore,
    quote_label,
    run_config,
)
from tests.support.opening import Open

pytestmark = pytest.mark.parametrize("place", ["sqlite"], indirect=True)
"""Both engines keep people apart: see N1. Here is what happens to a name before it reaches them."""

Space = tuple[str, ...]
NFC, NFD = (unicodedata.normalize(form, "zoé") for form in ("NFC", "NFD"))


@pytest.fixture
def people(open_memory: Open) -> Remembrancer:
    return open_memory("namespaces")


@pytest.fixture
def shared(people: Remembrancer) -> SharedStore:
    return SharedStore(people)


def shown(store: BaseStore, space: Space) -> set[Any]:
    """All that a prefix shows, by every way of reading; they must agree."""
    listed = {one.value["of"] for one in store.search(space, limit=100)}
    assert listed == {one.value["of"] for one in store.search(space, query="of", limit=100)}
    named = store.list_namespaces(prefix=space)
    found = {one.value["of"] for space in named for one in store.search(space, limit=100)}
    assert found == listed
    return listed


TRICKY: list[tuple[Space, Space]] = [
    (("acme", "ada"), ("acme", "ada2")),
    (("acme", "ada"), ("acme2", "ada")),
    (("ab", "c"), ("a", "bc")),
    (("a/b", "c"), ("a", "b/c")),
    (("acme", "%"), ("acme", "ada")),
    (("acme", "_da"), ("acme", "ada")),
    (("acme", "Ada"), ("acme", "ada")),
    (("acme", "straße"), ("acme", "strasse")),
    (("acme", "ada", "%"), ("acme", "ada", "notes")),
    (("acme", "ada", "*"), ("acme", "ada", "notes")),
    (("acme", "ada", "n_tes"), ("acme", "ada", "notes")),
    (("acme", "ada", "note"), ("acme", "ada", "notes", "x")),
    (("acme", "ada", "global"), ("acme", "ada", "items")),
    (("acme", "ada", "日"), ("acme", "ada", "日本")),
    (("acme", "ada", "acme", "bob"), ("acme", "bob")),
]


@pytest.mark.parametrize(("one", "other"), TRICKY)
def test_names_that_look_alike_share_nothing(one: Space, other: Space, shared: SharedStore) -> None:
    inner, outer = ((*space, "x") if len(space) == 2 else space for space in (one, other))
    for space, owner in ((inner, one), (outer, other)):
        shared.put(space, "k", {"of": str(owner)})

    items = [shared.get(space, "k") for space in (inner, outer)]
    assert [item and item.value["of"] for item in items] == [str(one), str(other)]
    if "*" not in one:
        assert shown(shared, one) == {str(one)}
    assert shown(shared, other) == {str(other)}
    shared.delete(inner, "k")
    assert shown(shared, other) == {str(other)}


@pytest.mark.parametrize(
    ("space", "sentence"),
    [
        ("alice", r"a tuple of labels: pass \('alice',\)"),
        ({"acme", "ada"}, "a tuple of labels: not {"),
        (None, "a tuple of labels"),
        (("acme", "ada@x.org", "notes"), r"quoted=True\) and pass quote_label\('ada@x.org'\)"),
        (("acme", 42, "notes"), "must be strings, but got 42"),
    ],
)
def test_a_namespace_is_a_tuple_of_labels_without_periods(
    space: Any, sentence: str, shared: SharedStore, people: Remembrancer
) -> None:
    async def put_later(store: BaseStore) -> None:
        await store.aput(space, "k", {"of": "nobody"})

    for store in (shared, RemembrancerStore(people.for_user("ada"))):
        verbs: list[Callable[[], object]] = [
            lambda store=store: store.put(space, "k", {"of": "nobody"}),
            lambda store=store: asyncio.run(put_later(store)),
            lambda store=store: store.get(space, "k"),
            lambda store=store: store.delete(space, "k"),
            lambda store=store: store.search(space),
            lambda store=store: store.list_namespaces(prefix=space or "none"),
        ]
        for verb in verbs:
            with pytest.raises(InvalidNamespaceError, match=sentence):
                verb()
    assert people.owners() == []


def test_a_list_of_labels_is_a_namespace_too(shared: SharedStore, people: Remembrancer) -> None:
    space: Any = ["acme", "ada", "notes"]
    for store in (shared, RemembrancerStore(people.for_user("ada"))):
        store.put(space, "k", {"of": "ada"})
        item = store.get(space, "k")
        assert item is not None
        assert item.namespace == tuple(space)
        assert shown(store, space) == {"ada"}
        store.delete(space, "k")
        assert store.search(space) == []


@pytest.mark.parametrize("space", [(), ("acme",), ("*", "ada"), ("acme", "*"), ("*",)])
def test_what_names_no_person_is_refused(space: Space, shared: SharedStore) -> None:
    for op in (
        SearchOp(space),
        SearchOp(space, query="anything"),
        GetOp(space, "k"),
        PutOp(space, "k", {"n": 1}),
        ListNamespacesOp(),
        ListNamespacesOp((MatchCondition("prefix", space),)),
        ListNamespacesOp((MatchCondition("suffix", ("acme", "ada")),)),
    ):
        with pytest.raises(InvalidNamespaceError):
            shared.batch([PutOp(("acme", "ada"), "also", {"n": 1}), op])
    assert shared.search(("acme", "ada")) == []


@pytest.mark.parametrize(
    "label", ["a/b", "..", "/", "a.b", "", "a\x00b", "a\nb", "x" * 300, ".items", " "]
)
def test_labels_that_no_scope_can_hold_are_refused(label: str, shared: SharedStore) -> None:
    for space in (("acme", "ada", label), ("acme", "ada", "x", label)):
        with pytest.raises(InvalidNamespaceError):
            shared.batch([PutOp(space, "k", {"n": 1})])
        with pytest.raises(InvalidNamespaceError):
            shared.batch([GetOp(space, "k")])


def test_a_persons_own_namespace_is_a_namespace_too(people: Remembrancer) -> None:
    shared = SharedStore(people, tenant="acme")
    shared.put(("ada",), "k", {"of": "root"})
    shared.put(("ada", "notes"), "k", {"of": "notes"})

    assert shown(shared, ("ada",)) == {"root", "notes"}
    assert shared.list_namespaces(prefix=("ada",), max_depth=1) == [("ada",)]


def test_the_same_name_in_two_encodings_is_one_namespace(shared: SharedStore) -> None:
    shared.put(("acme", NFC, NFC), "k", {"of": "Zoé"})

    assert shown(shared, ("acme", NFD, NFD)) == {"Zoé"}
    assert shared.list_namespaces(prefix=("acme", NFD)) == [("acme", NFC, NFC)]


def test_a_store_under_a_person_refuses_all_others(people: Remembrancer) -> None:
    own = ("acme", "ada")
    store = RemembrancerStore(people.for_user("ada", tenant="acme"), under=own)
    store.put((*own, "notes"), "k", {"of": "ada"})

    assert shown(store, own) == {"ada"}
    for other in ((), ("acme",), ("acme", "bob"), ("acme2", "ada"), ("ada", "acme"), ("*", "*")):
        for op in (GetOp(other, "k"), SearchOp(other), PutOp(other, "k", {"of": "x"})):
            with pytest.raises(InvalidNamespaceError):
                store.batch([op])
    assert store.list_namespaces() == [(*own, "notes")]
    assert store.list_namespaces(prefix=("*", "*", "notes")) == [(*own, "notes")]
    assert store.list_namespaces(prefix=("acme", "bob")) == []


def test_a_memory_of_a_namespace_holds_a_store_that_cannot_leave_it(people: Remembrancer) -> None:
    whole = RemembrancerStore(people.for_namespace(["acme", "ada"]))
    work = RemembrancerStore(people.for_namespace(["acme", "ada", "work"]))
    whole.put(("home",), "k", {"of": "home"})
    whole.put(("work", "alpha"), "k", {"of": "alpha"})
    work.put(("beta",), "k", {"of": "beta"})

    assert shown(work, ()) == {"alpha", "beta"}
    assert work.list_namespaces() == [("alpha",), ("beta",)]
    assert shown(whole, ("work",)) == {"alpha", "beta"}
    assert work.batch([GetOp(away, "k") for away in (("home",), ("work", "alpha"))]) == [None] * 2


@dataclass
class Guest:
    """The context of a graph's run."""

    user_id: str
    org_id: str | None = None


def read_as(store: BaseStore, space: Space, config: Any = None, context: Any = None) -> Any:
    """What a node of a running graph reads in a namespace."""
    read: list[Any] = []
    run_in_graph(store, lambda store: read.extend(shown(store, space)), config, context)
    return read


def run_in_graph(
    store: BaseStore, act: Callable[[BaseStore], object], config: Any = None, context: Any = None
) -> None:
    def node(state: AssistantState, *, store: BaseStore) -> dict[str, Any]:
        act(store)
        return {}

    graph: Any = StateGraph(AssistantState, context_schema=Guest).add_node("node", node)
    graph.add_edge(START, "node").compile(store=store).invoke(
        {"messages": []}, config, context=context
    )


@pytest.mark.feature("N1")
def test_N1_a_running_graph_reaches_the_person_it_runs_for_and_nobody_else(
    people: Remembrancer, shared: SharedStore, tenant: str
) -> None:
    own, other = (tenant, "max", "notes"), (tenant, "zoe", "notes")
    for space in (own, other):
        shared.put(space, "k", {"of": space[1]})

    for config, context in (
        (run_config(tenant, "max", "first"), None),
        ({"configurable": {"user_id": "max"}}, None),
        (None, Guest("max", tenant)),
        (None, Guest("max")),
        (None, {"user_id": "max"}),
        ({"configurable": {"org_id": tenant}}, Guest("max")),
    ):
        assert read_as(shared, own, config, context) == ["max"]
        with pytest.raises(InvalidNamespaceError, match="another user than this graph runs for"):
            read_as(shared, other, config, context)


@pytest.mark.feature("N1")
def test_N1_a_graph_that_does_not_say_for_whom_it_runs_reaches_nothing(
    people: Remembrancer, shared: SharedStore, tenant: str
) -> None:
    shared.put((tenant, "zoe", "notes"), "k", {"of": "zoe"})
    space = (tenant, "zoe", "notes")

    for config, context, missing in (
        (None, None, "set user_id"),
        ({"configurable": {"thread_id": "first"}}, None, "set user_id"),
        ({"configurable": {"org_id": tenant}}, None, "no user_id"),
        ({"configurable": {"user_id": 42}}, None, r"must be text, not int. Pass str\(user_id\)"),
        ({"configurable": {"user_id": "max"}}, Guest("zoe"), "not the same in configurable and"),
    ):
        with pytest.raises((InvalidNamespaceError, InvalidInput), match=missing):
            read_as(shared, space, config, context)


@pytest.mark.feature("N1")
@pytest.mark.parametrize(
    "config", [None, run_config("acme", "max", "first")], ids=["outside of graphs", "in a graph"]
)
@pytest.mark.parametrize("more", [{}, {"metadata": {"a": 1}, "callbacks": []}], ids=["", "more"])
def test_N1_a_chain_with_a_configuration_of_its_own_reaches_the_person_it_names(
    shared: SharedStore, config: Any, more: dict[str, Any]
) -> None:
    spaces = [("acme", "max", "notes"), ("acme", "zoe", "notes")]
    for space in spaces:
        shared.put(space, "k", {"of": space[1]})
    chain: Any = RunnableLambda(lambda space: shown(shared, space))

    def call(space: Space, **configurable: str) -> Any:
        return chain.invoke(space, {"configurable": {"session_id": "s", **configurable}, **more})

    def check() -> None:
        for space in spaces:
            with pytest.raises(InvalidNamespaceError, match="with a configurable of its own"):
                call(space)
        assert call(spaces[0], org_id="acme", user_id="max") == {"max"}
        with pytest.raises(InvalidNamespaceError, match="another user"):
            call(spaces[1], org_id="acme", user_id="max")

    if config is None:
        check()
    else:
        run_in_graph(shared, lambda _: check(), config)


@pytest.mark.feature("N1")
def test_N1_an_application_can_say_where_its_runs_name_the_person(
    people: Remembrancer, tenant: str
) -> None:
    shared = SharedStore(people, person_of=lambda run: run.configurable.get("login"))
    shared.put((tenant, "max", "notes"), "k", {"of": "max"})
    config = {"configurable": {"login": "max"}}

    assert read_as(shared, (tenant, "max"), config) == ["max"]
    with pytest.raises(InvalidNamespaceError, match="another user"):
        read_as(shared, (tenant, "zoe"), config)


@pytest.mark.feature("N1")
def test_N1_a_namespace_that_begins_with_a_user_is_mapped_or_refused(
    people: Remembrancer, shared: SharedStore, tenant: str
) -> None:
    with pytest.raises(InvalidNamespaceError, match="open SharedStore"):
        shared.put(("ada", "memories"), "k", {"of": "ada"})

    own = SharedStore(people, tenant=tenant)
    own.put(("ada", "memories"), "k", {"of": "ada"})
    assert shown(own, ("ada",)) == {"ada"}
    assert own.list_namespaces(prefix=("ada",)) == [("ada", "memories")]
    assert len(people.for_user("ada").list().items) == 1
    assert read_as(own, ("ada", "memories"), context=Guest("ada")) == ["ada"]
    acme = SharedStore(people, tenant="acme")
    acme.put(("ada", "memories"), "k", {"of": "ada of acme"})
    assert read_as(acme, ("ada", "memories"), context=Guest("ada")) == ["ada of acme"]
    for guest in (Guest("bob"), Guest("ada", tenant)):
        with pytest.raises(InvalidNamespaceError, match="another user"):
            read_as(acme, ("ada", "memories"), context=guest)
    for one, space in ((own, ("bob", "memories")), (shared, ("ada", "memories"))):
        with pytest.raises(InvalidNamespaceError, match="another user"):
            read_as(one, space, context=Guest("ada"))
    with pytest.raises(InvalidNamespaceError, match="must begin with a user"):
        own.search(())


@pytest.mark.feature("N1")
def test_N1_any_name_can_be_quoted_as_a_label(people: Remembrancer, tenant: str) -> None:
    shared = SharedStore(people, tenant=tenant, quoted=True)
    users = ("ada@example.com", "ada@example%2Ecom", "*", "100%", "ada/bob")
    for user in users:
        shared.put((quote_label(user), "notes"), "k", {"of": user})

    for user in users:
        assert shown(shared, (quote_label(user),)) == {user}
        assert len(people.for_user(user).list().items) == 1
        assert read_as(shared, (quote_label(user), "notes"), context=Guest(user)) == [user]
    for label in ("100%", "ada%2ecom", "%41da"):
        with pytest.raises(InvalidNamespaceError, match="is not quoted"):
            shared.search((label,))


@pytest.mark.feature("N1")
def test_N1_a_profile_without_namespaces_is_refused_when_a_store_is_made(open_memory: Open) -> None:
    with pytest.raises(InvalidInput, match="profile='namespaces'"):
        SharedStore(open_memory())
