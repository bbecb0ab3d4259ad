"""A memory for another program to use: the running server's, or the store itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from remembrancer import local_server

if TYPE_CHECKING:
    from remembrancer.client import RemoteMemory
    from remembrancer.embed import Embedder
    from remembrancer.memory import Memory
    from remembrancer.types import Json


@contextmanager
def open_memory(
    settings: Mapping[str, Json], *, agent: str | None, surface: str, embeds: bool = True
) -> Iterator[Memory | RemoteMemory]:
    """The memory that unchecked settings name, wherever it can be had."""
    server = local_server.find_running(local_server.server_file_path(settings))
    if server is None:
        with open_local_memory(settings, agent=agent, surface=surface, embeds=embeds) as here:
            yield here
        return
    from remembrancer.client import connect

    with connect(server.address, server.key, agent=agent, retries=0) as there:
        yield there


@contextmanager
def open_local_memory(
    settings: Mapping[str, Json], *, agent: str | None, surface: str, embeds: bool
) -> Iterator[Memory]:
    """The memory that unchecked settings name, in its store; the model loads meanwhile."""
    embedder = _start_embedder(settings) if embeds else None
    from remembrancer.config import validate_settings
    from remembrancer.factory import open

    with open(settings=validate_settings(settings), embedder=embedder) as engine:
        yield engine.for_user(agent=agent, surface=surface)
        engine.flush()


def _start_embedder(settings: Mapping[str, Json]) -> Embedder | None:
    chosen = settings.get("embedding")
    if isinstance(chosen, dict) and chosen.get("provider", "local") != "local":
        return None
    from remembrancer.embed.local import LocalEmbedder

    embedder = LocalEmbedder()
    embedder.warm()
    return embedder
