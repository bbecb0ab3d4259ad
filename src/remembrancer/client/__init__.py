"""Client for a Remembrancer server, with the verbs of a local memory.

It uses the REST API through `httpx` and does not import the store or the search.
"""

from __future__ import annotations

from remembrancer.client.http import ServerClient
from remembrancer.client.memory import RemoteMemory

__all__ = ["RemoteMemory", "connect"]


def connect(
    url: str,
    key: str,
    *,
    agent: str | None = None,
    timeout: float = 30,
    retries: int = 2,
    insecure: bool = False,
) -> RemoteMemory:
    """Return the memory of a key on a server; the first request is sent by its first verb.

    `timeout` is in seconds and also limits the pause before a retry. `insecure` allows http to
    another machine, where the key can be read on the way.
    """
    return RemoteMemory(
        ServerClient(url, key, agent=agent, timeout=timeout, retries=retries, insecure=insecure)
    )
