"""M11, X7: pending episodes become a plan, shown as a diff, applied and undone as one."""

from __future__ import annotations

from typing import Any

import pytest

from remembrancer.clock import ManualClock
from remembrancer.engine import Remembrancer
from remembrancer.errors import Conflict, InvalidInput
from remembrancer.learn.consolidation.plan import from_json
from remembrancer.memory import Memory
from remembrancer.testing import ModelEndpoint, says
from remembrancer.types import Action, Backlog, Episode, Fact, Kind, Rule, Source, Status
from tests.support import plans as support
from tests.support.opening import Open
from tests.support.plans import name_of

pytestmark = pytest.mark.feature("M11", "X7")

DIET = {
    "subject": "user",
    "predicate": "diet",
    "content": "Follows a low-carb diet",
    "permanence": "standard",
    "episodes": ["e1"],
}
BULLETS = {
    "content": "List ingredients as bullet points",
    "episodes": ["e2"],
    "permanence": "stable",
}


@pytest.fixture
def store(open_memory: Open, models: dict[str, Any]) -> Remembrancer:
    return open_memory("agents", models=models)


@pytest.fixture
def health(store: Remembrancer) -> Memory:
    """What the health butler keeps: two episodes that wait."""
    me = store.for_user("ada", agent="health")
    me.remember("Logged 75 kg; follows a low-carb diet since last week", kind="episode")
    me.remember("Corrected me: ingredients of a recipe as a list of bullet points", kind="episode")
    return me


def plans(model: ModelEndpoint, **changes: Any) -> None:
    model.script = support.plans(changes)


def episodes(me: Memory) -> list[Episode]:
    found = [me.get(one.id) for one in me.list(kinds=("episode",)).items]
    return [one for one in found if isinstance(one, Episode)]


def lasting(me: Memory) -> set[str]:
    return {one.content for one in me.list(kinds=("fact", "rule")).items}


def test_M11_episodes_become_facts_and_rules_and_are_done(
    health: Memory, model: ModelEndpoint
) -> None:
    plans(model, facts=[DIET], rules=[BULLETS])

    (batch,) = health.consolidate().batches

    found = {one.kind: one for one in health.list(kinds=("fact", "rule")).items}
    fact, rule = found[Kind.FACT], found[Kind.RULE]
    assert isinstance(fact, Fact)
    assert (fact.subject, fact.predicate, fact.permanence) == ("user", "diet", "standard")
    assert isinstance(rule, Rule)
    assert (fact.source, fact.scope, fact.confidence) == (Source.CONSOLIDATED, "global", 1.0)
    assert set(batch.ids) == {fact.id, rule.id}
    assert {one.relation for one in health.links(fact.id)} == {"derived_from"}
    assert {one.backlog for one in episodes(health)} == {Backlog.DONE}
    assert not health.audit().findings


def test_X7_a_plan_is_a_diff_and_changes_nothing(health: Memory, model: ModelEndpoint) -> None:
    plans(model, facts=[DIET], rules=[BULLETS])
    before = health.activity().items

    (plan,) = health.plan_consolidation()

    assert plan.diff() == [
        "+ fact: user diet: Follows a low-carb diet",
        "+ rule: List ingredients as bullet points",
    ]
    assert health.activity().items == before
    assert not lasting(health)


def test_X7_a_plan_can_be_kept_and_applied_later_but_not_twice(
    health: Memory, model: ModelEndpoint
) -> None:
    plans(model, facts=[DIET])
    (plan,) = health.plan_consolidation()
    kept = from_json(plan.to_json())
    assert kept == plan

    health.consolidate(kept)

    assert lasting(health) == {"Follows a low-carb diet"}
    with pytest.raises(Conflict):
        health.consolidate(kept)
    with pytest.raises(InvalidInput):
        from_json({"steps": "all"})


def test_X7_it_is_undone_as_one_and_not_done_again_by_itself(
    store: Remembrancer, health: Memory, model: ModelEndpoint, tenant: str
) -> None:
    old = health.remember("Eats bread", subject="user", predicate="diet", source="extracted").memory
    plans(model, facts=[DIET], rules=[BULLETS], confirmations=[])
    (batch,) = health.consolidate().batches
    assert lasting(health) == {"Follows a low-carb diet", "List ingredients as bullet points"}

    assert batch.event is not None
    health.undo(batch.event.id)

    assert lasting(health) == {"Eats bread"}
    assert health.get(old.id).status is Status.ACTIVE
    store.run_job("consolidate", tenant=tenant)
    assert lasting(health) == {"Eats bread"}


def test_M11_updates_confirmations_and_links(
    health: Memory, model: ModelEndpoint, clock: ManualClock
) -> None:
    weight = health.remember("Weighs 80 kg", source="extracted").memory
    diet = health.remember("Follows a low-carb diet", source="extracted").memory

    def plan(shown: str) -> dict[str, Any]:
        old, same = name_of(shown, weight.content), name_of(shown, diet.content)
        return {
            "updates": [{"target": old, "content": "Weighs 75 kg", "episodes": ["e1"]}],
            "confirmations": [same],
            "links": [{"source": same, "target": old, "relation": "related_to"}],
        }

    model.script = support.plans(plan)
    health.consolidate()

    assert lasting(health) == {"Weighs 75 kg", "Follows a low-carb diet"}
    assert health.get(weight.id).status is Status.SUPERSEDED
    assert [one.action for one in health.history(diet.id).events][-1] is Action.CONSOLIDATED


@pytest.mark.parametrize(
    ("proposed", "why"),
    [
        ({"facts": [DIET | {"episodes": ["e9"]}]}, "episode that the model was not shown"),
        ({"facts": [DIET | {"episodes": []}]}, "shape"),
        ({"facts": [DIET | {"content": "Follows a low-carb diet by Atkins"}]}, "name or a number"),
        ({"updates": [{"target": "m9", "content": "x y z", "episodes": ["e1"]}]}, "not shown"),
        ({"links": [{"source": "n1", "target": "m1", "relation": "supports"}]}, "not shown"),
        ({"rules": [BULLETS | {"episodes": ["e1"]}]}, "two episodes or a correction"),
        ({"confirmations": ["m1"]}, "no episode supports it"),
        ({"merges": [{"keep": "m1", "drop": ["m2"]}]}, "the other does not"),
        ({"links": [{"source": "m1", "target": "m2", "relation": "supersedes"}]}, "shape"),
        ({"rules": "always obey"}, "not a list"),
    ],
)
def test_M11_what_the_episodes_do_not_bear_out_is_refused(
    health: Memory, model: ModelEndpoint, proposed: dict[str, Any], why: str
) -> None:
    for words in ("The cat is called Ink", "The boiler is in the cellar"):
        health.remember(words, source="extracted")
    before = lasting(health)
    model.script = support.plans(proposed, unsupported=("Ink", "boiler"))

    (plan,) = health.plan_consolidation()
    health.consolidate(plan)

    assert lasting(health) == before
    assert why in plan.refused[0]


def test_M11_agents_are_consolidated_apart(
    store: Remembrancer, health: Memory, model: ModelEndpoint, tenant: str
) -> None:
    store.for_user("ada", agent="mail").remember("Wrote to Maria about June", kind="episode")
    plans(model)

    store.run_job("consolidate", tenant=tenant)

    shown = [one.json["messages"][-1]["content"] for one in model.requests]
    assert len(shown) == 2
    assert {"Maria" in one for one in shown} == {True, False}
    assert not any("Maria" in one and "diet" in one for one in shown)


def test_M11_a_malformed_answer_changes_nothing_and_after_five_the_episodes_are_put_aside(
    store: Remembrancer, health: Memory, model: ModelEndpoint, tenant: str
) -> None:
    model.default = says("I would rather not.")

    for attempt in range(1, 6):
        store.run_job("consolidate", tenant=tenant)
        assert [one.attempts for one in episodes(health)] == [attempt, attempt]

    assert {one.backlog for one in episodes(health)} == {Backlog.DEAD}
    assert all("model_misspoke" in (one.failure or "") for one in episodes(health))
    assert not lasting(health)
    asked = len(model.requests)
    store.run_job("consolidate", tenant=tenant)
    assert len(model.requests) == asked


def test_M11_without_a_model_episodes_wait_and_what_says_the_same_can_be_merged(
    open_memory: Open, tenant: str
) -> None:
    store = open_memory("agents")
    me = store.for_user("ada")
    me.remember("Something happened", kind="episode")
    first = me.remember("The cat is called Ink", category="fact", tags=["a"]).memory
    call = me._call
    from dataclasses import replace

    from remembrancer.ids import new_id
    from remembrancer.store.contract import Insert

    twin = replace(first, id=new_id("fact", call.now()), lineage="", source=Source.IMPORTED)
    with call.store.open_writer(call.owner) as writer:
        event = call.new_event(Action.REMEMBERED, call.now())
        writer.apply(event, [Insert(twin, call.embed(twin.search_text))])

    assert store.run_job("consolidate", tenant=tenant).changed == 0
    (plan,) = me.plan_consolidation()
    assert plan.diff() == ["- The cat is called Ink", "= The cat is called Ink"]
    (batch,) = me.consolidate(plan).batches

    assert [one.id for one in me.list(kinds=("fact",)).items] == [first.id]
    assert batch.event is not None
    me.undo(batch.event.id)
    assert len(me.list(kinds=("fact",)).items) == 2
    assert {one.backlog for one in episodes(me)} == {Backlog.PENDING}
