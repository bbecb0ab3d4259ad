"""A POST that ends: a deadline for the whole answer, a limit to its size, and to our patience.

Knows no protocol. No message quotes the key, the question or the endpoint's own words.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import math
import time
from collections.abc import AsyncIterator, Coroutine, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from remembrancer.llm import ModelMisspoke, ModelUnavailable
from remembrancer.llm.json_answer import LARGEST, loaded
from remembrancer.retry import PATIENT, Patience
from remembrancer.types import Json

if TYPE_CHECKING:
    import ssl

    import httpx

__all__ = [
    "PATIENT",
    "Line",
    "Patience",
    "Reply",
    "asked_pause",
    "encoded",
    "read",
    "refused",
    "sendable",
    "unreached",
    "unusable",
]

Result = TypeVar("Result")
REQUEST_TIMEOUT = 408
TOO_MANY_REQUESTS = 429


@dataclass(frozen=True, slots=True)
class Reply:
    """What an endpoint answered; of a body that is too large, a little more than is allowed."""

    status: int
    headers: Mapping[str, str]
    content: bytes

    @property
    def good(self) -> bool:
        return 200 <= self.status < 300

    @property
    def may_pass(self) -> bool:
        return _may_pass(self.status)

    @property
    def text(self) -> str:
        return self.content.decode("utf-8", "replace")

    def json(self) -> Json:
        """The body as JSON, or ModelMisspoke."""
        if len(self.content) > LARGEST:
            raise ModelMisspoke(
                "The model's endpoint answered with more than 1 MB: ask for less at a time."
            )
        try:
            return loaded(self.text)
        except ValueError:
            raise ModelMisspoke(
                "The model's endpoint did not answer in JSON: check the model url."
            ) from None


class Line:
    """One address to post JSON to. Every attempt has a connection of its own and its own timeout.

    Questions take seconds, so connections are not kept for the next one.
    """

    def __init__(
        self, url: str, headers: Mapping[str, str], *, timeout: float, patience: Patience
    ) -> None:
        self._url = url
        self._headers = {"Content-Type": "application/json", **headers}
        self._timeout = timeout
        self.patience = patience

    def post(self, body: Mapping[str, Json]) -> Reply:
        """The reply, good or not; ModelUnavailable when what may pass did not."""
        content = encoded(body)
        for attempt in range(self.patience.retries + 1):
            outcome = self._attempt(content)
            if isinstance(outcome, Reply) and not outcome.may_pass:
                return outcome
            if attempt < self.patience.retries:
                time.sleep(self.patience.pause(attempt, asked_pause(outcome)))
        raise refused(outcome.status) if isinstance(outcome, Reply) else unreached(outcome)

    def _attempt(self, content: bytes) -> Reply | str:
        """The endpoint's reply, or the kind of failure that kept us from one."""
        import httpx

        try:
            return _waited_for(self._exchange(content))
        except (
            httpx.UnsupportedProtocol,
            httpx.LocalProtocolError,
            httpx.InvalidURL,
            UnicodeError,
        ):
            raise unusable() from None
        except (httpx.RequestError, OSError) as error:
            return type(error).__name__

    async def _exchange(self, content: bytes) -> Reply:
        async with self.opened(content) as response:
            return await read(response)

    @contextlib.asynccontextmanager
    async def opened(self, content: bytes) -> AsyncIterator[httpx.Response]:
        """A response whose beginning is there; the deadline holds until it is left."""
        import httpx

        trust = self._trust  # Takes a while the first time, which is not the endpoint's fault.
        # httpx limits each read, which a server that sends a byte at a time always meets.
        async with asyncio.timeout(self._timeout):
            async with httpx.AsyncClient(verify=trust, timeout=None) as client:  # noqa: S113
                post = client.stream("POST", self._url, content=content, headers=self._headers)
                async with post as response:
                    yield response

    @cached_property
    def _trust(self) -> ssl.SSLContext:
        import httpx

        return httpx.create_ssl_context()


def encoded(body: Mapping[str, Json]) -> bytes:
    """JSON as it is sent."""
    return json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")


def sendable(key: str) -> str:
    """The key, if a header can carry it."""
    if not (key and key.isascii() and key.isprintable() and " " not in key):
        raise ModelUnavailable(
            "The model's key is empty or has a space, a line break or a character that no key has: "
            "copy it again.",
            passing=False,
        )
    return key


def refused(status: int) -> ModelUnavailable:
    """What a reply that is not good means for the user."""
    return ModelUnavailable(_advice(status), passing=_may_pass(status))


def _may_pass(status: int) -> bool:
    return status in (REQUEST_TIMEOUT, TOO_MANY_REQUESTS) or status >= 500


def _advice(status: int) -> str:
    if status in (401, 403):
        return f"The model's endpoint refused the key ({status}): check the model's key."
    if status == 402:
        return f"The model's endpoint wants to be paid ({status}): top up the account."
    if status == TOO_MANY_REQUESTS:
        return f"The model's endpoint is over its limit ({status}): wait, or raise your quota."
    if _may_pass(status):
        return f"The model's endpoint keeps failing ({status}): try again later."
    return (
        f"The model's endpoint refused the request ({status}): "
        "check the model url and the model's name."
    )


def unusable() -> ModelUnavailable:
    """Nothing can be sent to such an address."""
    return ModelUnavailable(
        "The model url cannot be used: it must look like https://host/v1.", passing=False
    )


def unreached(kind: str) -> ModelUnavailable:
    """What the kind of failure that kept us from a reply means for the user."""
    if kind == TimeoutError.__name__:
        return ModelUnavailable(
            "The model did not answer in time: allow it more seconds, or try a faster model.",
            passing=True,
        )
    return ModelUnavailable(
        f"The model's endpoint could not be reached ({kind}): "
        "check that it runs and that the model url is right.",
        passing=True,
    )


def asked_pause(outcome: Reply | str) -> float | None:
    """For how many seconds the endpoint wants to be left alone, if it says so."""
    if isinstance(outcome, str):
        return None
    try:
        seconds = float(outcome.headers.get("retry-after", ""))
    except ValueError:
        return None
    return seconds if math.isfinite(seconds) and seconds >= 0 else None


async def read(response: httpx.Response) -> Reply:
    """The whole of a response, but for what is too much."""
    content = bytearray()
    async for piece in response.aiter_bytes():
        content += piece
        if len(content) > LARGEST:
            break
    return Reply(response.status_code, dict(response.headers), bytes(content[: LARGEST + 1]))


def _waited_for(work: Coroutine[Any, Any, Result]) -> Result:
    """Run to the end; in a thread of its own where a loop runs already, as in a notebook."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return _run(work)
    with ThreadPoolExecutor(1) as aside:
        return aside.submit(_run, work).result()


def _run(work: Coroutine[Any, Any, Result]) -> Result:
    # With a factory the loop stays ours alone: the thread's own loop is left as it was.
    with asyncio.Runner(loop_factory=asyncio.new_event_loop) as runner:
        return runner.run(work)
