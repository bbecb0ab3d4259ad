"""An assistant that runs errands, in parallel where it can, and remembers its user.

    python errands.py "Find me a train to Porto then book a hotel, a table" --place memory --yes

recall → plan → approve → fan out ⇄ act → answer → learn

An errand starts when those that it needs are done. One that fails is recorded, and so are those
that need it; the others go on. Errands that spend money wait for the user's approval.

Without `--model` a script replaces the model. With one, such as `openai:gpt-5.4-mini`,
LangChain opens it (`pip install` the package of its provider).
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from langchain.chat_models import init_chat_model
from langchain_core.language_models import BaseChatModel, SimpleChatModel
from langchain_core.messages import AIMessage, BaseMessage, SystemMessage
from langchain_core.runnables import Runnable, RunnableConfig
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, Send, interrupt

import remembrancer
from remembrancer.integrations.langgraph import (
    AssistantState,
    RemembrancerStore,
    learn_node,
    merge_system_messages,
    of_run,
    open_saver,
    recall_node,
    run_config,
)

PLAN = (
    "List the errands that the user's latest message asks for, one to a line, nothing else. "
    "Begin a line with > if it needs the line before it, and with ! if it spends money."
)
ACT = "Run this errand and say in one line what came of it: "
ANSWER = "Tell the user in one line what came of their errands: "

MEMORY = re.compile(r"^- (.*)", re.M)
"""A line of the note that `recall_node` adds."""

Errand = dict[str, Any]
Act = Callable[[list[BaseMessage], str], str]


class Script(SimpleChatModel):
    """A fake model that splits the request and reports every errand as done."""

    @property
    def _llm_type(self) -> str:
        return "script"

    def _call(self, messages: list[BaseMessage], *_: Any, **__: Any) -> str:
        system, task = messages[0].text, messages[-1].text
        if task == PLAN:
            request = next(one.text for one in messages[-2::-1] if one.type == "human")
            return re.sub(r"(?m)^(>?)(book|buy)", r"\1!\2", _split(request))
        if task.startswith(ACT):
            known = [one for one in MEMORY.findall(system) if "done" not in one]
            return f"{task.removeprefix(ACT)}: done" + "".join(f" ({one})" for one in known)
        return task.removeprefix(ANSWER)


def _split(request: str) -> str:
    return re.sub(r" then ", "\n>", re.sub(r", | and ", "\n", request))


def read_plan(answer: str, taken: set[str]) -> list[Errand]:
    """Read one errand from each line; an id that is taken gets a number."""
    errands: list[Errand] = []
    for line in filter(None, map(str.strip, answer.splitlines())):
        text = line.lstrip(">! ")
        ids = taken | {one["id"] for one in errands}
        id = next(one for one in _candidate_ids(text) if one not in ids)
        marks = line[: len(line) - len(line.lstrip(">! "))]
        needs = [errands[-1]["id"]] if ">" in marks and errands else []
        errands.append({"id": id, "text": text, "needs": needs, "costs": "!" in marks})
    return errands


def _candidate_ids(text: str) -> Iterator[str]:
    yield text
    number = 2
    while True:
        yield f"{text} ({number})"
        number += 1


def list_recalled(messages: list[BaseMessage]) -> list[str]:
    """Return the memories in the note of the run."""
    return [line for one in messages if one.type == "system" for line in MEMORY.findall(one.text)]


def ready(state: AssistantState) -> list[Errand]:
    """Return the errands that are not settled and need nothing that is not done."""
    artifacts = state["artifacts"]
    done, failed = {*artifacts["doneIds"]}, {*artifacts["failedActions"]}
    waiting = [one for one in state["plan"] if one["id"] not in done | failed]
    return [one for one in waiting if done | failed >= {*one["needs"]}]


def build(people: remembrancer.Remembrancer, model: BaseChatModel, act: Act | None = None) -> Any:
    """Build the graph; `act` runs an errand instead of the model."""
    memory_of = of_run(people)

    def ask(messages: list[BaseMessage], task: str) -> str:
        (system, *rest) = merge_system_messages([SystemMessage("You run errands."), *messages])
        return model.invoke([system, *rest, ("user", task)]).text

    def plan(state: AssistantState) -> dict[str, Any]:
        before = state.get("artifacts", {})
        taken = {*before.get("doneIds", ()), *before.get("failedActions", ())}
        errands = read_plan(ask(state["messages"], PLAN), taken)
        return {
            "plan": errands,
            "previews": [{"id": one["id"], "state": "planned"} for one in errands],
            "artifacts": {
                "doneIds": [],
                "failedActions": {},
                "createdIds": {},
                "results": {},
                "memories": list_recalled(state["messages"]),
            },
        }

    def approve(state: AssistantState) -> dict[str, Any]:
        costly = [one["id"] for one in state["plan"] if one["costs"]]
        granted = interrupt({"approve": costly}) if costly else []
        refused = {one: "not approved" for one in costly if one not in granted}
        return {
            "approvals": {one: one in granted for one in costly},
            "previews": [{"id": one, "state": "refused"} for one in refused],
            "artifacts": {"failedActions": refused},
        }

    def fan_out(state: AssistantState) -> list[Send] | str:
        return [Send("act", {**state, "errand": one}) for one in ready(state)] or "answer"

    def run_errand(state: dict[str, Any], config: RunnableConfig) -> dict[str, Any]:
        errand, artifacts = state["errand"], state["artifacts"]
        id = errand["id"]
        lost = [one for one in errand["needs"] if one in artifacts["failedActions"]]
        if lost:
            return _fail(id, f"needs {lost[0]}")
        known = [artifacts["results"][one] for one in errand["needs"]]
        run = act or (lambda messages, task: ask(messages, ACT + task))
        try:
            result = run([*state["messages"], *map(AIMessage, known)], errand["text"])
        except Exception as error:  # an errand can fail in any way, and the others go on
            return _fail(id, str(error))
        RemembrancerStore(memory_of(config)).put(("errands",), id, {"text": result})
        return {
            "previews": [{"id": id, "state": "done"}],
            "artifacts": {
                "doneIds": [id],
                "results": {id: result},
                "createdIds": {id: f"errands/{id}"},
            },
        }

    def answer(state: AssistantState) -> dict[str, Any]:
        results, failed = (state["artifacts"][name] for name in ("results", "failedActions"))
        told = [
            results[id] if id in results else f"{id}: failed, {failed[id]}"
            for id in (one["id"] for one in state["plan"])
        ]
        return {"messages": [AIMessage(ask(state["messages"], ANSWER + "; ".join(told)))]}

    graph = StateGraph(AssistantState)
    nodes: dict[str, Any] = {
        "recall": recall_node(memory_of),
        "plan": plan,
        "approve": approve,
        "act": run_errand,
        "fan_in": lambda _: {},
        "answer": answer,
        "learn": learn_node(memory_of, has_acted=lambda state: bool(state["plan"])),
    }
    for name, node in nodes.items():
        graph.add_node(name, node)
    graph.add_edge(START, "recall")
    graph.add_edge("recall", "plan")
    graph.add_edge("plan", "approve")
    graph.add_conditional_edges("approve", fan_out, ["act", "answer"])
    graph.add_edge("act", "fan_in")
    graph.add_conditional_edges("fan_in", fan_out, ["act", "answer"])
    graph.add_edge("answer", "learn")
    graph.add_edge("learn", END)
    return graph


def _fail(errand: str, reason: str) -> dict[str, Any]:
    return {
        "previews": [{"id": errand, "state": "failed"}],
        "artifacts": {"failedActions": {errand: reason}},
    }


def main() -> None:
    """Send one message to the assistant; the same thread continues the conversation."""
    parser = argparse.ArgumentParser()
    parser.add_argument("message")
    parser.add_argument("--place", type=Path, default=Path("errands"))
    parser.add_argument("--org", help="for an application with several organisations")
    parser.add_argument("--user", default="ada")
    parser.add_argument("--thread", default="first")
    parser.add_argument("--model")
    parser.add_argument("--yes", action="store_true", help="approve what costs money")
    args = parser.parse_args()
    args.place.mkdir(parents=True, exist_ok=True)
    with (
        remembrancer.open(args.place / "memory", profile="namespaces") as people,
        open_saver(args.place / "threads.db") as saver,
    ):
        model = init_chat_model(args.model) if args.model else Script()
        graph: Runnable[Any, Any] = build(people, model).compile(checkpointer=saver)
        run = run_config(args.org, args.user, args.thread)
        state = graph.invoke({"messages": [("user", args.message)]}, run)
        if "__interrupt__" in state:
            costly = state["__interrupt__"][0].value["approve"]
            state = graph.invoke(Command(resume=costly if args.yes else []), run)
        print(state["messages"][-1].text)


if __name__ == "__main__":
    main()
