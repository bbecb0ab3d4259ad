"""N4, N5, N6: memory for agents of LangChain, and programs as their users write them."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import re
import shlex
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel, SimpleChatModel
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command, interrupt

import remembrancer
from remembrancer.engine import Remembrancer
from remembrancer.errors import InvalidInput
from remembrancer.integrations.langgraph import (
    LangChainModel,
    MemoryMiddleware,
    aopen_saver,
    langchain_models,
    learn_node,
    memory_tools,
    of_run,
    run_config,
)
from remembrancer.llm import InvalidModelResponse, ModelUnavailable, Question, TruncatedAnswer
from remembrancer.remember.provenance import is_own_word
from tests.support.opening import Open

pytestmark = pytest.mark.feature("N4")

EXAMPLES = Path(__file__).parents[2] / "examples" / "langgraph"


def load_example(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


concierge = load_example("concierge")


@pytest.fixture
def people(open_memory: Open) -> Remembrancer:
    return open_memory("namespaces")


@pytest.fixture
def threads(place: str, tmp_path: Path) -> str:
    return place if place.startswith("postgresql") else str(tmp_path / "threads.db")


class Scripted(BaseChatModel):
    """Gives its replies one after the other, and keeps the messages of every request."""

    replies: Iterator[AIMessage]
    requests: list[list[BaseMessage]]

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Sequence[Any], **_: Any) -> Scripted:
        return self

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        if any(one.type == "system" for one in messages[1:]):
            raise ValueError("Received multiple non-consecutive system messages.")
        self.requests.append(messages)
        return ChatResult(generations=[ChatGeneration(message=next(self.replies))])


def call(name: str, **args: Any) -> AIMessage:
    return AIMessage("", tool_calls=[{"name": name, "args": args, "id": "1"}])


def test_N4_an_agent_recalls_in_its_system_message_and_learns_afterwards(
    people: Remembrancer, tenant: str
) -> None:
    me = people.for_user("ada")
    me.remember("Ada drinks green tea")
    tools = memory_tools(people)
    model = Scripted(
        replies=iter([call("recall", query="green tea"), AIMessage("Tea."), AIMessage("Hm.")]),
        requests=[],
    )
    agent: Any = create_agent(
        model,
        system_prompt="You are a waiter.",
        middleware=[MemoryMiddleware(of_run(people), tools=tools)],
        checkpointer=(saver := InMemorySaver()),
    )

    run = run_config(tenant, "ada", "first")
    state = agent.invoke({"messages": [HumanMessage("I live in Oslo. What to drink?")]}, run)
    people.flush()

    assert [[one.type for one in asked] for asked in model.requests] == [
        ["system", "human"],
        ["system", "human", "ai", "tool"],
    ]
    for asked in model.requests:
        assert asked[0].text.startswith("You are a waiter.\n\n<remembered>")
        assert "Ada drinks green tea" in asked[0].text
    assert "Ada drinks green tea" in state["messages"][2].text
    assert "memory_note" not in state
    assert "What you remember about this user" not in str([*saver.list(run)])
    thread = run["configurable"]["thread_id"]
    assert [one.role for one in me.turns(thread)] == ["user", "tool", "assistant"]
    assert "Lives in Oslo" in [one.content for one in me.list().items]
    agent.invoke({"messages": [HumanMessage("Hm?")]}, run_config(tenant, "bob", "first"))
    assert model.requests[-1][0].text == "You are a waiter.", "nothing is known of Bob"


def test_N4_an_agent_that_waited_for_approval_still_has_its_note(
    people: Remembrancer, tenant: str
) -> None:
    people.for_user("ada").remember("Ada drinks green tea")

    @tool
    def order(drink: str) -> str:
        """Order a drink."""
        return f"{interrupt(drink)}: {drink}"

    model = Scripted(
        replies=iter([call("order", drink="green tea"), AIMessage("Done.")]), requests=[]
    )
    agent: Any = create_agent(
        model,
        tools=[order],
        middleware=[MemoryMiddleware(of_run(people))],
        checkpointer=InMemorySaver(),
    )
    run = run_config(tenant, "ada", "first")

    agent.invoke({"messages": [HumanMessage("Order what I drink.")]}, run)
    state = agent.invoke(Command(resume="ordered"), run)

    assert state["messages"][-1].text == "Done."
    assert ["Ada drinks green tea" in asked[0].text for asked in model.requests] == [True, True]


def test_N4_the_tools_of_a_run_reach_its_person_alone(people: Remembrancer, tenant: str) -> None:
    remember, recall = memory_tools(people, names=("remember", "recall"))
    ada, bob = (run_config(tenant, user, "first") for user in ("ada", "bob"))
    assert {remember.name, recall.name} == {"remember", "recall"}

    asyncio.run(remember.ainvoke({"content": "Ada drinks green tea"}, ada))

    assert "green tea" in recall.invoke({"query": "green tea"}, ada)
    (tea,) = people.for_user("ada").list().items
    assert not is_own_word(tea), "a model stored it"
    assert "green tea" not in recall.invoke({"query": "green tea"}, bob)
    assert "there is no such argument" in recall.invoke({"query": "tea", "user_id": "ada"}, bob)
    with pytest.raises(InvalidInput, match="Say for whom the graph runs"):
        recall.invoke({"query": "tea"})
    with pytest.raises(InvalidInput, match="There is no tool 'recal': choose from remember"):
        memory_tools(people, names=("recal",))
    anything: Any = "people"
    for needs_store in (memory_tools, of_run):
        with pytest.raises(InvalidInput, match=r"open store, not str: pass what remembrancer.open"):
            needs_store(anything)


def test_N4_an_agent_without_a_thread_is_refused_before_its_model_is_asked(
    people: Remembrancer,
) -> None:
    model = Scripted(replies=iter([]), requests=[])
    agent: Any = create_agent(model, middleware=[MemoryMiddleware(of_run(people))])
    with pytest.raises(InvalidInput, match="set thread_id as configurable"):
        agent.invoke({"messages": "Hi"}, {"configurable": {"user_id": "ada"}})
    assert model.requests == []
    with pytest.raises(InvalidInput, match=r"such as of_run\(people\)"):
        MemoryMiddleware(people)  # type: ignore[arg-type]


@pytest.mark.feature("N5", "N6")
def test_N6_two_guests_of_an_async_agent_never_see_each_others_memories(
    people: Remembrancer, threads: str, monkeypatch: pytest.MonkeyPatch, tenant: str
) -> None:
    monkeypatch.setattr(concierge, "HOTEL", tenant)

    async def talk() -> dict[str, list[str]]:
        async with aopen_saver(threads) as saver:
            agent = concierge.build(people, concierge.Script(), saver)

            async def stay(guest: str, wish: str) -> list[str]:
                said = [f"Please remember {wish}", "What do you know of me?"]
                return [
                    await concierge.serve(agent, guest, f"day {day}", words)
                    for day, words in enumerate(said)
                ]

            zoe, max_ = await asyncio.gather(
                stay("zoe", "I am vegetarian."), stay("max", "I need a quiet room.")
            )
            states = [
                one async for one in saver.alist(None, filter={"org_id": tenant, "user_id": "max"})
            ]
            assert states
            assert "vegetarian" not in str(states)
        return {"zoe": zoe, "max": max_}

    said = asyncio.run(talk())

    assert said["zoe"][0] == said["max"][0] == "I will remember it."
    assert "vegetarian" in said["zoe"][1]
    assert "quiet" not in said["zoe"][1]
    assert "quiet room" in said["max"][1]
    assert "vegetarian" not in said["max"][1]


def test_N6_the_concierge_runs_as_it_stands(
    threads: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    guest = f"zoe-{tmp_path.name}"
    options = ("--place", str(tmp_path / "hotel"), "--threads", threads)

    for line in re.findall(r"^ +python (.*)$", concierge.__doc__ or "", re.M):
        monkeypatch.setattr(sys, "argv", [*shlex.split(line.replace("zoe", guest)), *options])
        asyncio.run(concierge.main())

    assert re.fullmatch(
        "I will remember it.\nI know of you: .*vegetarian.*\n", capsys.readouterr().out
    )


class Answers(SimpleChatModel):
    """A chat model that answers every request with the same text."""

    text: str

    @property
    def _llm_type(self) -> str:
        return "answers"

    def bind_tools(self, tools: Sequence[Any], **_: Any) -> Answers:
        return self

    def _call(self, messages: list[BaseMessage], *_: Any, **__: Any) -> str:
        if self.text == "fail":
            raise RuntimeError(f"key-123 refused: {messages[-1].text}")
        return self.text


QUESTION = Question("You answer.", "What?", {"type": "object"})


def test_N4_a_chat_model_of_langchain_answers_by_schema() -> None:
    answer = LangChainModel(Answers(text='Here: ```json\n{"a": 1}\n```')).answer(QUESTION)
    assert answer.value == {"a": 1}
    assert answer.model == "Answers"
    assert answer.tokens_in > 0

    with pytest.raises(InvalidModelResponse):
        LangChainModel(Answers(text="no")).answer(QUESTION)
    with pytest.raises(ModelUnavailable, match="RuntimeError") as refused:
        LangChainModel(Answers(text="fail")).answer(QUESTION)
    assert "key-123" not in str(refused.value)
    cut = AIMessage('{"a": ', response_metadata={"finish_reason": "length"})
    with pytest.raises(TruncatedAnswer):
        LangChainModel(Scripted(replies=iter([cut]), requests=[])).answer(QUESTION)
    with pytest.raises(InvalidInput, match="Pass a chat model of LangChain"):
        LangChainModel("gpt")  # type: ignore[arg-type]


class Extractor(Answers):
    """Proposes what Robin plays, and supports the proposal when it is asked about it."""

    def _call(self, messages: list[BaseMessage], *_: Any, **__: Any) -> str:
        if "operations" not in messages[-1].text:
            return json.dumps({"verdicts": [{"claim": "c1", "supported": True}]})
        quote = {"turn": "t1", "quote": "My friend Robin plays the cello"}
        operation = {"op": "add", "content": "Robin plays the cello", "evidence": [quote]}
        return json.dumps({"operations": [operation]})


@pytest.mark.parametrize("models", [GenericFakeChatModel(messages=iter([])), [1], "gpt-5"])
def test_N4_models_of_langchain_are_handed_over_wrapped(models: Any) -> None:
    with pytest.raises(InvalidInput, match=r"pass langchain_models\(model\) for a chat model"):
        remembrancer.open(":memory:", models=models)


def test_N4_what_is_said_is_learned_with_the_graphs_own_model(tmp_path: Path) -> None:
    models = langchain_models(Extractor(text=""))
    with remembrancer.open(tmp_path / "own", profile="namespaces", models=models) as people:
        run = run_config("acme", "ada", "first")
        learn = learn_node(of_run(people), has_acted=lambda _: True)
        learn({"messages": [HumanMessage("My friend Robin plays the cello.")]}, run)
        people.flush()
        me = people.for_user("ada", tenant="acme")
        assert "Robin plays the cello" in [one.content for one in me.list().items]


def test_N4_the_chatbot_remembers_in_every_thread(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    chatbot = load_example("chatbot")
    place = str(tmp_path / "bot")

    for number, model in enumerate((None, chatbot.Echo())):
        for words in ("I live in Oslo.", "Where do I live?"):
            said = iter([words, ""])
            chatbot.chat(model, f"{place}{number}", ask=lambda _, said=said: next(said))
        first, second = capsys.readouterr().out.split("\n", 1)
        assert first == "I know nothing of that yet."
        assert "live in Oslo" in second
