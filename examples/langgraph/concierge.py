"""A concierge for many guests of a hotel: async, with `create_agent` and threads in PostgreSQL.

    python concierge.py zoe "Please remember I am vegetarian."
    python concierge.py zoe "What do you know of me?" --thread second

A guest is known by the context of the run. Memories are recalled before the model runs, and the
model can remember, recall and forget by itself; what is merely said is learned after five turns.
Threads are kept in a file, or with `--threads postgresql://localhost/threads` in PostgreSQL.
Without `--model` a script replaces the model.
"""

from __future__ import annotations

import argparse
import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from langchain.agents import create_agent
from langchain.chat_models import init_chat_model
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langgraph.checkpoint.base import BaseCheckpointSaver

import remembrancer
from remembrancer.integrations.langgraph import (
    MemoryMiddleware,
    aopen_saver,
    memory_tools,
    of_run,
    run_config,
)

HOTEL = "hotel"
PROMPT = "You are the concierge of a hotel."


@dataclass(frozen=True)
class Guest:
    """The context of a run."""

    user_id: str


class Script(BaseChatModel):
    """A fake model that tells what it was told of the guest, and stores what it is asked to."""

    @property
    def _llm_type(self) -> str:
        return "script"

    def bind_tools(self, tools: Sequence[Any], **_: Any) -> Script:
        return self

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=self._reply(messages))])

    def _reply(self, messages: list[BaseMessage]) -> AIMessage:
        last = messages[-1]
        if last.type == "human" and (asked := re.match(r"(?i)please remember (.+)", last.text)):
            call = {"name": "remember", "args": {"content": asked[1]}, "id": "1"}
            return AIMessage("", tool_calls=[call])
        if last.type == "tool":
            return AIMessage("I will remember it.")
        known = re.findall(r"^- (.*)", messages[0].text, re.M)
        return AIMessage(f"I know of you: {'; '.join(known) or 'nothing'}.")


def build(
    people: remembrancer.Remembrancer, model: BaseChatModel, saver: BaseCheckpointSaver[str]
) -> Any:
    """Build the agent that serves all guests."""
    tools = memory_tools(people, names=("remember", "recall", "forget"))
    return create_agent(
        model,
        system_prompt=PROMPT,
        middleware=[MemoryMiddleware(of_run(people), tools=tools)],
        context_schema=Guest,
        checkpointer=saver,
    )


async def serve(agent: Any, guest: str, thread: str, words: str) -> str:
    """Answer a guest; the same thread continues the conversation."""
    state = await agent.ainvoke(
        {"messages": [("user", words)]}, run_config(HOTEL, guest, thread), context=Guest(guest)
    )
    return str(state["messages"][-1].text)


async def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("guest")
    parser.add_argument("message")
    parser.add_argument("--place", default="concierge")
    parser.add_argument("--threads", default="concierge.db", help="a file or a postgresql:// URL")
    parser.add_argument("--thread", default="first")
    parser.add_argument("--model")
    args = parser.parse_args()
    model = init_chat_model(args.model) if args.model else Script()
    with remembrancer.open(args.place, profile="namespaces") as people:
        async with aopen_saver(args.threads) as saver:
            agent = build(people, model, saver)
            print(await serve(agent, args.guest, args.thread, args.message))


if __name__ == "__main__":
    asyncio.run(main())
