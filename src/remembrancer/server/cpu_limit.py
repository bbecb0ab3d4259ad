"""Work that keeps a core busy takes turns: more threads than cores would only be in its way."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TypeVar

from anyio import CapacityLimiter, to_thread
from starlette.requests import Request

from remembrancer.config import Settings

T = TypeVar("T")


class CpuLimiter:
    """As many as there are cores, or twice as many where some wait for a database's answer.

    No limit where they wait for another's model most of the time.
    """

    def __init__(self, settings: Settings) -> None:
        most = (os.cpu_count() or 1) * (2 if settings.store.url else 1)
        here = settings.embedding.provider == "local"
        self._limiter = CapacityLimiter(most) if here else None

    async def run(self, work: Callable[..., T], *args: object) -> T:
        """Do it in a thread, when it is its turn."""
        return await to_thread.run_sync(work, *args, limiter=self._limiter)


async def run_limited(request: Request, work: Callable[..., T], *args: object) -> T:
    """Do what a request asks for, when it is its turn."""
    turns: CpuLimiter = request.app.state.turns
    return await turns.run(work, *args)
