"""An agent that remembers and recalls by itself.

OPENAI_API_KEY=… python examples/pydantic_ai/assistant.py
"""

import asyncio
import os

from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel

import remembrancer
from remembrancer.integrations.pydantic_ai import memory_toolset

agent = Agent(
    OpenAIChatModel(os.environ.get("MODEL", "gpt-5.4-mini")),
    instructions="Remember what lasts. Recall before you answer.",
)


async def talk() -> None:
    """State a fact, then ask for it in a new conversation."""
    with remembrancer.open(os.environ.get("STORE", ":memory:")) as store:
        ada = memory_toolset(store.for_user("ada"))
        for message in ("I am allergic to peanuts.", "What should I not eat?"):
            answer = await agent.run(message, toolsets=[ada])
            print(answer.output)


asyncio.run(talk())
