"""Remembrancer: long-term memory for AI assistants.

    store = remembrancer.open()
    me = store.for_user("ada")
    me.remember("Keep answers short, code first.")
    me.recall("how should I answer?")

Importing this is cheap: each name is loaded when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from remembrancer.async_memory import AsyncMemory as AsyncMemory
    from remembrancer.client import RemoteMemory as RemoteMemory
    from remembrancer.client import connect as connect
    from remembrancer.engine import Remembrancer as Remembrancer
    from remembrancer.errors import RemembrancerError as RemembrancerError
    from remembrancer.factory import open as open
    from remembrancer.memory import Memory as Memory
    from remembrancer.types import AsOf as AsOf
    from remembrancer.types import Episode as Episode
    from remembrancer.types import Event as Event
    from remembrancer.types import Fact as Fact
    from remembrancer.types import Kind as Kind
    from remembrancer.types import Mode as Mode
    from remembrancer.types import Permanence as Permanence
    from remembrancer.types import Recalled as Recalled
    from remembrancer.types import Relation as Relation
    from remembrancer.types import Rule as Rule
    from remembrancer.types import Status as Status
    from remembrancer.types import Written as Written

__version__ = "0.1.0"

_HOME = {
    "AsyncMemory": "async_memory",
    "RemoteMemory": "client",
    "connect": "client",
    "RemembrancerError": "errors",
    "Memory": "memory",
    "Remembrancer": "engine",
    "open": "factory",
    "AsOf": "types",
    "Episode": "types",
    "Event": "types",
    "Fact": "types",
    "Kind": "types",
    "Mode": "types",
    "Permanence": "types",
    "Recalled": "types",
    "Relation": "types",
    "Rule": "types",
    "Status": "types",
    "Written": "types",
}

__all__ = [*_HOME]


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOME])
