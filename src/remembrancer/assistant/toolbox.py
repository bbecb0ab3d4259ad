"""The tools of a profile in the hands of a model that talks: called with distrust, told as data."""

from __future__ import annotations

from collections.abc import Iterator

from remembrancer.assistant.events import Part, Status, Used
from remembrancer.errors import RemembrancerError
from remembrancer.llm.chat import Offer, ToolCall
from remembrancer.tools.caller import Caller
from remembrancer.tools.results import Done, DoneToMany, Found, Result, quoted, refusal
from remembrancer.tools.toolsets import tools_of

UNKNOWN = "There is no such tool."
MALFORMED = "The arguments are not a JSON object; nothing was done."
NOT_YOURS = "Only the person can have everything forgotten, by saying so: /forget."


class Toolbox:
    """What a model may do with one person's memory."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller
        self._tools = tools_of(caller.profile)

    def offers(self) -> tuple[Offer, ...]:
        """The tools as a model is told of them, always in the same order."""
        profile, agent = self._caller.profile, self._caller.names_agents
        return tuple(
            Offer(one.name, one.description, one.input_schema(profile, agent=agent))
            for one in self._tools.values()
        )

    def use(self, call: ToolCall) -> tuple[str, tuple[Part, ...]]:
        """Do what a call asks for: what to tell the model, and what to show the person."""
        tool = self._tools.get(call.name)
        if tool is None:
            return UNKNOWN, ()
        if call.arguments is None:
            return MALFORMED, ()
        if call.arguments.get("all"):
            return NOT_YOURS, ()
        try:
            result = tool.call(self._caller, call.arguments)
        except RemembrancerError as error:
            return refusal(error), ()
        return result.words(), tuple(_shown(result))


def _shown(result: Result) -> Iterator[Part]:
    match result:
        case Done(event=str(event)):
            yield Status(f"{result.done.capitalize()}: {quoted(result.content)}", event)
        case DoneToMany(event=str(event), content=str(content)):
            yield Status(f"{result.done.capitalize()}: {quoted(content)}", event)
        case Found(memories=[_, *_]):
            yield Used(tuple(one.id for one in result.memories))
