"""The verb that serves a memory to MCP clients; stdout belongs to the protocol."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Annotated, cast

import typer

from remembrancer.cli import restore_default_gc
from remembrancer.cli.cli_context import CliContext
from remembrancer.errors import InvalidInput, InvalidSetting

if TYPE_CHECKING:
    from remembrancer.tools.toolsets import Extent

EXTENTS = ("core", "full")


def mcp(
    context: typer.Context,
    *,
    tools: Annotated[
        str, typer.Option(metavar="SET", help="core, the most needed tools, or full.")
    ] = "core",
) -> None:
    """Serve memory to an MCP client on stdin and stdout.

    A client such as Claude Code starts it. Which tools it offers depends on the profile; with
    --agent, it acts as that agent and reaches no other.

    \b
    Examples:
      rem mcp
      rem mcp --tools full --profile agents --agent health
    """
    if tools not in EXTENTS:
        raise InvalidInput(f"--tools: use one of {', '.join(EXTENTS)}, not {tools!r}.")
    if find_spec("mcp") is None:
        raise InvalidSetting("The MCP server needs a library: pip install 'remembrancer[mcp]'.")
    restore_default_gc()
    from remembrancer.mcp.stdio import serve

    desk: CliContext = context.obj
    with desk.open_engine(embeds=True) as engine:
        me = engine.for_user(desk.user, tenant=desk.tenant, agent=desk.agent, surface="mcp")
        serve(engine, me.principal, cast("Extent", tools))
