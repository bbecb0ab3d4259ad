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

from remembrancer.llm import InvalidModelResponse, ModelUnavailable
from remembrancer.llm.json_answer import MAX_ANSWER_SIZE, parse_json
from remembrancer.retry import DEFAULT_RETRY_POLICY, RetryPolicy
from remembrancer.types import Json

if TYPE_CHECKING:
    import ssl

    import httpx

__all__ = [
    "DEFAULT_RETRY_POLICY",
    "Endpoint",
    "EndpointResponse",
    "RetryPolicy",
    "encode_json",
    "error_for_status",
    "invalid_url_error",
    "parse_retry_after",
    "read_response",
    "unreachable_error",
    "validate_key",
]

ResultT = TypeVar("ResultT")
REQUEST_TIMEOUT = 408
TOO_MANY_REQUESTS = 429


@dataclass(frozen=True, slots=True)
class EndpointResponse:
    """What an endpoint answered; of a body that is too large, a little more than is allowed."""

    status: int
    headers: Mapping[str, str]
    content: bytes

    @property
    def is_success(self) -> bool:
        return 200 <= self.status < 300

    @property
    def is_retryable(self) -> bool:
        return _is_retryable(self.status)

    @property
    def text(self) -> str:
        return self.content.decode("utf-8", "replace")

    def json(self) -> Json:
        """The body as JSON, or ModelMisspoke."""
        if len(self.content) > MAX_ANSWER_SIZE:
            raise InvalidModelResponse(
                "The model's endpoint answered with more than 1 MB: ask for less at a time."
            )
        try:
            return parse_json(self.text)
        except ValueError:
            raise InvalidModelResponse(
                "The model's endpoint did not answer in JSON: check the model url."
            ) from None


class Endpoint:
    """One address to post JSON to. Every attempt has a connection of its own and its own timeout.

    Questions take seconds, so connections are not kept for the next one.
    """

    def __init__(
        self, url: str, headers: Mapping[str, str], *, timeout: float, retry_policy: RetryPolicy
    ) -> None:
        self._url = url
        self._headers = {"Content-Type": "application/json", **headers}
        self._timeout = timeout
        self.retry_policy = retry_policy

    def post(self, body: Mapping[str, Json]) -> EndpointResponse:
        """The reply, good or not; ModelUnavailable when what may pass did not."""
        content = encode_json(body)
        for attempt in range(self.retry_policy.max_retries + 1):
            outcome = self._attempt(content)
            if isinstance(outcome, EndpointResponse) and not outcome.is_retryable:
                return outcome
            if attempt < self.retry_policy.max_retries:
                time.sleep(self.retry_policy.delay_seconds(attempt, parse_retry_after(outcome)))
        raise (
            error_for_status(outcome.status)
            if isinstance(outcome, EndpointResponse)
            else unreachable_error(outcome)
        )

    def _attempt(self, content: bytes) -> EndpointResponse | str:
        """The endpoint's reply, or the kind of failure that kept us from one."""
        import httpx

        try:
            return _run_to_completion(self._send(content))
        except (
            httpx.UnsupportedProtocol,
            httpx.LocalProtocolError,
            httpx.InvalidURL,
            UnicodeError,
        ):
            raise invalid_url_error() from None
        except (httpx.RequestError, OSError) as error:
            return type(error).__name__

    async def _send(self, content: bytes) -> EndpointResponse:
        async with self.open_stream(content) as response:
            return await read_response(response)

    @contextlib.asynccontextmanager
    async def open_stream(self, content: bytes) -> AsyncIterator[httpx.Response]:
        """A response whose beginning is there; the deadline holds until it is left."""
        import httpx

        trust = (
            self._ssl_context
        )  # Takes a while the first time, which is not the endpoint's fault.
        # httpx limits each read, which a server that sends a byte at a time always meets.
        async with asyncio.timeout(self._timeout):
            async with httpx.AsyncClient(verify=trust, timeout=None) as client:  # noqa: S113
                post = client.stream("POST", self._url, content=content, headers=self._headers)
                async with post as response:
                    yield response

    @cached_property
    def _ssl_context(self) -> ssl.SSLContext:
        import httpx

        return httpx.create_ssl_context()


def encode_json(body: Mapping[str, Json]) -> bytes:
    """JSON as it is sent."""
    return json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")


def validate_key(key: str) -> str:
    """The key, if a header can carry it."""
    if not (key and key.isascii() and key.isprintable() and " " not in key):
        raise ModelUnavailable(
            "The model's key is empty or has a space, a line break or a character that no key has: "
            "copy it again.",
            transient=False,
        )
    return key


def error_for_status(status: int) -> ModelUnavailable:
    """What a reply that is not good means for the user."""
    return ModelUnavailable(_status_message(status), transient=_is_retryable(status))


def _is_retryable(status: int) -> bool:
    return status in (REQUEST_TIMEOUT, TOO_MANY_REQUESTS) or status >= 500


def _status_message(status: int) -> str:
    if status in (401, 403):
        return f"The model's endpoint refused the key ({status}): check the model's key."
    if status == 402:
        return f"The model's endpoint wants to be paid ({status}): top up the account."
    if status == TOO_MANY_REQUESTS:
        return f"The model's endpoint is over its limit ({status}): wait, or raise your quota."
    if _is_retryable(status):
        return f"The model's endpoint keeps failing ({status}): try again later."
    return (
        f"The model's endpoint refused the request ({status}): "
        "check the model url and the model's name."
    )


def invalid_url_error() -> ModelUnavailable:
    """Nothing can be sent to such an address."""
    return ModelUnavailable(
        "The model url cannot be used: it must look like https://host/v1.", transient=False
    )


def unreachable_error(kind: str) -> ModelUnavailable:
    """What the kind of failure that kept us from a reply means for the user."""
    if kind == TimeoutError.__name__:
        return ModelUnavailable(
            "The model did not answer in time: allow it more seconds, or try a faster model.",
            transient=True,
        )
    return ModelUnavailable(
        f"The model's endpoint could not be reached ({kind}): "
        "check that it runs and that the model url is right.",
        transient=True,
    )


def parse_retry_after(outcome: EndpointResponse | str) -> float | None:
    """For how many seconds the endpoint wants to be left alone, if it says so."""
    if isinstance(outcome, str):
        return None
    try:
        seconds = float(outcome.headers.get("retry-after", ""))
    except ValueError:
        return None
    return seconds if math.isfinite(seconds) and seconds >= 0 else None


async def read_response(response: httpx.Response) -> EndpointResponse:
    """The whole of a response, but for what is too much."""
    content = bytearray()
    async for piece in response.aiter_bytes():
        content += piece
        if len(content) > MAX_ANSWER_SIZE:
            break
    return EndpointResponse(
        response.status_code, dict(response.headers), bytes(content[: MAX_ANSWER_SIZE + 1])
    )


def _run_to_completion(work: Coroutine[Any, Any, ResultT]) -> ResultT:
    """Run to the end; in a thread of its own where a loop runs already, as in a notebook."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return _run_in_new_loop(work)
    with ThreadPoolExecutor(1) as aside:
        return aside.submit(_run_in_new_loop, work).result()


def _run_in_new_loop(work: Coroutine[Any, Any, ResultT]) -> ResultT:
    # With a factory the loop stays ours alone: the thread's own loop is left as it was.
    with asyncio.Runner(loop_factory=asyncio.new_event_loop) as runner:
        return runner.run(work)
