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
def reached(
    settings: Mapping[str, Json], *, agent: str | None, surface: str, embeds: bool = True
) -> Iterator[Memory | RemoteMemory]:
    """The memory that unchecked settings name, wherever it can be had."""
    server = local_server.found(local_server.file(settings))
    if server is None:
        with opened(settings, agent=agent, surface=surface, embeds=embeds) as here:
            yield here
        return
    from remembrancer.client import connect

    with connect(server.address, server.key, agent=agent, retries=0) as there:
        yield there


@contextmanager
def opened(
    settings: Mapping[str, Json], *, agent: str | None, surface: str, embeds: bool
) -> Iterator[Memory]:
    """The memory that unchecked settings name, in its store; the model loads meanwhile."""
    embedder = _warming(settings) if embeds else None
    from remembrancer.config import checked
    from remembrancer.factory import open

    with open(settings=checked(settings), embedder=embedder) as engine:
        yield engine.for_user(agent=agent, surface=surface)
        engine.flush()


def _warming(settings: Mapping[str, Json]) -> Embedder | None:
    chosen = settings.get("embedding")
    if isinstance(chosen, dict) and chosen.get("provider", "local") != "local":
        return None
    from remembrancer.embed.local import LocalEmbedder

    embedder = LocalEmbedder()
    embedder.warm()
    return embedder
