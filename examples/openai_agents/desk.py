"""An agent whose conversation is stored, learned from, and continued in the next run.

OPENAI_API_KEY=… python examples/openai_agents/desk.py
"""

import asyncio
import os

from agents import Agent, OpenAIProvider, RunConfig, Runner, function_tool

import remembrancer
from remembrancer.integrations.openai_agents import MemorySession


@function_tool
def tide(harbour: str) -> str:
    """Return the time of high tide in a harbour."""
    return f"High tide in {harbour} is at noon."


async def talk() -> None:
    """Ask twice in one conversation; the second question needs the first."""
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
            result = await Runner.run(desk, question, session=session, run_config=config)
            print(result.final_output)
        me.close("harbour")


asyncio.run(talk())
