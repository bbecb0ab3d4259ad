"""Forwards requests to an upstream model server and streams its responses back.

Forwards only the headers named here, so that no key or cookie of this server leaves it.
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
"""The most bytes of a response that are kept for `OnComplete`."""

OnComplete = Callable[[bytes, bool], Awaitable[None]]
"""Called after a successful response with its bytes, and True if it was an event stream."""


class UpstreamFailed(RemembrancerError):
    code = "upstream_failed"
    status = 502


class UpstreamTimeout(RemembrancerError):
    code = "upstream_slow"
    status = 504


class Upstream:
    """An upstream model server; requests need an open `connect` block."""

    def __init__(self, settings: UpstreamSettings) -> None:
        self._url = settings.url.rstrip("/")
        self._key = validate_key(settings.key.get_secret_value()) if settings.key else None
        self._timeout_seconds = settings.timeout_seconds
        self._client: httpx.AsyncClient | None = None

    @contextlib.asynccontextmanager
    async def connect(self) -> AsyncIterator[None]:
        """Keep a connection pool open for the duration of the block."""
        timeout = httpx.Timeout(self._timeout_seconds, connect=CONNECT_TIMEOUT_SECONDS)
        limits = httpx.Limits(max_connections=None, max_keepalive_connections=20)
        async with httpx.AsyncClient(timeout=timeout, limits=limits) as self._client:
            yield

    @contextlib.asynccontextmanager
    async def stream(
        self, method: str, path: str, headers: Mapping[str, str], body: bytes | None
    ) -> AsyncIterator[httpx.Response]:
        """Yield the response once its headers have arrived; the timeout covers the whole body."""
        assert self._client is not None
        url = self._url + path
        sent = {"Accept-Encoding": "identity", "User-Agent": f"remembrancer/{__version__}"}
        if self._key is not None:
            sent["Authorization"] = f"Bearer {self._key}"
        if body is not None:
            sent["Content-Type"] = "application/json"
        sent |= {name: headers[name] for name in FORWARDED_HEADERS if name in headers}
        try:
            async with (
                asyncio.timeout(self._timeout_seconds),
                self._client.stream(method, url, headers=sent, content=body) as response,
            ):
                yield response
        except (TimeoutError, httpx.TimeoutException):
            raise UpstreamTimeout("The upstream model server did not answer in time.") from None
        except (httpx.HTTPError, httpx.InvalidURL, OSError) as error:
            raise UpstreamFailed(
                f"The upstream model server cannot be reached ({type(error).__name__})."
            ) from None

    def redact_key(self, content: bytes) -> bytes:
        """Remove our key from an error, because some servers quote a key that they refuse."""
        return content.replace(self._key.encode(), b"***") if self._key else content


class ProxyResponse(Response):
    """Streams the upstream's response unchanged, and stops if the client disconnects."""

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
        self._request = ("GET" if body is None else "POST", path, headers, body)
        self._on_complete = on_complete
        self._response: httpx.Response | None = None
        self._recorded = bytearray()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        tasks = [
            asyncio.create_task(self._forward(send)),
            asyncio.create_task(_wait_for_disconnect(receive)),
        ]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            outcome, _ = await asyncio.gather(*tasks, return_exceptions=True)
        if isinstance(outcome, Exception):
            raise outcome
        response = self._response
        if self._on_complete is not None and response is not None and response.is_success:
            media_type = response.headers.get("content-type", "")
            streamed = media_type.startswith("text/event-stream")
            await self._on_complete(bytes(self._recorded), streamed)

    async def _forward(self, send: Send) -> None:
        try:
            async with self._upstream.stream(*self._request) as response:
                if response.is_redirect:
                    raise UpstreamFailed("The upstream sent a redirect. Fix server.upstream.url.")
                is_success = response.is_success
                chunks = response.aiter_bytes() if is_success else self._read_error(response)
                self._response = response
                await send(_build_start_message(response))
                async for chunk in chunks:
                    if len(self._recorded) < MAX_RECORDED_BYTES:
                        self._recorded += chunk
                    await send({"type": "http.response.body", "body": chunk, "more_body": True})
            await send({"type": "http.response.body", "body": b""})
        except RemembrancerError:
            if self._response is None:
                raise
            # The headers are sent, so the only way to report the failure is to break off too.

    async def _read_error(self, response: httpx.Response) -> AsyncIterator[bytes]:
        content = bytearray()
        async for chunk in response.aiter_bytes():
            content += chunk
            if len(content) > MAX_ERROR_BYTES:
                break
        yield self._upstream.redact_key(bytes(content[:MAX_ERROR_BYTES]))


def _build_start_message(response: httpx.Response) -> dict[str, object]:
    headers = [
        (name.lower(), value)
        for name, value in response.headers.raw
        if name.lower() in RETURNED_HEADERS or name.lower().startswith(RETURNED_HEADER_PREFIXES)
    ]
    return {"type": "http.response.start", "status": response.status_code, "headers": headers}


async def _wait_for_disconnect(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
