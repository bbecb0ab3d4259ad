"""The tools of a profile as LangChain tools, for the person whom a run is for."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, StructuredTool

from remembrancer.access.time_zones import parse_zone
from remembrancer.errors import InvalidInput, RemembrancerError
from remembrancer.integrations.langgraph.nodes import of_run
from remembrancer.integrations.langgraph.run_person import PersonOf, named_person
from remembrancer.options import check_value
from remembrancer.tools.caller import Caller
from remembrancer.tools.results import format_error
from remembrancer.tools.tool import Tool as Verb
from remembrancer.tools.toolsets import Extent, select_tools

if TYPE_CHECKING:
    from remembrancer.engine import Remembrancer


def memory_tools(
    people: Remembrancer,
    *,
    names: Collection[str] | None = None,
    extent: Extent = "core",
    person_of: PersonOf = named_person,
    time_zone: str = "UTC",
) -> list[BaseTool]:
    """Return the tools of the profile, or those with these names.

    They reach the memory of the person whom a run is for, and no argument can name another. Errors
    are returned to the model as text, so that it can react to them.
    """
    memory_of = of_run(people, person_of=person_of)
    check_value("names", names, list[str] | None)
    check_value("extent", extent, Extent)
    parse_zone(time_zone)
    profile = people.settings.profile_for()
    verbs = select_tools(profile, extent)
    unknown = sorted({*(names or ())} - verbs.keys())
    if unknown:
        raise InvalidInput(f"There is no tool {unknown[0]!r}: choose from {', '.join(verbs)}.")

    def build_tool(verb: Verb) -> BaseTool:
        def use(config: RunnableConfig, **arguments: Any) -> str:
            caller = Caller(memory_of(config), time_zone)
            try:
                return verb.call(caller, arguments).to_text()
            except RemembrancerError as error:
                return format_error(error)

        return StructuredTool(
            name=verb.name,
            description=verb.description,
            args_schema=verb.input_schema(profile),
            func=use,
        )

    return [build_tool(one) for name, one in verbs.items() if names is None or name in names]
