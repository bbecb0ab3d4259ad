"""Sends requests to a server, with retries and an Idempotency-Key for every write."""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterator
from typing import Any

import httpx

from remembrancer.client import problems
from remembrancer.client.address import build_path, validate_address
from remembrancer.client.codec import (
    ResponseBody,
    encode_body,
    encode_query,
    invalid_response_error,
    parse_value,
)
from remembrancer.errors import Ambiguous, InvalidInput, NotFound, Unavailable
from remembrancer.retry import RetryPolicy, is_sendable_key, parse_retry_after
from remembrancer.types import Record

IDEMPOTENCY_HEADER = "Idempotency-Key"
INITIAL_DELAY_SECONDS = 0.2
AGENTLESS_PATHS = ("agents", "team")
"""Paths that do not exist below an agent."""

RETRYABLE_STATUSES = (409, 429, 503)
"""Retried if the response has a Retry-After; 409 means that the same request is still running."""


class ServerClient:
    """A connection to a server with one key; safe to use from several threads."""

    def __init__(
        self,
        url: str,
        key: str,
        *,
        agent: str | None = None,
        timeout: float = 30,
        retries: int = 2,
        insecure: bool = False,
    ) -> None:
        if not is_sendable_key(key):
            raise InvalidInput("The key is invalid; create one with `rem key-create`.")
        if not timeout > 0 or retries < 0:
            raise InvalidInput("timeout must be more than 0, and retries at least 0.")
        self.address = validate_address(url, insecure=insecure)
        self.agent = agent
        self._own = build_path("api", "agents", agent) if agent is not None else "/api"
        self._retry_policy = RetryPolicy(retries, INITIAL_DELAY_SECONDS, max_delay=timeout)
        self._client = httpx.Client(
            headers={"Authorization": f"Bearer {key}", "Accept": "application/json"},
            timeout=timeout,
            follow_redirects=False,
            trust_env=self.address.startswith("https:"),  # no proxy may read the key
        )

    def __repr__(self) -> str:
        return f"ServerClient({self.address!r}, agent={self.agent!r})"

    def read(self, *path: str, **params: Any) -> ResponseBody:
        """Send a GET request."""
        return self._fetch(self._build_request("GET", path, params))

    def query(self, *path: str, **params: Any) -> ResponseBody:
        """Send a read-only POST request, for parameters that do not fit into a URL."""
        return self._fetch(self._build_request("POST", path, params))

    def write(self, method: str, /, *path: str, **params: Any) -> ResponseBody:
        """Send a request that is carried out once, however often it is retried."""
        request = self._build_request(method, path, params)
        request.headers[IDEMPOTENCY_HEADER] = str(uuid.uuid4())
        return self._fetch(request)

    def iter_entries(self, *path: str, **params: Any) -> Iterator[dict[str, Any]]:
        """Yield all entries of a listing, page by page."""
        cursor = None
        while True:
            page = self.read(*path, **{**params, "limit": 1000, "cursor": cursor})
            yield from page["items"]
            cursor = page["cursor"]
            if cursor is None:
                return

    def close(self) -> None:
        self._client.close()

    def _build_request(
        self, method: str, path: tuple[str, ...], params: dict[str, Any]
    ) -> httpx.Request:
        params = {name: value for name, value in params.items() if value is not None}
        root = "/api" if path[0] in AGENTLESS_PATHS else self._own
        names = build_path(*path, slashes=path[0] == "sessions")
        url = f"{self.address}{root}{names}"
        if method in ("GET", "DELETE"):
            try:
                return self._client.build_request(method, url, params=encode_query(params))
            except UnicodeEncodeError:
                raise InvalidInput("The text contains an unpaired surrogate.") from None
        headers = {"Content-Type": "application/json"}
        return self._client.build_request(method, url, content=encode_body(params), headers=headers)

    def _fetch(self, request: httpx.Request) -> ResponseBody:
        response = self._send_with_retries(request)
        if not response.is_success:
            error = problems.build_error(response)
            if isinstance(error, Ambiguous):
                error.candidates = tuple(self._load_records(problems.candidate_ids(response)))
            raise error
        try:
            return ResponseBody(response.json())
        except (TypeError, ValueError):
            raise invalid_response_error() from None

    def _send_with_retries(self, request: httpx.Request) -> httpx.Response:
        may_have_arrived = False
        for attempt in range(self._retry_policy.max_retries + 1):
            is_last = attempt == self._retry_policy.max_retries
            try:
                response = self._send(request)
            except httpx.RequestError as error:
                may_have_arrived |= not isinstance(error, httpx.ConnectError | httpx.ConnectTimeout)
                if is_last:
                    raise self._unavailable_error(
                        may_have_arrived and IDEMPOTENCY_HEADER in request.headers
                    ) from error
                retry_after = None
            else:
                retry_after = _parse_retry_delay(response)
                if is_last or retry_after is None or retry_after > self._retry_policy.max_delay:
                    return response
            time.sleep(self._retry_policy.delay_seconds(attempt, retry_after))
        raise AssertionError

    def _send(self, request: httpx.Request) -> httpx.Response:
        if self._client.is_closed:
            raise Unavailable("The memory is disconnected; connect again.")
        return self._client.send(request)

    def _unavailable_error(self, maybe_done: bool) -> Unavailable:
        message = (
            f"{self.address} does not answer: check the address, and that the server is running."
        )
        if maybe_done:
            message += " The change may have been made: check before you repeat it."
        return Unavailable(message)

    def _load_records(self, ids: list[str]) -> Iterator[Record]:
        for one in ids:
            try:
                yield parse_value(Record, self.read("memory", one))
            except NotFound:
                continue


def _parse_retry_delay(response: httpx.Response) -> float | None:
    """The seconds after which the server wants the request again; None to give up."""
    if response.status_code not in RETRYABLE_STATUSES:
        return None
    return parse_retry_after(response.headers)
