"""M7: facts and rules of `global` and the caller, the caller's episodes; without a scope, all."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from remembrancer.engine import Remembrancer
from remembrancer.errors import NotFound
from remembrancer.memory import Memory

pytestmark = pytest.mark.feature("M7")

SCOPES = ("global", "health", "finance")


@pytest.fixture
def store(open_fake: Callable[..., Remembrancer]) -> Remembrancer:
    return open_fake("agents")


@pytest.fixture
def everything(store: Remembrancer) -> Remembrancer:
    me = store.for_user("ada")
    for scope in SCOPES:
        for kind in ("fact", "rule", "episode"):
            me.remember(f"A {kind} of {scope}.", kind=kind, scope=scope)
    return store


def seen(memory: Memory, **wanted: str) -> set[str]:
    """What can be read: the listing and all three searches must agree."""
    listed = {one.content for one in memory.list(**wanted).items}
    for mode in ("semantic", "keyword", "hybrid"):
        found = memory.recall("a fact rule episode", mode=mode, **wanted)
        assert {one.memory.content for one in found} == listed
    return listed


def expected(own: str) -> set[str]:
    return {
        "A fact of global.",
        "A rule of global.",
        f"A fact of {own}.",
        f"A rule of {own}.",
        f"A episode of {own}.",
    }


@pytest.mark.parametrize("agent", ["health", "finance"])
def test_M7_an_agent_sees_the_global_its_own_and_its_own_episodes(
    agent: str, everything: Remembrancer
) -> None:
    assert seen(everything.for_user("ada", agent=agent)) == expected(agent)


@pytest.mark.parametrize("scope", ["health", "finance"])
def test_M7_a_scope_can_be_asked_for(scope: str, everything: Remembrancer) -> None:
    assert seen(everything.for_user("ada"), scope=scope) == expected(scope)


def test_M7_without_a_scope_all_are_searched(everything: Remembrancer) -> None:
    assert len(seen(everything.for_user("ada"))) == 9


def test_M7_a_scope_that_nobody_wrote_to_shows_only_what_is_global(
    everything: Remembrancer,
) -> None:
    assert seen(everything.for_user("ada", agent="travel")) == {
        "A fact of global.",
        "A rule of global.",
    }


def test_M7_what_an_agent_stores_is_for_all_but_its_episodes_are_its_own(
    store: Remembrancer,
) -> None:
    health = store.for_user("ada", agent="health")
    assert health.remember("A fact.").memory.scope == "global"
    assert health.remember("A rule.", kind="rule").memory.scope == "global"
    assert health.remember("An episode.", kind="episode").memory.scope == "health"
    assert health.remember("A fact of its own.", scope="health").memory.scope == "health"
    assert health.list().items[0].agent == "health"


@pytest.mark.parametrize("kind", ["fact", "rule", "episode"])
def test_M7_what_is_out_of_scope_cannot_be_reached_by_its_id(
    kind: str, store: Remembrancer
) -> None:
    finance = store.for_user("ada", agent="finance")
    written = finance.remember("Out of sight.", kind=kind, scope="finance").memory
    health = store.for_user("ada", agent="health")

    for attempt in (health.get, health.forget, health.confirm, health.history, health.delete):
        with pytest.raises(NotFound):
            attempt(written.id)
    with pytest.raises(NotFound):
        health.undo()


def test_M7_the_same_key_in_two_scopes_is_two_facts(store: Remembrancer) -> None:
    me = store.for_user("ada")
    for scope in ("health", "finance"):
        me.remember(f"Seen by {scope}", subject="user", predicate="goal", scope=scope)

    assert len(me.list().items) == 2


def test_M7_updating_keeps_the_scope(store: Remembrancer) -> None:
    health = store.for_user("ada", agent="health")
    own = health.remember("Weighs 75 kg.", scope="health").memory

    assert health.update(own.id, "Weighs 74 kg.").memory.scope == "health"
    assert store.for_user("ada", agent="finance").list().items == ()


def test_M15_what_an_agent_stored_can_be_selected_wherever_it_belongs(store: Remembrancer) -> None:
    for agent in ("health", "finance"):
        mine = store.for_user("ada", agent=agent)
        for kind in ("fact", "rule", "episode"):
            mine.remember(f"A {kind} by {agent}.", kind=kind, scope="global")
    store.for_user("ada").remember("A fact by nobody's agent.")

    expected = {f"A {kind} by health." for kind in ("fact", "rule", "episode")}
    assert seen(store.for_user("ada"), agent="health") == expected
