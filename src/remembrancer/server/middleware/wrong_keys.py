"""Limits how many wrong keys an address may try, before they are looked up.

Keys cannot be guessed; the limit saves the work. A valid key always passes: once an address is
limited, its keys are compared with a list of all valid ones, which is at most a few seconds old.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from starlette.concurrency import run_in_threadpool
from starlette.types import Scope

from remembrancer.access.keys import digest_secret
from remembrancer.server.client_address import find_network
from remembrancer.server.middleware.rate_limit import TokenBuckets
from remembrancer.server.problems import TooManyRequests

ADDRESSES_IN_ALL = 10
"""All addresses together may try this many times what one may."""

EVERYONE = "everyone"
LIST_SECONDS = 2.0
"""The age at which the list of valid keys is read again, if an unknown key is presented."""

LIST_SHARE = 0.05
"""The share of its time that a large store may spend on reading the list."""


class WrongKeys:
    """Counts wrong keys by address and in all; keeps what it needs for valid ones to pass."""

    def __init__(
        self,
        list_valid_digests: Callable[[], frozenset[str]],
        per_minute: int,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        in_all = per_minute * ADDRESSES_IN_ALL
        self._by_address = TokenBuckets(per_minute, per_minute, clock)
        self._in_all = TokenBuckets(in_all, in_all, clock)
        self._list_valid_digests = list_valid_digests
        self._clock = clock
        self._valid: frozenset[str] = frozenset()
        self._stale_at = float("-inf")
        self._reading = asyncio.Lock()

    async def check(self, scope: Scope, secret: str) -> None:
        """Raise TooManyRequests if the address is limited and the secret opens nothing."""
        seconds = self.seconds_until_next(scope)
        if seconds and not await self._is_valid(digest_secret(secret)):
            raise self.build_error(seconds)

    def seconds_until_next(self, scope: Scope) -> int:
        """0, or the seconds until this address may try a wrong key again."""
        return max(
            self._by_address.seconds_until_token(_identify(scope)),
            self._in_all.seconds_until_token(EVERYONE),
        )

    def count(self, scope: Scope) -> None:
        """Count a wrong key."""
        self._by_address.take_token(_identify(scope))
        self._in_all.take_token(EVERYONE)

    @staticmethod
    def build_error(seconds: int) -> TooManyRequests:
        return TooManyRequests(
            f"Too many wrong keys from this address. Try again in {seconds} seconds.", seconds
        )

    async def _is_valid(self, digest: str) -> bool:
        if digest in self._valid:
            return True
        async with self._reading:
            if self._clock() >= self._stale_at:
                await self._read_list()
        return digest in self._valid

    async def _read_list(self) -> None:
        started = self._clock()
        self._valid = await run_in_threadpool(self._list_valid_digests)
        ended = self._clock()
        self._stale_at = ended + max(LIST_SECONDS, (ended - started) / LIST_SHARE)


def _identify(scope: Scope) -> str:
    client = scope.get("client")
    return find_network(client[0]) if client else ""
