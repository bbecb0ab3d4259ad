"""The official client, made to be used from plain tests, over each of the transports."""

from __future__ import annotations

import contextlib
import os
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import httpx2
import uvicorn
from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult, Tool
from starlette.applications import Starlette

from remembrancer.engine import Remembrancer
from remembrancer.mcp.http import HttpServer
from remembrancer.mcp.server import build_server
from remembrancer.types import Owner, Principal

REM = ("-c", "from remembrancer.cli import main; main()")
"""What the installed command does, whether it is installed or not."""


class Talk:
    """A conversation of a client with the server."""

    def __init__(self, portal: BlockingPortal, client: Client) -> None:
        self._portal = portal
        self._client = client

    def tools(self) -> dict[str, Tool]:
        """The tools that are offered."""
        return {one.name: one for one in self._ask(self._client.list_tools).tools}

    def answer(self, name: str, arguments: Mapping[str, Any]) -> CallToolResult:
        """The answer as it is."""
        result = self._ask(self._client.call_tool, name, dict(arguments))
        assert isinstance(result, CallToolResult)
        return result

    def call(self, name: str, /, **arguments: Any) -> Any:
        """The value of an answer that is no error."""
        result = self.answer(name, arguments)
        assert not result.is_error, result.content
        return result.structured_content

    def says(self, name: str, /, **arguments: Any) -> str:
        """The text of an answer that is no error."""
        result = self.answer(name, arguments)
        assert not result.is_error, result.content
        return str(result.content[0].text)  # type: ignore[union-attr]

    def fails(self, name: str, /, **arguments: Any) -> Any:
        """What an answer that is an error says."""
        result = self.answer(name, arguments)
        assert result.is_error, result.structured_content
        return result.structured_content["error"]

    def read(self, uri: str) -> str:
        """The text at an address."""
        return str(self._ask(self._client.read_resource, uri).contents[0].text)

    def prompt(self, name: str) -> str:
        """The text of a prompt."""
        return str(self._ask(self._client.get_prompt, name).messages[0].content.text)

    def listed(self) -> tuple[list[str], list[str], list[str]]:
        """The names of resources, templates of resources, and prompts."""
        found = self._ask(self._client.list_resources).resources
        templates = self._ask(self._client.list_resource_templates).resource_templates
        prompts = self._ask(self._client.list_prompts).prompts
        return (
            [str(one.uri) for one in found],
            [one.uri_template for one in templates],
            [one.name for one in prompts],
        )

    def _ask(self, verb: Callable[..., Any], *arguments: Any) -> Any:
        return self._portal.call(verb, *arguments)


@contextlib.contextmanager
def talking(target: Any, mode: Any = "auto") -> Iterator[Talk]:
    """Talk to a server, or over a transport."""
    with start_blocking_portal() as portal:
        with portal.wrap_async_context_manager(Client(target, mode=mode)) as client:
            yield Talk(portal, client)


@contextlib.contextmanager
def inside(engine: Remembrancer, who: Principal, extent: Any = "core") -> Iterator[Talk]:
    """Talk to a server in this process."""
    with talking(build_server(engine, lambda _: who, extent)) as talk:
        yield talk


@contextlib.contextmanager
def over_stdio(*arguments: str, errors: Path, mode: Any = "auto") -> Iterator[Talk]:
    """Talk to a `rem …` process, whose stderr goes into a file."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    parameters = StdioServerParameters(
        command=sys.executable, args=[*REM, *arguments], env=environment
    )
    with errors.open("w") as file, talking(stdio_client(parameters, errlog=file), mode) as talk:
        yield talk


@contextlib.contextmanager
def serving(engine: Remembrancer, keys: Mapping[str, Principal], **options: Any) -> Iterator[str]:
    """Serve over HTTP on loopback; what is given is the address."""
    ours = HttpServer(engine, keys.get, **options)

    @contextlib.asynccontextmanager
    async def lifespan(_: Starlette) -> Any:
        async with ours.running():
            yield

    app = Starlette(routes=ours.routes(), lifespan=lifespan)
    web = uvicorn.Server(uvicorn.Config(app, log_level="error", ws="none"))
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        thread = threading.Thread(target=web.run, args=([listener],))
        thread.start()
        while not web.started:
            time.sleep(0.01)
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/mcp"
        web.should_exit = True
        thread.join()


@contextlib.contextmanager
def over_http(address: str, key: str, mode: Any = "auto") -> Iterator[Talk]:
    """Talk to a server at an address."""
    with talking(_with_key(address, key), mode) as talk:
        yield talk


@contextlib.asynccontextmanager
async def _with_key(address: str, key: str) -> Any:
    headers = {"Authorization": f"Bearer {key}"}
    async with httpx2.AsyncClient(headers=headers, trust_env=False) as web:
        async with streamable_http_client(address, http_client=web) as streams:
            yield streams


def principal(
    engine: Remembrancer, user: str = "ada", agent: str | None = None, tenant: str | None = None
) -> Principal:
    """Someone who calls."""
    return Principal(Owner(tenant or engine.settings.tenant, user), agent)


def contents(found: Mapping[str, Any]) -> Sequence[str]:
    """The words of the memories in an answer."""
    return [one["content"] for one in found["items"]]
