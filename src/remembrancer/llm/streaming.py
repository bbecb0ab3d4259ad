"""A POST whose answer is read while it comes: server-sent events, with a deadline for them all.

Knows no protocol beyond that. What is asked again is only what has not begun to be answered.
"""

from __future__ import annotations

import asyncio
import contextlib
import queue
import threading
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from remembrancer.llm import InvalidModelResponse, ModelUnavailable
from remembrancer.llm.http import (
    Endpoint,
    EndpointResponse,
    encode_json,
    invalid_url_error,
    parse_retry_after,
    read_response,
    unreachable_error,
)
from remembrancer.llm.json_answer import parse_json
from remembrancer.types import Json

if TYPE_CHECKING:
    import httpx

MAX_STREAM_BYTES = 8_000_000
"""Of a stream, in bytes: each word of an answer comes in an envelope of its own."""

DATA_PREFIX = b"data:"
DONE_MARKER = "[DONE]"
TIMEOUT_ERROR_NAME = TimeoutError.__name__


class Rejected(Exception):
    """The endpoint would not answer; `reply` says why."""

    def __init__(self, reply: EndpointResponse) -> None:
        super().__init__(reply.status)
        self.reply = reply


@dataclass(frozen=True, slots=True)
class BrokenStream:
    """An answer ended before its end, by an error of this kind."""

    kind: str


StreamItem = str | EndpointResponse | BrokenStream | ModelUnavailable | InvalidModelResponse | None
"""The data of an event; what there is instead of events; what went wrong; the end."""


def stream_events(endpoint: Endpoint, body: Mapping[str, Json]) -> Iterator[Json]:
    """The events of an answer. TurnedDown when the endpoint refuses for good."""
    content = encode_json(body)
    for attempt in range(endpoint.retry_policy.max_retries + 1):
        with _StreamReader(endpoint, content) as heard:
            first = heard.get()
            if not _is_retryable(first) or attempt == endpoint.retry_policy.max_retries:
                yield from _iter_events(first, heard)
                return
        assert isinstance(first, EndpointResponse | BrokenStream)
        said = first if isinstance(first, EndpointResponse) else first.kind
        time.sleep(endpoint.retry_policy.delay_seconds(attempt, parse_retry_after(said)))


def _is_retryable(first: StreamItem) -> bool:
    """Whether to ask again at once; whoever waited for a whole answer in vain does not want to."""
    if isinstance(first, BrokenStream):
        return first.kind != TIMEOUT_ERROR_NAME
    return isinstance(first, EndpointResponse) and first.is_retryable


def _iter_events(item: StreamItem, reader: _StreamReader) -> Iterator[Json]:
    while item is not None:
        match item:
            case str():
                if item != DONE_MARKER:
                    yield _parse_event(item)
            case EndpointResponse():
                raise Rejected(item)
            case BrokenStream():
                raise unreachable_error(item.kind)
            case error:
                raise error
        item = reader.get()


def _parse_event(data: str) -> Json:
    try:
        return parse_json(data)
    except ValueError:
        raise InvalidModelResponse(
            "The model's endpoint sent an event that is no JSON: check the model url."
        ) from None


class _StreamReader:
    """One answer, read in a thread of its own: a deadline ends it there, and leaving it does too.

    Whoever waits for the next piece can be interrupted, as by Ctrl-C.
    """

    def __init__(self, endpoint: Endpoint, content: bytes) -> None:
        self._endpoint = endpoint
        self._content = content
        self._items: queue.SimpleQueue[StreamItem] = queue.SimpleQueue()
        self._closed = False
        self._loop = asyncio.new_event_loop()
        self._task = self._loop.create_task(self._read())
        self._thread = threading.Thread(
            target=self._run_loop, name="remembrancer-answer", daemon=True
        )

    def get(self) -> StreamItem:
        """The next piece, None at the end."""
        return self._items.get()

    def __enter__(self) -> _StreamReader:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._closed = True
        with contextlib.suppress(RuntimeError):  # It is over already.
            self._loop.call_soon_threadsafe(self._task.cancel)
        self._thread.join()

    def _run_loop(self) -> None:
        try:
            try:
                self._loop.run_until_complete(self._task)
            except asyncio.CancelledError:
                if not self._closed:
                    self._items.put(BrokenStream(TIMEOUT_ERROR_NAME))
            self._loop.run_until_complete(self._loop.shutdown_asyncgens())
        finally:
            self._items.put(None)
            self._loop.close()

    async def _read(self) -> None:
        import httpx

        try:
            async with self._endpoint.open_stream(self._content) as response:
                if not 200 <= response.status_code < 300:
                    self._items.put(await read_response(response))
                    return
                async for data in _iter_event_data(response):
                    self._items.put(data)
        except (
            httpx.UnsupportedProtocol,
            httpx.LocalProtocolError,
            httpx.InvalidURL,
            UnicodeError,
        ):
            self._items.put(invalid_url_error())
        except InvalidModelResponse as error:
            self._items.put(error)
        except (httpx.RequestError, OSError) as error:
            self._items.put(BrokenStream(type(error).__name__))


async def _iter_event_data(response: httpx.Response) -> AsyncIterator[str]:
    """What each event holds; a server that does not stream sends all of it as one."""
    streams = "json" not in response.headers.get("content-type", "")
    size, rest = 0, b""
    async for piece in response.aiter_bytes():
        size += len(piece)
        if size > MAX_STREAM_BYTES:
            raise InvalidModelResponse("The model answered with more than 8 MB: try another model.")
        rest += piece
        if streams:
            *lines, rest = rest.split(b"\n")
            for line in lines:
                if line.startswith(DATA_PREFIX):
                    yield line.removeprefix(DATA_PREFIX).decode("utf-8", "replace").strip()
    last = rest.removeprefix(DATA_PREFIX).decode("utf-8", "replace").strip()
    if last and (not streams or rest.startswith(DATA_PREFIX)):
        yield last
