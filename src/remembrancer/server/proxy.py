"""Passes requests on to another server, and its answers back as they come; knows no memory.

Nothing that opens our own door goes there: of a client's headers only those named here.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping

import httpx
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from remembrancer import __version__
from remembrancer.config import UpstreamSettings
from remembrancer.errors import RemembrancerError
from remembrancer.llm.http import validate_key

FORWARDED_HEADERS = ("accept", "openai-beta")
RETURNED_HEADERS = (b"content-type", b"retry-after", b"retry-after-ms", b"x-should-retry")
RETURNED_HEADER_PREFIXES = (b"openai-", b"x-ratelimit-")
CONNECT_TIMEOUT_SECONDS = 10
MAX_ERROR_BYTES = 1_000_000
MAX_RECORDED_BYTES = 8_000_000
"""Of an answer, in bytes, for whoever wants to know what it said."""

OnComplete = Callable[[bytes, bool], Awaitable[None]]
"""What to do with a good answer when it is over: its bytes, and whether they are events."""


class UpstreamFailed(RemembrancerError):
    """The server of models did not answer."""

    code = "upstream_failed"
    status = 502


class UpstreamTimeout(RemembrancerError):
    """The server of models did not answer in time."""

    code = "upstream_slow"
    status = 504


class Upstream:
    """The server of models; it can be asked while it is `running`."""

    def __init__(self, settings: UpstreamSettings) -> None:
        self._url = settings.url.rstrip("/")
        self._key = validate_key(settings.key.get_secret_value()) if settings.key else None
        self._seconds = settings.timeout_seconds
        self._client: httpx.AsyncClient | None = None

    @contextlib.asynccontextmanager
    async def connect(self) -> AsyncIterator[None]:
        """Keep connections for as long as the block lasts."""
        patience = httpx.Timeout(self._seconds, connect=CONNECT_TIMEOUT_SECONDS)
        limits = httpx.Limits(max_connections=None, max_keepalive_connections=20)
        async with httpx.AsyncClient(timeout=patience, limits=limits) as self._client:
            yield

    @contextlib.asynccontextmanager
    async def stream(
        self, method: str, path: str, headers: Mapping[str, str], body: bytes | None
    ) -> AsyncIterator[httpx.Response]:
        """The answer, whose beginning is there; the deadline is for the whole of it."""
        assert self._client is not None
        own = {"Accept-Encoding": "identity", "User-Agent": f"remembrancer/{__version__}"}
        if self._key is not None:
            own["Authorization"] = f"Bearer {self._key}"
        if body is not None:
            own["Content-Type"] = "application/json"
        own |= {name: headers[name] for name in FORWARDED_HEADERS if name in headers}
        try:
            async with (
                asyncio.timeout(self._seconds),
                self._client.stream(method, self._url + path, headers=own, content=body) as answer,
            ):
                yield answer
        except (TimeoutError, httpx.TimeoutException):
            raise UpstreamTimeout("The server of models did not answer in time.") from None
        except (httpx.HTTPError, httpx.InvalidURL, OSError) as error:
            raise UpstreamFailed(
                f"The server of models could not be reached ({type(error).__name__})."
            ) from None

    def redact_key(self, content: bytes) -> bytes:
        """What the upstream says without our key: some quote the one that they refuse."""
        return content.replace(self._key.encode(), b"***") if self._key else content


class ProxyResponse(Response):
    """The upstream's answer to a request, byte for byte as it comes; who leaves, ends it."""

    def __init__(
        self,
        upstream: Upstream,
        path: str,
        headers: Mapping[str, str],
        body: bytes | None = None,
        on_complete: OnComplete | None = None,
    ) -> None:
        super().__init__()
        self._upstream = upstream
        self._asked = ("GET" if body is None else "POST", path, headers, body)
        self._then = on_complete
        self._answer: httpx.Response | None = None
        self._heard = bytearray()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the answer on until it is over or nobody listens; then tell what was heard."""
        tasks = [
            asyncio.create_task(self._forward(send)),
            asyncio.create_task(_wait_for_disconnect(receive)),
        ]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for one in tasks:
                one.cancel()
            outcome, _ = await asyncio.gather(*tasks, return_exceptions=True)
        if isinstance(outcome, Exception):
            raise outcome
        if self._then is not None and self._answer is not None and self._answer.is_success:
            kind = self._answer.headers.get("content-type", "")
            await self._then(bytes(self._heard), kind.startswith("text/event-stream"))

    async def _forward(self, send: Send) -> None:
        try:
            async with self._upstream.stream(*self._asked) as answer:
                if answer.is_redirect:
                    raise UpstreamFailed("The server of models is elsewhere: it sent a redirect.")
                pieces = answer.aiter_bytes() if answer.is_success else self._read_error(answer)
                self._answer = answer
                await send(_build_start_message(answer))
                async for piece in pieces:
                    if len(self._heard) < MAX_RECORDED_BYTES:
                        self._heard += piece
                    await send({"type": "http.response.body", "body": piece, "more_body": True})
            await send({"type": "http.response.body", "body": b""})
        except RemembrancerError:
            if self._answer is None:
                raise
            # It broke off after it had begun: so does ours, since nothing else can be said by now.

    async def _read_error(self, answer: httpx.Response) -> AsyncIterator[bytes]:
        words = bytearray()
        async for piece in answer.aiter_bytes():
            words += piece
            if len(words) > MAX_ERROR_BYTES:
                break
        yield self._upstream.redact_key(bytes(words[:MAX_ERROR_BYTES]))


def _build_start_message(answer: httpx.Response) -> dict[str, object]:
    headers = [
        (name.lower(), value)
        for name, value in answer.headers.raw
        if name.lower() in RETURNED_HEADERS or name.lower().startswith(RETURNED_HEADER_PREFIXES)
    ]
    return {"type": "http.response.start", "status": answer.status_code, "headers": headers}


async def _wait_for_disconnect(receive: Receive) -> None:
    """Wait until whoever asks has gone."""
    while (await receive())["type"] != "http.disconnect":
        pass
