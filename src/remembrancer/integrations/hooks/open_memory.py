"""Opens the memory that the settings name: on the running local server, or else in its store.

Nothing heavy is imported while a server runs, because that would take longer than its response.
"""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from remembrancer import local_server
from remembrancer.local_server import LocalServer

if TYPE_CHECKING:
    from remembrancer.client import RemoteMemory
    from remembrancer.config import Settings
    from remembrancer.embed import Embedder
    from remembrancer.llm import Model
    from remembrancer.memory import Memory
    from remembrancer.types import Json


@contextmanager
def open_memory(
    settings: Mapping[str, Json], *, agent: str | None, surface: str, embeds: bool = True
) -> Iterator[Memory | RemoteMemory]:
    """Open the memory of unchecked settings, on the running server or in its store."""
    server = _find_server(settings)
    if server is None:
        with _open_local_memory(settings, agent=agent, surface=surface, embeds=embeds) as local:
            yield local
        return
    from remembrancer.client import connect

    with connect(server.address, server.key, agent=agent, retries=0) as remote:
        yield remote


@contextmanager
def open_fast_model(settings: Settings) -> Iterator[Model | None]:
    """The fast model of the settings, if there is one."""
    from remembrancer.factory import open_models

    models = open_models(settings.models)
    try:
        yield models.fast
    finally:
        models.close()


def load_context(
    settings: Mapping[str, Json],
    options: Mapping[str, Any],
    *,
    agent: str | None,
    surface: str,
    embeds: bool,
) -> tuple[str, list[str]]:
    """Return the text of `Memory.context(**options)` and the ids of the memories in it."""
    server = _find_server(settings)
    if server is not None:
        return request_context(server, agent, options)
    with _open_local_memory(settings, agent=agent, surface=surface, embeds=embeds) as memory:
        context = memory.context(**options)
    return context.text, list(context.memories)


def request_context(
    server: LocalServer, agent: str | None, options: Mapping[str, Any]
) -> tuple[str, list[str]]:
    """Request a context from the server over a plain socket, without an HTTP library."""
    from urllib.parse import quote

    prefix = f"/agents/{quote(agent, safe='')}" if agent is not None else ""
    body = json.dumps(options).encode()
    head = (
        f"POST /api{prefix}/context HTTP/1.0\r\nHost: localhost\r\nConnection: close\r\n"
        f"Authorization: Bearer {server.key}\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    with socket.create_connection((server.host, server.port)) as connection:
        connection.sendall(head.encode() + body)
        with connection.makefile("rb") as response:
            headers, _, content = response.read().partition(b"\r\n\r\n")
    if headers.split(maxsplit=2)[1] != b"200":
        raise OSError(f"the server answered {headers.splitlines()[0].decode()}")
    found = json.loads(content)
    return found["text"], found["memories"]


def _find_server(settings: Mapping[str, Json]) -> LocalServer | None:
    return local_server.find_running(local_server.server_file_path(settings))


@contextmanager
def _open_local_memory(
    settings: Mapping[str, Json], *, agent: str | None, surface: str, embeds: bool
) -> Iterator[Memory]:
    # The model loads in a thread while the store opens.
    embedder = _start_embedder(settings) if embeds else None
    from remembrancer.config import validate_settings
    from remembrancer.factory import open

    with open(settings=validate_settings(settings), embedder=embedder) as engine:
        yield engine.for_user(agent=agent, surface=surface)
        engine.flush()


def _start_embedder(settings: Mapping[str, Json]) -> Embedder | None:
    embedding = settings.get("embedding")
    if isinstance(embedding, dict) and embedding.get("provider", "local") != "local":
        return None
    from remembrancer.embed.local import LocalEmbedder

    embedder = LocalEmbedder()
    embedder.warm()
    return embedder
