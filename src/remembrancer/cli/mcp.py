"""`rem mcp`: serves a memory to an MCP client; stdout is reserved for the protocol."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Annotated, cast, get_args

from typer import Option

from remembrancer.cli import restore_default_gc
from remembrancer.cli.cli_context import CliContext
from remembrancer.errors import InvalidInput, InvalidSetting


def mcp(
    cli: CliContext,
    *,
    tools: Annotated[
        str, Option(metavar="SET", help="core (the profile's tools) or full (all tools).")
    ] = "core",
) -> None:
    """Serve memory to an MCP client on stdin and stdout.

    A client such as Claude Code starts it. The profile decides which tools it offers. With --agent,
    it acts as that agent and cannot see the memory of others.

    \b
    Examples:
      rem mcp
      rem mcp --tools full --profile agents --agent health
    """
    from remembrancer.tools.toolsets import Extent

    if tools not in get_args(Extent):
        raise InvalidInput(f"--tools: use one of {', '.join(get_args(Extent))}, not {tools!r}.")
    if find_spec("mcp") is None:
        raise InvalidSetting("The MCP server is not installed: pip install 'remembrancer[mcp]'.")
    restore_default_gc()
    from remembrancer.mcp.stdio import serve

    with cli.open_engine(embeds=True) as engine:
        me = cli.memory_of(engine, surface="mcp")
        serve(engine, me.principal, cast(Extent, tools))
