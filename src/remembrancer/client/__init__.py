"""A memory that a server keeps, with the verbs of one that is kept here.

It speaks REST through `httpx`; it must not know how memories are stored or found.
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
    """The memory that a key opens on a server; nothing is asked until it is used.

    `timeout` is in seconds, and how long to wait before trying again at most. `insecure` lets the
    key travel unencrypted to another machine.
    """
    return RemoteMemory(
        ServerClient(url, key, agent=agent, timeout=timeout, retries=retries, insecure=insecure)
    )
