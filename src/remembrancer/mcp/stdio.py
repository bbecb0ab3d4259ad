"""Serves MCP to one user over stdin and stdout; nothing else can write to stdout."""

from __future__ import annotations

import anyio
from mcp.server.stdio import stdio_server

from remembrancer.engine import Remembrancer
from remembrancer.mcp.server import build_server
from remembrancer.tools.toolsets import Extent
from remembrancer.types import Principal


def serve(engine: Remembrancer, principal: Principal, extent: Extent = "core") -> None:
    """Answer requests until the client closes stdin."""
    anyio.run(_serve, engine, principal, extent)


async def _serve(engine: Remembrancer, principal: Principal, extent: Extent) -> None:
    server = build_server(engine, lambda _: principal, extent)
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())
