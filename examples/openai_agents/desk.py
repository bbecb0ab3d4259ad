"""An agent whose conversation is kept and learned from, and goes on where it stopped.

OPENAI_API_KEY=… python examples/openai_agents/desk.py
"""

import asyncio
import os

from agents import Agent, OpenAIProvider, RunConfig, Runner, function_tool

import remembrancer
from remembrancer.integrations.openai_agents import MemorySession


@function_tool
def tide(harbour: str) -> str:
    """When the tide is high in a harbour."""
    return f"High tide in {harbour} is at noon."


async def talk() -> None:
    """Ask twice in one conversation; the second question needs what was said before."""
    desk = Agent("Harbour desk", instructions="Answer in one sentence.", tools=[tide])
    config = RunConfig(
        model=os.environ.get("MODEL", "gpt-5.4-mini"),
        model_provider=OpenAIProvider(use_responses=False),
        tracing_disabled=True,
    )
    with remembrancer.open(os.environ.get("STORE", ":memory:")) as store:
        me = store.for_user("ada")
        for question in ("My boat Bluebird lies in Oslo. When can I leave?", "Where is she?"):
            session = MemorySession(me, "harbour")
            told = await Runner.run(desk, question, session=session, run_config=config)
            print(told.final_output)
        me.close("harbour")


asyncio.run(talk())
