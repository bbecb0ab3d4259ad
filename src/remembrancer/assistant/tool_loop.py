"""One answer of a model: it speaks, calls tools, and speaks again, for a few rounds."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace

from remembrancer.assistant.events import Notice, Part, Text
from remembrancer.assistant.replies import STOPPED
from remembrancer.assistant.toolbox import Toolbox
from remembrancer.llm.chat import ChatModel, Prompt, Step, ToolCall

MOST_ROUNDS = 6
MOST_CALLS = 8
"""In one round; what is beyond that is not done."""

TOO_MANY = "That is too much at once; nothing was done."


def answered(model: ChatModel, prompt: Prompt, tools: Toolbox) -> Iterator[Part]:
    """The answer as it comes; in the last round the model may only speak."""
    prompt = replace(prompt, offers=tools.offers())
    for number in range(1, MOST_ROUNDS + 1):
        prompt = replace(prompt, may_call=number < MOST_ROUNDS)
        said, calls = "", []
        with closing(model.reply(prompt)) as pieces:
            for piece in pieces:
                if isinstance(piece, ToolCall):
                    calls.append(piece)
                else:
                    said += piece
                    yield Text(piece)
        if not calls:
            return
        if not prompt.may_call:
            yield Notice(STOPPED)
            return
        results = []
        for place, call in enumerate(calls):
            told, shown = tools.use(call) if place < MOST_CALLS else (TOO_MANY, ())
            results.append(told)
            yield from shown
        prompt = replace(prompt, steps=(*prompt.steps, Step(said, tuple(calls), tuple(results))))
