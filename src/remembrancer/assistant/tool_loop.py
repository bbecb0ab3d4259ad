"""One answer of a model: it speaks, calls tools, and speaks again, for a few rounds."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace

from remembrancer.assistant.events import ChatEvent, Notice, TextChunk
from remembrancer.assistant.replies import TOOL_LOOP_STOPPED
from remembrancer.assistant.toolbox import Toolbox
from remembrancer.llm.chat import ChatModel, ChatPrompt, ToolCall, ToolRound

MAX_ROUNDS = 6
MAX_CALLS_PER_ROUND = 8
"""In one round; what is beyond that is not done."""

TOO_MANY_CALLS = "That is too much at once; nothing was done."


def run_tool_loop(model: ChatModel, prompt: ChatPrompt, tools: Toolbox) -> Iterator[ChatEvent]:
    """The answer as it comes; in the last round the model may only speak."""
    prompt = replace(prompt, tools=tools.list_tools())
    for number in range(1, MAX_ROUNDS + 1):
        prompt = replace(prompt, allow_tool_calls=number < MAX_ROUNDS)
        said, calls = "", []
        with closing(model.reply(prompt)) as pieces:
            for piece in pieces:
                if isinstance(piece, ToolCall):
                    calls.append(piece)
                else:
                    said += piece
                    yield TextChunk(piece)
        if not calls:
            return
        if not prompt.allow_tool_calls:
            yield Notice(TOOL_LOOP_STOPPED)
            return
        results = []
        for place, call in enumerate(calls):
            told, shown = (
                tools.call_tool(call) if place < MAX_CALLS_PER_ROUND else (TOO_MANY_CALLS, ())
            )
            results.append(told)
            yield from shown
        prompt = replace(
            prompt, tool_rounds=(*prompt.tool_rounds, ToolRound(said, tuple(calls), tuple(results)))
        )
