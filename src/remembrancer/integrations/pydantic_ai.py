"""The tools of a profile as a toolset of pydantic-ai."""

from __future__ import annotations

from typing import Any

from pydantic_ai import FunctionToolset, Tool

from remembrancer.errors import RemembrancerError
from remembrancer.memory import Memory
from remembrancer.tools.caller import Caller
from remembrancer.tools.results import format_error
from remembrancer.tools.tool import Tool as Verb
from remembrancer.tools.toolsets import Extent, select_tools


def memory_toolset(
    memory: Memory, *, extent: Extent = "core", time_zone: str = "UTC"
) -> FunctionToolset[Any]:
    """Return a toolset for the `toolsets` of an agent or of a run.

    Errors are returned to the model as text, so that it can react to them.
    """
    caller = Caller(memory, time_zone)
    verbs = select_tools(caller.profile, extent).values()
    return FunctionToolset([_build_tool(one, caller) for one in verbs], id="memory")


def _build_tool(verb: Verb, caller: Caller) -> Tool[Any]:
    def use(**arguments: Any) -> str:
        try:
            return verb.call(caller, arguments).to_text()
        except RemembrancerError as error:
            return format_error(error)

    schema = verb.input_schema(caller.profile, agent=caller.must_name_agent)
    return Tool.from_schema(use, verb.name, verb.description, schema)
