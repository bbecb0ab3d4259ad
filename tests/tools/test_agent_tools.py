"""M8: twelve MCP tools over episodes, facts and rules, with the arguments agents know."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest

from remembrancer.clock import ManualClock
from remembrancer.engine import Remembrancer
from remembrancer.testing import ModelEndpoint
from tests.mcp.talk import Talk, contents, inside, principal
from tests.support.plans import plans

pytestmark = [pytest.mark.feature("M8"), pytest.mark.postgres_long]

ARGUMENTS = {
    "memory_store_episode": "content butler session_id? importance?",
    "memory_store_fact": "subject predicate content importance? permanence? scope? tags?",
    "memory_store_rule": "content scope? tags?",
    "memory_search": "query types? scope? mode? limit? min_confidence? as_of? true_at?",
    "memory_recall": "topic scope? limit? min_confidence? as_of? true_at?",
    "memory_get": "type id as_of? true_at?",
    "memory_confirm": "type id",
    "memory_mark_helpful": "rule_id",
    "memory_mark_harmful": "rule_id reason?",
    "memory_forget": "type id",
    "memory_stats": "scope? as_of? true_at?",
    "memory_context": "trigger_prompt butler token_budget? as_of? true_at?",
}


@pytest.fixture
def engine(open_memory: Callable[..., Remembrancer]) -> Remembrancer:
    return open_memory("agents")


@pytest.fixture
def talk(engine: Remembrancer) -> Iterator[Talk]:
    with inside(engine, principal(engine)) as talk:
        yield talk


def fact(talk: Talk, content: str, **details: Any) -> Any:
    topic = {"subject": "user", "predicate": "goal"}
    return talk.call("memory_store_fact", content=content, **topic | details)


def test_M8_the_tools_and_their_arguments_are_these(talk: Talk) -> None:
    tools = talk.tools()
    assert set(tools) == set(ARGUMENTS)
    for name, arguments in ARGUMENTS.items():
        schema = tools[name].input_schema
        assert set(schema["properties"]) == {one.rstrip("?") for one in arguments.split()}
        needed = {one for one in arguments.split() if not one.endswith("?")}
        assert set(schema.get("required", ())) == needed, name


def test_M8_a_fact_with_the_same_subject_and_predicate_is_superseded(talk: Talk) -> None:
    old = fact(talk, "Lose five kilos.")
    new = fact(talk, "Run a marathon.")

    assert new["replaced"] == old["id"]
    assert talk.call("memory_get", type="fact", id=old["id"])["status"] == "superseded"
    assert contents(talk.call("memory_recall", topic="goal")) == ["Run a marathon."]


def test_M8_searching_recalling_and_getting_count_as_uses(talk: Talk, engine: Remembrancer) -> None:
    kept = fact(talk, "Learn the cello.")
    talk.call("memory_search", query="cello")
    talk.call("memory_recall", topic="cello")
    talk.call("memory_get", type="fact", id=kept["id"])

    engine.flush()
    record = engine.for_user("ada").get(kept["id"])
    assert record.recall_count == 3
    assert record.recalled_at is not None


def test_M8_fading_memories_are_kept_from_agents_unless_they_ask(
    talk: Talk, clock: ManualClock
) -> None:
    kept = fact(talk, "Wants to see the comet.", permanence="volatile")
    clock.advance(timedelta(days=70))

    assert talk.call("memory_recall", topic="comet")["items"] == []
    for found in (
        talk.call("memory_search", query="comet", min_confidence=0),
        talk.call("memory_recall", topic="comet", min_confidence=0),
    ):
        assert [one["confidence"] < 0.2 for one in found["items"]] == [True]
    for tool, query in (("memory_search", "query"), ("memory_recall", "topic")):
        for outside in (-1, 7):
            problem = talk.fails(tool, min_confidence=outside, **{query: "comet"})
            assert "The minimum confidence must be from 0 to 1." in str(problem)
    talk.call("memory_confirm", type="fact", id=kept["id"])
    (found,) = talk.call("memory_recall", topic="comet")["items"]
    assert found["confidence"] == 1


def test_M8_a_rule_begins_as_a_candidate_and_earns_trust(talk: Talk) -> None:
    rule = talk.call("memory_store_rule", content="Warm up before running.")["id"]
    assert talk.call("memory_get", type="rule", id=rule)["maturity"] == "candidate"

    for _ in range(5):
        talk.call("memory_mark_helpful", rule_id=rule)

    assert talk.call("memory_get", type="rule", id=rule)["maturity"] == "established"
    assert talk.call("memory_stats")["rules"] == {"established": 1}


def test_M8_harm_turns_a_rule_into_a_warning_with_its_reasons(talk: Talk) -> None:
    rule = talk.call("memory_store_rule", content="Skip breakfast.")["id"]
    for reason in ("Fainted.", "Could not think.", "Fainted again."):
        done = talk.call("memory_mark_harmful", rule_id=rule, reason=reason)

    assert done["replaced"] == rule
    assert done["content"].startswith("ANTI-PATTERN: Do NOT")
    assert "Could not think" in done["content"]


def test_M8_recall_brings_facts_and_rules_and_search_episodes_too(talk: Talk) -> None:
    fact(talk, "Trains in the park.")
    talk.call("memory_store_rule", content="Train in the park when it is dry.")
    talk.call("memory_store_episode", content="Trained in the park with Bo.", butler="health")

    recalled = talk.call("memory_recall", topic="training in the park")["items"]
    assert {one["kind"] for one in recalled} == {"fact", "rule"}
    searched = talk.call("memory_search", query="training in the park")["items"]
    assert {one["kind"] for one in searched} == {"fact", "rule", "episode"}


def test_M8_what_is_forgotten_can_be_restored(talk: Talk, engine: Remembrancer) -> None:
    kept = fact(talk, "Owns a kayak.")
    assert talk.call("memory_forget", type="fact", id=kept["id"])["done"] == "forgotten"
    assert talk.call("memory_recall", topic="kayak")["items"] == []

    engine.for_user("ada").restore(kept["id"])
    assert contents(talk.call("memory_recall", topic="kayak")) == ["Owns a kayak."]


def test_M8_stats_tell_kinds_confidence_backlog_and_rules(talk: Talk, clock: ManualClock) -> None:
    fact(talk, "Drinks coffee.", permanence="volatile")
    clock.advance(timedelta(days=70))
    fact(talk, "Sleeps early.", predicate="habit", scope="health")
    talk.call("memory_store_episode", content="Bought beans.", butler="shopping")

    told = talk.call("memory_stats")
    assert told["by_kind"] == {"fact": {"active": 2}, "episode": {"active": 1}}
    assert told["confidence"] == {"0-0.2": 1, "0.8-1": 1}
    assert (told["fading"], told["episodes_waiting"]) == (1, 1)
    told = talk.call("memory_stats", scope="health")
    assert told["by_scope"] == {"global": 1, "health": 1}
    assert told["episodes_waiting"] == 0


def test_M8_stats_read_as_lines(
    open_memory: Callable[..., Remembrancer], models: dict[str, Any], model: ModelEndpoint
) -> None:
    store = open_memory("agents", models=models)
    with inside(store, principal(store)) as talk:
        assert len(talk.says("memory_stats").splitlines()) == 1
        fact(talk, "Drinks coffee.")
        rule = talk.call("memory_store_rule", content="Warm up before running.")["id"]
        for _ in range(4):
            talk.call("memory_mark_helpful", rule_id=rule)
        talk.call("memory_mark_harmful", rule_id=rule, reason="It was late.")
        talk.call("memory_store_episode", content="Bought beans.", butler="shopping")
        model.script = plans({})
        store.for_user("ada").consolidate()

        told = talk.says("memory_stats").splitlines()

    assert told[1:] == [
        "Rules: 1 candidate.",
        "Effectiveness of rules: 50%.",
        "Confidence of facts and rules: 1 at 0.4-0.6, 1 at 0.8-1.",
        "Last consolidation: 2026-03-02T12:00:00+00:00.",
    ]


def test_M8_context_is_a_block_of_sections_within_the_budget(talk: Talk) -> None:
    for index in range(40):
        fact(talk, f"Goal {index}: read a long book about the sea and ships.", subject=f"s{index}")
    talk.call("memory_store_rule", content="Suggest books about the sea.")

    told = talk.call("memory_context", trigger_prompt="books about the sea", butler="library")
    assert "## Your Memory" in told["text"]
    assert "### How To Behave (Rules)" in told["text"]
    assert told["tokens"] <= 3000
    short = talk.call("memory_context", trigger_prompt="sea", butler="library", token_budget=150)
    assert 0 < short["tokens"] <= 150


@pytest.mark.feature("X2")
def test_M8_tools_that_read_look_back(talk: Talk, clock: ManualClock) -> None:
    topic = {"subject": "ada", "predicate": "home"}
    oslo = fact(talk, "Ada lives in Oslo.", **topic)["id"]
    clock.advance(timedelta(days=1))
    lima = fact(talk, "Ada lives in Lima.", **topic)["id"]
    clock.advance(timedelta(days=1))
    question = "Where does Ada live?"

    def look(**then: str) -> tuple[object, ...]:
        prompt = {"trigger_prompt": question, "butler": "kitchen"}
        text = str(talk.call("memory_context", **prompt, **then))
        return (
            contents(talk.call("memory_recall", topic=question, **then)),
            talk.call("memory_get", type="fact", id=oslo, **then)["content"],
            talk.call("memory_stats", **then)["by_scope"],
            [city for city in ("Oslo", "Lima") if city in text],
        )

    for moment in ("as_of", "true_at"):
        then = {moment: "2026-03-02"}
        found = (["Ada lives in Oslo."], "Ada lives in Oslo.", {"global": 1}, ["Oslo"])
        assert look(**then) == found
    then = {"true_at": "2026-03-03"}
    assert look(**then) == (["Ada lives in Lima."], "Ada lives in Lima.", {"global": 1}, ["Lima"])
    missing = talk.fails("memory_get", type="fact", id=lima, as_of="2026-03-02")
    assert missing["code"] == "not_found"
