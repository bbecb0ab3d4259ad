"""N4: a graph recalls before its model speaks, and learns after actions or every few turns."""

from __future__ import annotations

import asyncio
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, TypedDict

import pytest
from langchain_core.language_models import SimpleChatModel
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph

from remembrancer.engine import Remembrancer
from remembrancer.errors import InvalidInput
from remembrancer.integrations.langgraph import (
    AssistantState,
    SharedStore,
    learn_node,
    memory_tools,
    merge_system_messages,
    of_run,
    recall_node,
    run_config,
)
from remembrancer.memory import Memory
from remembrancer.tools.caller import Caller
from remembrancer.tools.toolsets import select_tools
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


class PlainState(TypedDict):
    """A state whose messages have no ids."""

    messages: Annotated[list[Any], operator.add]


def plain_graph(people: Remembrancer, *replies: str, dictionaries: bool = False) -> Any:
    said = iter(replies)

    def reply(_: PlainState) -> dict[str, Any]:
        text = next(said)
        message = {"role": "assistant", "content": text} if dictionaries else AIMessage(text)
        return {"messages": [message]}

    built = StateGraph(PlainState)
    built.add_node("recall", recall_node(of_run(people)))
    built.add_node("reply", reply)
    built.add_node("learn", learn_node(of_run(people)))
    built.add_edge(START, "recall").add_edge("recall", "reply").add_edge("reply", "learn")
    return built.compile(checkpointer=InMemorySaver())


@pytest.mark.parametrize("dictionaries", [False, True])
def test_N4_messages_without_ids_are_each_heard_once(
    people: Remembrancer, tenant: str, dictionaries: bool
) -> None:
    compiled = plain_graph(people, "Nice.", "Yes.", "Yes.", dictionaries=dictionaries)
    run = run_config(tenant, "ada", "first")
    me = people.for_user("ada")
    me.remember("Ada is vegetarian")
    me.remember("Ada has a dog")

    for words in ("I live in Oslo.", "Is it far?", "Is it far?"):
        human = {"role": "user", "content": words} if dictionaries else HumanMessage(words)
        state = compiled.invoke({"messages": [human]}, run)

    people.flush()
    heard = [turn.content for turn in me.turns(run["configurable"]["thread_id"])]
    assert heard == ["I live in Oslo.", "Nice.", "Is it far?", "Yes.", "Is it far?", "Yes."]
    assert "Lives in Oslo" in [one.content for one in me.list().items]
    told = "".join(str(one) for one in state["messages"])
    assert told.count("Ada is vegetarian") == 1, "no note repeats an earlier one"


def test_N4_a_long_thread_is_not_read_again_for_each_message(
    people: Remembrancer, tenant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    learn, run = learn_node(of_run(people)), run_config(tenant, "ada", "first")
    messages = [HumanMessage(f"The number is {number}.", id=str(number)) for number in range(300)]
    learn({"messages": messages[:-1]}, run)
    read: list[int] = []
    turns = Memory.turns

    def count(memory: Memory, *given: Any, **options: Any) -> Any:
        found = turns(memory, *given, **options)
        read.append(len(found))
        return found

    monkeypatch.setattr(Memory, "turns", count)
    learn({"messages": messages}, run)
    branch = [*messages[:20], HumanMessage("The number is none.", id="none")]
    learn({"messages": branch}, run)
    assert read[0] <= 50

    monkeypatch.undo()
    stored = people.for_user("ada").turns(run["configurable"]["thread_id"])
    assert len(stored) == 301
    assert [one.content for one in stored[-2:]] == ["The number is 299.", "The number is none."]


def test_N4_the_same_nodes_serve_an_async_graph(people: Remembrancer, tenant: str) -> None:
    people.for_user("ada").remember("Ada drinks green tea")
    compiled = graph(people, AIMessage("Tea."))

    state = asyncio.run(
        compiled.ainvoke(
            {"messages": [HumanMessage("What to drink?")]}, run_config(tenant, "ada", "first")
        )
    )

    assert "green tea" in state["messages"][1].text
    assert len(people.for_user("ada").turns(f"{tenant}:ada:first")) == 2


def test_N4_a_node_tells_only_what_it_is_asked_for(people: Remembrancer, tenant: str) -> None:
    me = people.for_user("ada")
    me.remember("Ada drinks tea at work", scope="work", importance=4)
    me.remember("Ada drinks tea at home", scope="home", importance=4)
    me.remember("Ada drinks tea sometimes", scope="work", importance=2)
    run, asked = run_config(tenant, "ada", "first"), {"messages": [HumanMessage("Tea?")]}

    for options, told in (
        ({"scope": "home"}, ["at home"]),
        ({"minimum_importance": 3, "kinds": ["fact"]}, ["at work", "at home"]),
        ({"scope": "work", "limit": 1, "minimum_importance": 3}, ["at work"]),
    ):
        (note,) = recall_node(of_run(people), **options)(asked, run)["messages"]
        lines = [line for line in note.text.splitlines() if line.startswith("- ")]
        assert sorted(lines) == sorted(f"- Ada drinks tea {one}" for one in told)


class StrictModel(SimpleChatModel):
    """Like some providers, it accepts system messages only at the beginning."""

    @property
    def _llm_type(self) -> str:
        return "strict"

    def _call(self, messages: Sequence[BaseMessage], *_: Any, **__: Any) -> str:
        if any(one.type == "system" for one in messages[1:]):
            raise ValueError("Received multiple non-consecutive system messages.")
        return f"{messages[0].type}: {messages[0].text}"


def test_N4_a_model_that_takes_one_system_message_gets_the_note_in_it(
    people: Remembrancer, tenant: str
) -> None:
    people.for_user("ada").remember("Ada drinks green tea")
    model, prompt = StrictModel(), SystemMessage("You are a waiter.")

    def reply(state: Mapping[str, Any]) -> dict[str, Any]:
        messages = [prompt, *state["messages"]]
        with pytest.raises(ValueError, match="non-consecutive"):
            model.invoke(messages)
        return {"messages": model.invoke(merge_system_messages(messages))}

    built = StateGraph(AssistantState).add_node("recall", recall_node(of_run(people)))
    built.add_node("reply", reply).add_edge(START, "recall").add_edge("recall", "reply")
    state = built.compile().invoke(
        {"messages": [HumanMessage("What to drink?")]}, run_config(tenant, "ada", "first")
    )

    said = state["messages"][-1].text
    assert said.startswith("system: You are a waiter.\n\n<remembered>")
    assert "green tea" in said


def test_N4_the_cache_breakpoint_of_a_prompt_stays_before_the_note() -> None:
    cached = {"type": "text", "text": "You are a waiter.", "cache_control": {"type": "ephemeral"}}
    note = SystemMessage("Likes tea.", name="memory")
    asked = HumanMessage("Tea?")

    merged = merge_system_messages([note, asked, SystemMessage([cached])])

    assert [one.type for one in merged] == ["system", "human"]
    assert merged[0].content == [cached, {"type": "text", "text": "Likes tea."}]
    assert merge_system_messages([asked]) == [asked]


def test_N4_a_run_that_is_for_nobody_is_refused(people: Remembrancer) -> None:
    for configurable, missing in (
        ({}, "set user_id"),
        ({"org_id": "acme"}, "no user_id"),
        ({"user_id": 42}, "must be text, not int"),
        ({"org_id": 1, "user_id": "ada"}, "must be text, not int"),
    ):
        with pytest.raises(InvalidInput, match=missing):
            recall_node(of_run(people))(
                {"messages": [HumanMessage("Hi")]}, {"configurable": configurable}
            )


def test_N4_a_run_names_its_person_in_the_context_too(people: Remembrancer, tenant: str) -> None:
    people.for_user("ada").remember("Ada drinks green tea")
    people.for_user("bob").remember("Bob drinks black coffee")
    built = StateGraph(AssistantState, context_schema=dict)
    built.add_node("recall", recall_node(of_run(people))).add_edge(START, "recall")

    def told(user: str) -> str:
        asked = {"messages": [HumanMessage("What to drink?")]}
        return str(built.compile().invoke(asked, context={"user_id": user})["messages"][-1])

    assert "green tea" in told("ada")
    assert "coffee" not in told("ada")
    assert "coffee" in told("bob")


@pytest.mark.parametrize(
    ("node", "state", "answer"),
    [
        (learn_node, {"messages": [HumanMessage("Hi")]}, "set thread_id as configurable"),
        (learn_node, {"text": "Hi"}, "a channel named 'messages'"),
        (recall_node, {"text": "Hi"}, "a channel named 'messages'"),
        (recall_node, {"messages": [5]}, "a message that cannot be read"),
        (recall_node, {"messages": [{"content": "Hi"}]}, "a message that cannot be read"),
    ],
)
def test_N4_a_state_that_cannot_be_used_is_answered_with_a_sentence(
    people: Remembrancer, node: Any, state: Any, answer: str
) -> None:
    with pytest.raises(InvalidInput, match=answer):
        node(of_run(people))(state, {"configurable": {"user_id": "ada"}})


def test_N4_a_node_is_made_with_a_way_to_find_the_memory(people: Remembrancer) -> None:
    for node in (recall_node, learn_node):
        with pytest.raises(InvalidInput, match=r"such as of_run\(people\), not Remembrancer"):
            node(people)  # type: ignore[arg-type]


def test_N4_what_a_node_is_made_or_run_with_is_checked(people: Remembrancer) -> None:
    memory_of: Any = of_run(people)
    nodes: Any = (recall_node(memory_of), learn_node(memory_of))
    anything: Any = "anything"
    mistakes: list[tuple[Callable[[], object], str]] = [
        (lambda: recall_node(memory_of, limit=anything), "limit must be a whole number"),
        (lambda: recall_node(memory_of, budget=anything), "budget must be a whole number"),
        (lambda: recall_node(memory_of, kinds="fact"), r"must be a list: pass \['fact'\]"),
        (lambda: recall_node(memory_of, minimum_importance=anything), "must be a number"),
        (lambda: learn_node(memory_of, has_acted=anything), "has_acted must be a function"),
        (lambda: of_run(people, person_of=anything), "person_of must be a function"),
        (lambda: memory_tools(people, extent=anything), "extent must be one of 'core', 'full'"),
        (lambda: memory_tools(people, time_zone="Mars/X"), "'Mars/X' is not a time zone"),
        (lambda: memory_tools(people, names="remember"), r"pass \['remember'\]"),
        *(
            (lambda node=node, config=config: node({"messages": "Hi"}, config), "set user_id")
            for node in nodes
            for config in (None, {"configurable": None})
        ),
    ]
    for mistake, sentence in mistakes:
        with pytest.raises(InvalidInput, match=sentence):
            mistake()


def heard(people: Remembrancer, run: Any) -> list[str]:
    people.flush()
    return [one.content for one in people.for_user("ada").turns(run["configurable"]["thread_id"])]


ADA = [
    "I live in Oslo.",
    "OK.",
    "I am vegetarian.",
    "OK.",
    "My dog is called Rex.",
    "OK.",
    "Yes.",
    "OK.",
]
"""What was said in turns; one reply is like the other."""


def say(texts: Sequence[str]) -> dict[str, Any]:
    roles = ("human", "ai")
    return {"messages": [(roles[ADA.index(text) % 2], text) for text in texts]}


@pytest.mark.parametrize("width", [2, 4, 5, 8])
def test_N4_a_state_that_holds_only_the_latest_messages_loses_and_repeats_none(
    people: Remembrancer, tenant: str, width: int
) -> None:
    learn, run = learn_node(of_run(people)), run_config(tenant, "ada", "first")

    for end in range(2, len(ADA) + 1, 2):
        learn(say(ADA[max(0, end - width) : end]), run)
        learn(say(ADA[max(0, end - width) : end]), run)

    assert heard(people, run) == ADA
    known = {one.content for one in people.for_user("ada").list().items}
    assert {"Lives in Oslo", "Is vegetarian"} <= known


def test_N4_a_long_history_without_ids_is_heard_once_and_so_are_its_branches(
    people: Remembrancer, tenant: str
) -> None:
    learn, run = learn_node(of_run(people)), run_config(tenant, "ada", "first")
    numbers = [HumanMessage(f"The number is {number % 70}.") for number in range(210)]

    for end in (60, 140, 141, 210):
        learn({"messages": numbers[:end]}, run)
    learn({"messages": numbers[-3:]}, run)
    assert len(heard(people, run)) == 210

    for last in ("The number is none.", "The number is odd."):
        learn({"messages": [*numbers[:20], HumanMessage(last)]}, run)
        learn({"messages": [*numbers[:20], HumanMessage(last)]}, run)
    assert heard(people, run)[210:] == ["The number is none.", "The number is odd."]


def test_N4_a_history_that_is_sent_anew_with_each_run_is_heard_once(
    people: Remembrancer, tenant: str
) -> None:
    replies = iter(ADA[1::2])
    graph = StateGraph(AssistantState)
    graph.add_node("reply", lambda _: {"messages": AIMessage(next(replies))})
    graph.add_node("learn", learn_node(of_run(people)))
    graph.add_edge(START, "reply").add_edge("reply", "learn")
    run = run_config(tenant, "ada", "first")

    for end in range(1, len(ADA), 2):
        state = graph.compile().invoke(say(ADA[:end]), run)

    assert all(one.id for one in state["messages"])
    assert heard(people, run) == ADA


def with_ids(text: str) -> Any:
    """`H1` and `A1:id` as a person's message and as a model's with an id."""
    words, _, id = text.partition(":")
    return (HumanMessage if words[0] == "H" else AIMessage)(words, id=id or None)


@pytest.mark.parametrize(
    "runs",
    [
        ["H1", "H1 A1:1 H2", "H1 A1:1 H2 A2:2 H3", "H1 A1:1 H2 A2:2 H3 A3:3 H4"],
        ["H1 A1:1", "H1 A1:1 H2 A2:2", "H1 A1:1 H2 A2:2 H3"],
        ["H1:1 A1:2", "H2:1 A2:2", "H3:1 A3:2"],
        ["H1:1 A1:2 H2:3", "A1:2 H2:3 A2:4", "H2:3 A2:4 H3:5"],
    ],
    ids=["heard before the model", "heard after it", "ids begin anew", "a window"],
)
def test_N4_messages_are_known_by_their_ids_and_words(
    people: Remembrancer, tenant: str, runs: Sequence[str]
) -> None:
    learn, run = learn_node(of_run(people)), run_config(tenant, "ada", "first")
    for texts in runs:
        learn({"messages": [with_ids(text) for text in texts.split()]}, run)

    spoken = dict.fromkeys(text.partition(":")[0] for texts in runs for text in texts.split())
    assert heard(people, run) == [*spoken]


def test_N4_a_secret_in_a_message_leaves_no_trace_in_what_it_is_known_by(
    people: Remembrancer, tenant: str
) -> None:
    learn, run = learn_node(of_run(people)), run_config(tenant, "ada", "first")
    for pin in ("4711", "1234"):
        learn({"messages": [HumanMessage(f"My PIN is {pin}.")]}, run)

    (turn,) = people.for_user("ada").turns(run["configurable"]["thread_id"])
    assert "4711" not in turn.content


def test_N4_an_item_is_told_in_its_own_words(people: Remembrancer, tenant: str) -> None:
    store = SharedStore(people)
    store.put((tenant, "ada", "notes"), "room", {"text": "A quiet room, please"})
    ada = people.for_user("ada")
    run = run_config(tenant, "ada", "first")

    (note,) = recall_node(of_run(people))({"messages": [HumanMessage("Which room?")]}, run)[
        "messages"
    ]

    said = str(select_tools(ada.profile)["recall"].call(Caller(ada), {"query": "room"}).to_text())
    for told in (note.text, str(ada.context("Which room?")), said):
        (line,) = [line for line in told.splitlines() if "quiet room" in line]
        assert "item" not in line.casefold()
        assert not re.search("[0-9a-f]{32}", line)


def test_N4_items_are_told_like_facts_about_the_person(people: Remembrancer, tenant: str) -> None:
    store, ada = SharedStore(people), people.for_user("ada")
    known = ["Zoe wants a quiet room", "Zoe wants a low floor room", "Is vegetarian"]
    for text in known:
        store.put((tenant, "ada", "notes"), text, {"text": text})

    for prompt in ("Which room does Zoe want?", "Plan my dinner tonight"):
        told = [one for one in str(ada.context(prompt)).splitlines() if one.startswith("- ")]
        assert told
        assert not any("item" in line for line in told)
    assert "Is vegetarian" in str(ada.context("Plan my dinner tonight"))


def test_N4_a_note_says_nothing_twice(people: Remembrancer, tenant: str) -> None:
    me, store = people.for_user("ada"), SharedStore(people)
    drinks = [f"Ada drinks {drink}" for drink in ("tea", "coffee", "juice", "wine", "water")]
    for key in "abc":
        store.put((tenant, "ada", "notes"), key, {"text": drinks[0]})
    for drink in drinks:
        me.remember(drink)
    run = run_config(tenant, "ada", "first")

    (note,) = recall_node(of_run(people))({"messages": [("user", "What does Ada drink?")]}, run)[
        "messages"
    ]
    assert sorted(one[2:] for one in note.text.splitlines() if one[:2] == "- ") == sorted(drinks)


def test_N4_a_note_has_no_turns_of_its_own_thread(open_memory: Open, tenant: str) -> None:
    people = open_memory("assistant")
    here, there = (run_config(tenant, "ada", name) for name in ("here", "there"))
    for run, drink in ((here, "tea"), (there, "coffee")):
        said = f"The guests would like some {drink} to drink."
        learn_node(of_run(people))({"messages": [("user", said)]}, run)
    people.flush()

    (note,) = recall_node(of_run(people), kinds=["turn"], limit=1)(
        {"messages": [("user", "What would the guests like, tea to drink?")]}, here
    )["messages"]
    assert "coffee" in note.text
    assert "tea" not in note.text
