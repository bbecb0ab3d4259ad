"""Our verbs as a toolset of pydantic-ai, with the real library and its models for tests."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from pydantic_ai import Agent, ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.models.test import TestModel

from remembrancer.integrations.pydantic_ai import memory_toolset
from remembrancer.memory import Memory
from remembrancer.remember.provenance import describe_provenance, is_own_word, trace_provenance
from tests.support.opening import Open

pytestmark = pytest.mark.postgres_long


def calls(*wanted: tuple[str, dict[str, Any]]) -> FunctionModel:
    """A model that calls tools one after the other, and then says what the last one told."""

    def respond(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        done = sum(isinstance(one, ModelResponse) for one in messages)
        if done < len(wanted):
            name, arguments = wanted[done]
            return ModelResponse(parts=[ToolCallPart(name, arguments)])
        return ModelResponse(parts=[TextPart(str(messages[-1].parts[-1].content))])

    return FunctionModel(respond)


def answer(agent: Agent[None, str], said: str, **more: Any) -> str:
    return asyncio.run(agent.run(said, **more)).output


def test_an_agent_remembers_recalls_and_forgets(me: Memory) -> None:
    model = calls(
        ("remember", {"content": "Ada is allergic to peanuts."}),
        ("recall", {"query": "What must Ada not eat?"}),
    )
    told = answer(Agent(model, toolsets=[memory_toolset(me)]), "I am allergic to peanuts.")
    assert "allergic to peanuts" in told
    (known,) = me.list().items
    assert describe_provenance(trace_provenance(known)) == "stored by an assistant"
    assert not is_own_word(known)
    forgets = Agent(calls(("forget", {"memory": known.id})), toolsets=[memory_toolset(me)])
    answer(forgets, "Forget it.")
    assert me.list().items == ()


def test_what_goes_wrong_is_told_to_the_model(me: Memory) -> None:
    model = calls(("forget", {"memory": "nothing"}), ("remember", {"words": "no such argument"}))
    told = answer(Agent(model, toolsets=[memory_toolset(me)]), "Forget it.")
    assert "content: missing" in told


def test_one_agent_serves_many_people_each_with_a_toolset_of_their_own(open_memory: Open) -> None:
    store = open_memory()
    agent = Agent(calls(("recall", {"query": "boats"})))
    store.for_user("ada").remember("The boat is called Bluebird.")
    ada, bob = (
        answer(agent, "boats", toolsets=[memory_toolset(store.for_user(name))])
        for name in ("ada", "bob")
    )
    assert "Bluebird" in ada
    assert "Bluebird" not in bob


@pytest.mark.parametrize(
    ("profile", "name"),
    [("default", "remember"), ("assistant", "recall_memory"), ("advisor", "save_preference")],
)
def test_the_profile_says_which_verbs_there_are(open_memory: Open, profile: str, name: str) -> None:
    model = TestModel(call_tools=[])
    toolset = memory_toolset(open_memory(profile).for_user("ada"))
    answer(Agent(model, toolsets=[toolset]), "Hello")
    assert model.last_model_request_parameters is not None
    told = {one.name: one for one in model.last_model_request_parameters.function_tools}
    assert 5 <= len(told) <= 8
    assert told[name].description
    assert told[name].parameters_json_schema["properties"]
