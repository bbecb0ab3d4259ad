"""A server as it is asked: with a key, patiently, and never twice for what changes something.

It must not know the verbs.
"""

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
"""What is found below no agent."""

RETRYABLE_STATUSES = (409, 429, 503)
"""Retried if the response has a Retry-After; 409 means that the same request is still running."""


class ServerClient:
    """One key's way to a server; many threads may use it at once."""

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
            raise InvalidInput("That is no key; `rem key-create` makes one.")
        if not timeout > 0 or retries < 0:
            raise InvalidInput("timeout must be more than 0, and retries not less.")
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
        """Ask for something; nothing is changed."""
        return self._fetch(self._build_request("GET", path, params))

    def query(self, *path: str, **params: Any) -> ResponseBody:
        """Ask for something in so many words that they do not fit into an address."""
        return self._fetch(self._build_request("POST", path, params))

    def write(self, method: str, /, *path: str, **params: Any) -> ResponseBody:
        """Change something, once, however often it has to be said."""
        request = self._build_request(method, path, params)
        request.headers[IDEMPOTENCY_HEADER] = str(uuid.uuid4())
        return self._fetch(request)

    def iter_entries(self, *path: str, **params: Any) -> Iterator[dict[str, Any]]:
        """All entries of a listing, read page by page."""
        cursor = None
        while True:
            page = self.read(*path, **{**params, "limit": 1000, "cursor": cursor})
            yield from page["items"]
            cursor = page["cursor"]
            if cursor is None:
                return

    def close(self) -> None:
        """Let go of the connections."""
        self._client.close()

    def _build_request(
        self, method: str, path: tuple[str, ...], params: dict[str, Any]
    ) -> httpx.Request:
        params = {name: value for name, value in params.items() if value is not None}
        root = "/api" if path[0] in AGENTLESS_PATHS else self._own
        url = f"{self.address}{root}{build_path(*path)}"
        if method in ("GET", "DELETE"):
            try:
                return self._client.build_request(method, url, params=encode_query(params))
            except UnicodeEncodeError:
                raise InvalidInput("The text has half a character in it.") from None
        headers = {"Content-Type": "application/json"}
        return self._client.build_request(method, url, content=encode_body(params), headers=headers)

    def _fetch(self, request: httpx.Request) -> ResponseBody:
        answer = self._send_with_retries(request)
        if not answer.is_success:
            error = problems.build_error(answer)
            if isinstance(error, Ambiguous):
                error.candidates = tuple(self._load_records(problems.candidate_ids(answer)))
            raise error
        try:
            return ResponseBody(answer.json())
        except (TypeError, ValueError):
            raise invalid_response_error() from None

    def _send_with_retries(self, request: httpx.Request) -> httpx.Response:
        """The answer, after as many tries as are allowed and make sense."""
        arrived = False
        for attempt in range(self._retry_policy.max_retries + 1):
            is_last = attempt == self._retry_policy.max_retries
            try:
                answer = self._send(request)
            except httpx.RequestError as error:
                arrived |= not isinstance(error, httpx.ConnectError | httpx.ConnectTimeout)
                if is_last:
                    raise self._unavailable_error(
                        arrived and IDEMPOTENCY_HEADER in request.headers
                    ) from error
                retry_after = None
            else:
                retry_after = _parse_retry_delay(answer)
                if is_last or retry_after is None or retry_after > self._retry_policy.max_delay:
                    return answer
            time.sleep(self._retry_policy.delay_seconds(attempt, retry_after))
        raise AssertionError

    def _send(self, request: httpx.Request) -> httpx.Response:
        if self._client.is_closed:
            raise Unavailable("This memory was disconnected; connect again.")
        return self._client.send(request)

    def _unavailable_error(self, maybe_done: bool) -> Unavailable:
        sentence = (
            f"{self.address} does not answer: check the address, and that the server is running."
        )
        if maybe_done:
            sentence += " It may have done what was asked: look before you ask again."
        return Unavailable(sentence)

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
