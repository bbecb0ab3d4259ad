"""Runs the tool loop of one answer: the model writes text and calls tools for a few rounds."""

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
TOO_MANY_CALLS = "Too many tool calls at once; this one was not made."


def run_tool_loop(model: ChatModel, prompt: ChatPrompt, tools: Toolbox) -> Iterator[ChatEvent]:
    """Stream the answer; in the last round the model cannot call tools.

    It ends when the model asks for everything to be forgotten, as the user has the next word.
    """
    prompt = replace(prompt, tools=tools.list_tools())
    for number in range(1, MAX_ROUNDS + 1):
        prompt = replace(prompt, allow_tool_calls=number < MAX_ROUNDS)
        text, calls = "", []
        with closing(model.reply(prompt)) as chunks:
            for chunk in chunks:
                if isinstance(chunk, ToolCall):
                    calls.append(chunk)
                else:
                    text += chunk
                    yield TextChunk(chunk)
        if not calls:
            return
        if not prompt.allow_tool_calls:
            yield Notice(TOOL_LOOP_STOPPED)
            return
        results = []
        for index, call in enumerate(calls):
            result, events = (
                tools.call_tool(call) if index < MAX_CALLS_PER_ROUND else (TOO_MANY_CALLS, ())
            )
            results.append(result)
            yield from events
        if tools.is_everything_to_be_forgotten:
            return
        prompt = replace(
            prompt, tool_rounds=(*prompt.tool_rounds, ToolRound(text, tuple(calls), tuple(results)))
        )
