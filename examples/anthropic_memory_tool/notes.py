"""Claude keeps notes with its memory tool, which are stored as facts with a history.

ANTHROPIC_API_KEY=… python examples/anthropic_memory_tool/notes.py
"""

import os

from anthropic import Anthropic

import remembrancer
from remembrancer.integrations.anthropic_memory import MemoryTool

with remembrancer.open(os.environ.get("STORE", ":memory:")) as store:
    me = store.for_user("ada")
    answer = (
        Anthropic()
        .beta.messages.tool_runner(
            model=os.environ.get("MODEL", "claude-sonnet-5-5"),
            max_tokens=1000,
            messages=[{"role": "user", "content": "I drink green tea, no sugar. Note that."}],
            tools=[MemoryTool(me)],
        )
        .until_done()
    )
    print(answer.content[-1].text)
    print(me.recall("What does Ada drink?")[0].memory.content)
