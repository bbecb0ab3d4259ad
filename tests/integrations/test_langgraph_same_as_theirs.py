"""The same deeds in LangGraph's own store come to the same."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from langgraph.store.base import BaseStore, ListNamespacesOp, MatchCondition, PutOp
from langgraph.store.memory import InMemoryStore

import remembrancer
from remembrancer.embed.cache import CachedEmbedder
from remembrancer.engine import Remembrancer
from remembrancer.integrations.langgraph import RemembrancerStore

Space = tuple[str, ...]

NUMBERS = itertools.count()
LABELS = st.sampled_from(["a", "b", "ab", "A", "*", "%", "_", "é", "日本", "a b"])
SPACES = st.lists(LABELS, min_size=1, max_size=3).map(tuple)
KEYS = st.sampled_from(["k", "K", "", "k/1", "k.1", "%"])
VALUES = st.fixed_dictionaries(
    {"n": st.sampled_from([0, 1, 2.5, True, None, "x"])},
    optional={"deep": st.fixed_dictionaries({"m": st.integers(0, 2)})},
)
PUTS = st.tuples(SPACES, KEYS, VALUES | st.none()).map(lambda said: PutOp(*said))
FILTERS = st.none() | st.fixed_dictionaries(
    {}, optional={"n": st.sampled_from([2.5, "x", None]), "deep": st.just({"m": 1})}
)


@pytest.fixture(scope="module")
def anybody(embedder: CachedEmbedder) -> Iterator[Remembrancer]:
    with remembrancer.open(":memory:", profile="namespaces", embedder=embedder) as people:
        yield people


@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    puts=st.lists(PUTS, max_size=6),
    prefix=st.just(()) | SPACES,
    pattern=SPACES,
    wanted=FILTERS,
    depth=st.none() | st.integers(1, 3),
)
def test_it_comes_to_the_same_as_in_langgraphs_own_store(
    anybody: Remembrancer,
    puts: list[PutOp],
    prefix: Space,
    pattern: Space,
    wanted: dict[str, Any] | None,
    depth: int | None,
) -> None:
    somewhere = anybody.for_namespace(["acme", "ada", f"example {next(NUMBERS)}"])
    ours, theirs = RemembrancerStore(somewhere), InMemoryStore()
    for op in puts:
        assert ours.batch([op]) == theirs.batch([op])

    def told(store: BaseStore) -> list[object]:
        items = [store.get(op.namespace, op.key) for op in puts]
        found = store.search(prefix, filter=wanted, limit=100)
        return [
            [one and (one.namespace, one.key, one.value) for one in items],
            sorted((one.namespace, one.key, repr(one.value)) for one in found),
        ]

    def listed(store: BaseStore) -> list[object]:
        conditions = (MatchCondition("prefix", pattern), MatchCondition("suffix", pattern))
        ops = [ListNamespacesOp((one,), max_depth=depth) for one in conditions]
        return list(store.batch([*ops, ListNamespacesOp()]))

    assert told(ours) == told(theirs)
    assert listed(ours) == listed(without_the_deleted(theirs))


def without_the_deleted(store: InMemoryStore) -> InMemoryStore:
    """LangGraph's store goes on listing a namespace when everything in it was deleted."""
    fresh = InMemoryStore()
    for one in store.search((), limit=100):
        fresh.put(one.namespace, one.key, one.value)
    return fresh
