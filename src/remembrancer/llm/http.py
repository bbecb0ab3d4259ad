"""POSTs JSON to a model endpoint with a deadline for the whole exchange, a size limit and retries.

No error message quotes the key, the request or the response.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import queue
import threading
import time
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from remembrancer.llm import InvalidModelResponse, ModelUnavailable
from remembrancer.llm.json_answer import MAX_ANSWER_SIZE, parse_json
from remembrancer.retry import (
    EndpointMessages,
    RetryPolicy,
    is_retryable,
    is_sendable_key,
    parse_retry_after,
)
from remembrancer.types import Json

if TYPE_CHECKING:
    import ssl

    import httpx

MESSAGES = EndpointMessages("model")
TIMEOUT_ERROR_NAME = TimeoutError.__name__
REFUSED_STATUSES = (400, 413, 422)
"""The content of one request is refused; 401, 403 and 404 concern all of them."""


@dataclass(frozen=True, slots=True)
class EndpointResponse:
    """A complete response; a body over the size limit is cut just above the limit."""

    status: int
    headers: Mapping[str, str]
    content: bytes

    @property
    def is_success(self) -> bool:
        return 200 <= self.status < 300

    @property
    def text(self) -> str:
        return self.content.decode("utf-8", "replace")

    def json(self) -> Json:
        """The parsed body; raises InvalidModelResponse if it is too large or not JSON."""
        if len(self.content) > MAX_ANSWER_SIZE:
            raise InvalidModelResponse(
                "The model endpoint sent more than 1 MB: ask for less at a time."
            )
        try:
            return parse_json(self.text)
        except ValueError:
            raise InvalidModelResponse(
                "The model endpoint did not answer in JSON: check the model url."
            ) from None


@dataclass(frozen=True, slots=True)
class TransportFailure:
    """The exchange failed before a complete response arrived; `error_name` is the error's class."""

    error_name: str


ExchangeItem = (
    str | EndpointResponse | TransportFailure | ModelUnavailable | InvalidModelResponse | None
)
"""The data of one event, a whole response, a failure, or None at the end."""

ReadResponse = Callable[["httpx.Response"], AsyncIterator[str | EndpointResponse]]


class Endpoint:
    """One URL that takes JSON. Each attempt opens its own connection and has its own timeout.

    Model calls take seconds, so there is no connection pool.
    """

    def __init__(
        self, url: str, headers: Mapping[str, str], *, timeout: float, retry_policy: RetryPolicy
    ) -> None:
        self._url = url
        self._headers = {"Content-Type": "application/json", **headers}
        self._timeout = timeout
        self.retry_policy = retry_policy

    def post(self, body: Mapping[str, Json]) -> EndpointResponse:
        """The response, successful or not; raises ModelUnavailable when all retries have failed."""
        content = encode_json(body)
        for attempt in range(self.retry_policy.max_retries + 1):
            with HttpExchange(self, content, _read_whole) as exchange:
                outcome = exchange.get()
            if not is_transient(outcome):
                break
            if attempt < self.retry_policy.max_retries:
                self.wait_before_retry(attempt, outcome)
        if isinstance(outcome, EndpointResponse) and not is_transient(outcome):
            return outcome
        raise error_for_item(outcome)

    def wait_before_retry(self, attempt: int, outcome: ExchangeItem) -> None:
        headers = outcome.headers if isinstance(outcome, EndpointResponse) else {}
        time.sleep(self.retry_policy.delay_seconds(attempt, parse_retry_after(headers)))

    @contextlib.asynccontextmanager
    async def open_response(self, content: bytes) -> AsyncIterator[httpx.Response]:
        """A response whose headers have arrived; the deadline covers the whole context."""
        import httpx

        # Loading the certificates takes a while the first time and is not part of the deadline.
        ssl_context = self._ssl_context
        # httpx limits each read, so a server that sends a byte at a time never exceeds its timeout.
        async with asyncio.timeout(self._timeout):
            async with httpx.AsyncClient(verify=ssl_context, timeout=None) as client:  # noqa: S113
                post = client.stream("POST", self._url, content=content, headers=self._headers)
                async with post as response:
                    yield response

    @cached_property
    def _ssl_context(self) -> ssl.SSLContext:
        import httpx

        return httpx.create_ssl_context()


class HttpExchange:
    """One request and its response, read on a thread with an event loop of its own.

    This works inside a running event loop too, and a blocked `get` can be interrupted by Ctrl-C.
    Leaving the context cancels the request.
    """

    def __init__(self, endpoint: Endpoint, content: bytes, read: ReadResponse) -> None:
        self._endpoint = endpoint
        self._content = content
        self._read = read
        self._items: queue.SimpleQueue[ExchangeItem] = queue.SimpleQueue()
        self._closed = False
        self._loop = asyncio.new_event_loop()
        self._task = self._loop.create_task(self._run())
        self._thread = threading.Thread(
            target=self._run_loop, name="remembrancer-answer", daemon=True
        )

    def get(self) -> ExchangeItem:
        """Block until the next item has arrived; None at the end."""
        return self._items.get()

    def __enter__(self) -> HttpExchange:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._closed = True
        with contextlib.suppress(RuntimeError):  # The loop is already closed.
            self._loop.call_soon_threadsafe(self._task.cancel)
        self._thread.join()

    def _run_loop(self) -> None:
        try:
            try:
                self._loop.run_until_complete(self._task)
            except asyncio.CancelledError:
                if not self._closed:
                    self._items.put(TransportFailure(TIMEOUT_ERROR_NAME))
            self._loop.run_until_complete(self._loop.shutdown_asyncgens())
        finally:
            self._items.put(None)
            self._loop.close()

    async def _run(self) -> None:
        import httpx

        try:
            async with self._endpoint.open_response(self._content) as response:
                async for item in self._read(response):
                    self._items.put(item)
        except (
            httpx.UnsupportedProtocol,
            httpx.LocalProtocolError,
            httpx.InvalidURL,
            UnicodeError,
        ):
            self._items.put(ModelUnavailable(MESSAGES.invalid_url(), transient=False))
        except InvalidModelResponse as error:
            self._items.put(error)
        except (httpx.RequestError, OSError) as error:
            self._items.put(TransportFailure(type(error).__name__))


def is_transient(item: ExchangeItem) -> bool:
    """True if the same request can succeed later."""
    if isinstance(item, EndpointResponse):
        return is_retryable(item.status)
    return isinstance(item, TransportFailure)


def encode_json(body: Mapping[str, Json]) -> bytes:
    """JSON in UTF-8; a lone surrogate becomes a question mark."""
    return json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")


def validate_key(key: str) -> str:
    """The key itself; raises ModelUnavailable if an HTTP header cannot carry it."""
    if not is_sendable_key(key):
        raise ModelUnavailable(MESSAGES.invalid_key(), transient=False)
    return key


def error_for_status(status: int) -> ModelUnavailable:
    return ModelUnavailable(
        MESSAGES.rejected(status),
        transient=is_retryable(status),
        refused=status in REFUSED_STATUSES,
    )


def error_for_item(item: ExchangeItem) -> ModelUnavailable | InvalidModelResponse:
    """The error to raise for an item that is not a usable answer."""
    match item:
        case ModelUnavailable() | InvalidModelResponse():
            return item
        case EndpointResponse():
            return error_for_status(item.status)
        case TransportFailure() if item.error_name != TIMEOUT_ERROR_NAME:
            return ModelUnavailable(MESSAGES.unreachable(item.error_name), transient=True)
        case _:
            return ModelUnavailable(
                "The model did not answer in time: raise its timeout_seconds, "
                "or use a faster model.",
                transient=True,
            )


async def read_response(response: httpx.Response) -> EndpointResponse:
    """Read the whole body, but stop just above the size limit."""
    content = bytearray()
    async for piece in response.aiter_bytes():
        content += piece
        if len(content) > MAX_ANSWER_SIZE:
            break
    return EndpointResponse(
        response.status_code, dict(response.headers), bytes(content[: MAX_ANSWER_SIZE + 1])
    )


async def _read_whole(response: httpx.Response) -> AsyncIterator[str | EndpointResponse]:
    yield await read_response(response)
