"""The server of one person, over stdin and stdout: nothing else is ever written there."""

from __future__ import annotations

import anyio
from mcp.server.stdio import stdio_server

from remembrancer.engine import Remembrancer
from remembrancer.mcp.server import build_server
from remembrancer.tools.toolsets import Extent
from remembrancer.types import Principal


def serve(engine: Remembrancer, principal: Principal, extent: Extent = "core") -> None:
    """Answer until whoever calls hangs up."""
    anyio.run(_serve, engine, principal, extent)


async def _serve(engine: Remembrancer, principal: Principal, extent: Extent) -> None:
    ours = build_server(engine, lambda _: principal, extent)
    async with stdio_server() as (incoming, outgoing):
        await ours.run(incoming, outgoing, ours.create_initialization_options())
