"""Reads server-sent events from a model endpoint while they arrive.

A request is retried only if its answer has not begun.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping
from typing import TYPE_CHECKING

from remembrancer.llm import InvalidModelResponse
from remembrancer.llm.http import (
    TIMEOUT_ERROR_NAME,
    Endpoint,
    EndpointResponse,
    ExchangeItem,
    HttpExchange,
    TransportFailure,
    encode_json,
    error_for_item,
    is_transient,
    read_response,
)
from remembrancer.llm.json_answer import parse_json
from remembrancer.types import Json

if TYPE_CHECKING:
    import httpx

MAX_STREAM_BYTES = 8_000_000
"""More than a whole answer may have: each word arrives in an envelope of its own."""

DATA_PREFIX = b"data:"
DONE_MARKER = "[DONE]"


class Rejected(Exception):
    """The endpoint answered with an error status instead of a stream."""

    def __init__(self, response: EndpointResponse) -> None:
        super().__init__(response.status)
        self.response = response


def stream_events(endpoint: Endpoint, body: Mapping[str, Json]) -> Iterator[Json]:
    """The parsed events of one answer. Raises Rejected if the endpoint does not answer with 2xx."""
    content = encode_json(body)
    max_retries = endpoint.retry_policy.max_retries
    for attempt in range(max_retries + 1):
        with HttpExchange(endpoint, content, _read_stream) as exchange:
            first = exchange.get()
            if not _is_retryable(first) or attempt == max_retries:
                yield from _iter_events(first, exchange)
                return
        endpoint.wait_before_retry(attempt, first)


def _is_retryable(first: ExchangeItem) -> bool:
    """A timeout is not retried here: the user has already waited for a whole answer."""
    return is_transient(first) and first != TransportFailure(TIMEOUT_ERROR_NAME)


def _iter_events(item: ExchangeItem, exchange: HttpExchange) -> Iterator[Json]:
    while item is not None:
        match item:
            case str():
                if item != DONE_MARKER:
                    yield _parse_event(item)
            case EndpointResponse():
                raise Rejected(item)
            case _:
                raise error_for_item(item)
        item = exchange.get()


def _parse_event(data: str) -> Json:
    try:
        return parse_json(data)
    except ValueError:
        raise InvalidModelResponse(
            "The model endpoint sent an event that is not JSON: check the model url."
        ) from None


async def _read_stream(response: httpx.Response) -> AsyncIterator[str | EndpointResponse]:
    """The data of each event, or the whole response if its status is not 2xx."""
    if not 200 <= response.status_code < 300:
        yield await read_response(response)
        return
    async for data in _iter_event_data(response):
        yield data


async def _iter_event_data(response: httpx.Response) -> AsyncIterator[str]:
    """The data of each event; a server that does not stream sends one JSON body instead."""
    is_stream = "json" not in response.headers.get("content-type", "")
    size, rest = 0, b""
    async for piece in response.aiter_bytes():
        size += len(piece)
        if size > MAX_STREAM_BYTES:
            raise InvalidModelResponse("The model sent more than 8 MB: try another model.")
        rest += piece
        if is_stream:
            *lines, rest = rest.split(b"\n")
            for line in lines:
                if line.startswith(DATA_PREFIX):
                    yield line.removeprefix(DATA_PREFIX).decode("utf-8", "replace").strip()
    last = rest.removeprefix(DATA_PREFIX).decode("utf-8", "replace").strip()
    if last and (not is_stream or rest.startswith(DATA_PREFIX)):
        yield last
