"""An assistant that runs errands in parallel and remembers its user.

    python errands.py "Find me a table for dinner, a train and a hotel in Porto" --place memory

recall → plan → act, once for each errand and all at the same time → answer → learn

Without `--model` a script replaces the model. With one, such as `openai:gpt-5.4-mini`,
LangChain opens it (`pip install langchain` and the package of its provider).
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from langchain_core.language_models import BaseChatModel, SimpleChatModel
from langchain_core.messages import AIMessage, BaseMessage, SystemMessage
from langchain_core.runnables import Runnable, RunnableConfig
from langgraph.graph import END, START, StateGraph
from langgraph.store.base import BaseStore
from langgraph.types import Send

import remembrancer
from remembrancer.integrations.langgraph import (
    AssistantState,
    SharedStore,
    learn_node,
    of_run,
    open_saver,
    recall_node,
    run_config,
)

PLAN = "List the errands that the user's latest message asks for, one to a line, nothing else."
ACT = "Run this errand and say in one line what came of it: "
ANSWER = "Tell the user in one line what came of their errands: "

Act = Callable[[list[BaseMessage], str], str]


class Script(SimpleChatModel):
    """A fake model that splits the request at commas and reports every errand as done."""

    @property
    def _llm_type(self) -> str:
        return "script"

    def _call(self, messages: list[BaseMessage], *_: Any, **__: Any) -> str:
        task = messages[-1].text
        if task == PLAN:
            request = next(one.text for one in reversed(messages) if one.type == "human")
            return "\n".join(re.split(r", | and ", request))
        if task.startswith(ACT):
            notes = "\n".join(one.text for one in messages if one.name == "memory")
            known = [one for one in re.findall(r"^- (.*)", notes, re.M) if "done" not in one]
            return f"{task.removeprefix(ACT)}: done" + "".join(f" ({one})" for one in known)
        return task.removeprefix(ANSWER)


def chat_model(name: str | None) -> BaseChatModel:
    """Open a model by name, or the script if there is no name."""
    if name is None:
        return Script()
    from langchain.chat_models import init_chat_model

    return init_chat_model(name)


def build(people: remembrancer.Remembrancer, model: BaseChatModel, act: Act | None = None) -> Any:
    """Build the graph; `act` runs an errand instead of the model."""

    def ask(messages: list[BaseMessage], task: str) -> str:
        return model.invoke([*messages, SystemMessage(task)]).text

    def plan(state: AssistantState) -> dict[str, Any]:
        lines = [line.strip() for line in ask(state["messages"], PLAN).splitlines()]
        errands = [{"id": line, "state": "planned"} for line in lines if line]
        return {"plan": errands, "previews": errands}

    def fan_out(state: AssistantState) -> list[Send]:
        return [Send("act", {**state, "errand": one["id"]}) for one in state["plan"]]

    def run_errand(state: dict[str, Any]) -> dict[str, Any]:
        errand = state["errand"]
        run = act or (lambda messages, task: ask(messages, ACT + task))
        result = run(state["messages"], errand)
        return {
            "artifacts": {"done": [errand], "results": {errand: result}},
            "previews": [{"id": errand, "state": "done"}],
        }

    def answer(
        state: AssistantState, config: RunnableConfig, *, store: BaseStore
    ) -> dict[str, Any]:
        results = {one["id"]: state["artifacts"]["results"][one["id"]] for one in state["plan"]}
        person = config["configurable"]["org_id"], config["configurable"]["user_id"]
        for errand, result in results.items():
            store.put((*person, "errands"), errand, {"result": result})
        reply = ask(state["messages"], ANSWER + "; ".join(results.values()))
        return {"messages": [AIMessage(reply)]}

    graph = StateGraph(AssistantState)
    nodes: dict[str, Any] = {
        "recall": recall_node(of_run(people)),
        "plan": plan,
        "act": run_errand,
        "answer": answer,
        "learn": learn_node(of_run(people), has_acted=lambda state: bool(state["plan"])),
    }
    for name, node in nodes.items():
        graph.add_node(name, node)
    graph.add_edge(START, "recall")
    graph.add_edge("recall", "plan")
    graph.add_conditional_edges("plan", fan_out, ["act"])
    graph.add_edge("act", "answer")
    graph.add_edge("answer", "learn")
    graph.add_edge("learn", END)
    return graph


def main() -> None:
    """Send one message to the assistant; the same thread continues the conversation."""
    parser = argparse.ArgumentParser()
    parser.add_argument("message")
    parser.add_argument("--place", type=Path, default=Path("errands"))
    parser.add_argument("--org", default="acme")
    parser.add_argument("--user", default="ada")
    parser.add_argument("--thread", default="first")
    parser.add_argument("--model")
    args = parser.parse_args()
    args.place.mkdir(parents=True, exist_ok=True)
    with (
        remembrancer.open(args.place / "memory", profile="namespaces") as people,
        open_saver(args.place / "threads.db") as saver,
    ):
        graph: Runnable[Any, Any] = build(people, chat_model(args.model)).compile(
            checkpointer=saver, store=SharedStore(people)
        )
        run = run_config(args.org, args.user, args.thread)
        state = graph.invoke({"messages": [("user", args.message)]}, run)
        print(state["messages"][-1].text)


if __name__ == "__main__":
    main()
