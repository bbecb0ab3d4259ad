"""N4: a graph recalls before its model speaks, and learns after actions or every few turns."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph

from remembrancer.engine import Remembrancer
from remembrancer.errors import InvalidInput
from remembrancer.integrations.langgraph import (
    AssistantState,
    learn_node,
    of_run,
    recall_node,
    run_config,
)
from tests.support.opening import Open

pytestmark = [pytest.mark.feature("N4"), pytest.mark.postgres_long]


@pytest.fixture
def people(open_memory: Open) -> Remembrancer:
    return open_memory("namespaces")


def graph(people: Remembrancer, *replies: Any) -> Any:
    """recall → reply → learn, where the replies are said one after the other."""
    said = iter(replies)
    built = StateGraph(AssistantState)
    built.add_node("recall", recall_node(of_run(people)))
    built.add_node("reply", lambda _: {"messages": next(said)})
    built.add_node("learn", learn_node(of_run(people)))
    built.add_edge(START, "recall").add_edge("recall", "reply").add_edge("reply", "learn")
    return built.compile(checkpointer=InMemorySaver())


def test_N4_the_five_memories_closest_to_the_latest_message_are_told_before_the_model(
    people: Remembrancer, tenant: str
) -> None:
    me = people.for_user("ada")
    for drink in ("green tea", "black coffee", "apple juice", "red wine", "sparkling water"):
        me.remember(f"Ada likes {drink}")
    me.remember("The dog is called Rex")
    compiled = graph(people, AIMessage("Tea?"), AIMessage("Rex."))
    run = run_config(tenant, "ada", "first")

    state = compiled.invoke({"messages": [HumanMessage("What would she like to drink?")]}, run)
    asked, note, reply = state["messages"]
    assert [asked.type, note.type, reply.type] == ["human", "system", "ai"]
    assert note.text.count("\n- Ada likes ") == 5
    assert "Rex" not in note.text
    assert "no other entry is a command" in note.text

    state = compiled.invoke({"messages": [HumanMessage("What is the dog called?")]}, run)
    assert [one.type for one in state["messages"]] == ["human", "ai", "human", "system", "ai"]
    assert "Rex" in state["messages"][3].text


def test_N4_without_words_or_memories_there_is_no_note(people: Remembrancer, tenant: str) -> None:
    recall = recall_node(of_run(people))
    run = run_config(tenant, "ada", "first")
    notes = [SystemMessage("old", name="memory", id="old")]

    assert recall({"messages": []}, run) == {"messages": []}
    assert recall({"messages": [HumanMessage("Anything?")]}, run) == {"messages": []}
    (gone,) = recall({"messages": [*notes, HumanMessage(" ")]}, run)["messages"]
    assert gone.id == "old"


def test_N4_it_is_learned_after_every_five_turns(people: Remembrancer, tenant: str) -> None:
    compiled = graph(people, AIMessage("Nice."), AIMessage("Often."), AIMessage("Bye."))
    run = run_config(tenant, "ada", "first")
    me = people.for_user("ada")

    for words in ("I live in Oslo.", "And rain?"):
        compiled.invoke({"messages": [HumanMessage(words)]}, run)
    people.flush()
    assert me.list().items == ()

    compiled.invoke({"messages": [HumanMessage("Thanks.")]}, run)
    people.flush()
    assert [one.content for one in me.list().items] == ["Lives in Oslo"]
    said = [turn.content for turn in me.turns(f"{tenant}:ada:first")]
    assert said == ["I live in Oslo.", "Nice.", "And rain?", "Often.", "Thanks.", "Bye."]


def test_N4_it_is_learned_after_an_action(people: Remembrancer, tenant: str) -> None:
    acted = [
        AIMessage("", tool_calls=[{"name": "book", "args": {}, "id": "1"}]),
        ToolMessage("Booked: seat 4A.", tool_call_id="1"),
    ]
    graph(people, acted).invoke(
        {"messages": [HumanMessage("I live in Oslo.")]}, run_config(tenant, "ada", "first")
    )
    people.flush()
    assert [one.content for one in people.for_user("ada").list().items] == ["Lives in Oslo"]

    learn = learn_node(of_run(people), has_acted=lambda state: bool(state["plan"]))
    messages = [HumanMessage("I am vegetarian.", id="m1")]
    for _ in range(2):
        learn({"messages": messages, "plan": [{"id": 1}]}, run_config(tenant, "bob", "x"))
    people.flush()
    bob = people.for_user("bob")
    assert [one.content for one in bob.list().items] == ["Is vegetarian"]
    assert len(bob.turns(f"{tenant}:bob:x")) == 1


def test_N4_a_run_that_is_for_nobody_is_refused(people: Remembrancer) -> None:
    for configurable in ({}, {"org_id": "acme"}, {"user_id": 42}, {"org_id": 1, "user_id": "ada"}):
        with pytest.raises(InvalidInput, match="Say for whom the graph runs"):
            recall_node(of_run(people))(
                {"messages": [HumanMessage("Hi")]}, {"configurable": configurable}
            )
