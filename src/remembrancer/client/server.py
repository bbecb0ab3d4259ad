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
from remembrancer.client.address import checked_address, path_of
from remembrancer.client.values import Told, body_of, query_of, read, unreadable
from remembrancer.errors import Ambiguous, InvalidInput, NotFound, Unavailable
from remembrancer.types import Record

KEY = "Idempotency-Key"
FIRST_PAUSE = 0.2
ROOTED = ("agents", "team")
"""What is found below no agent."""

LATER = (409, 429, 503)
"""Not now, if the answer says when to come again; 409 when the same is still being done."""


class Server:
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
        if not (key and key.isascii() and key.isprintable() and " " not in key):
            raise InvalidInput("That is no key; `rem key-create` makes one.")
        if not timeout > 0 or retries < 0:
            raise InvalidInput("timeout must be more than 0, and retries not less.")
        self.address = checked_address(url, insecure=insecure)
        self.agent = agent
        self._own = path_of("api", "agents", agent) if agent is not None else "/api"
        self._retries = retries
        self._longest_pause = timeout
        self._client = httpx.Client(
            headers={"Authorization": f"Bearer {key}", "Accept": "application/json"},
            timeout=timeout,
            follow_redirects=False,
            trust_env=self.address.startswith("https:"),  # no proxy may read the key
        )

    def __repr__(self) -> str:
        return f"Server({self.address!r}, agent={self.agent!r})"

    def read(self, *path: str, **said: Any) -> Told:
        """Ask for something; nothing is changed."""
        return self._told(self._request("GET", path, said))

    def ask(self, *path: str, **said: Any) -> Told:
        """Ask for something in so many words that they do not fit into an address."""
        return self._told(self._request("POST", path, said))

    def write(self, method: str, /, *path: str, **said: Any) -> Told:
        """Change something, once, however often it has to be said."""
        request = self._request(method, path, said)
        request.headers[KEY] = str(uuid.uuid4())
        return self._told(request)

    def pages(self, *path: str, **said: Any) -> Iterator[dict[str, Any]]:
        """All entries of a listing, read page by page."""
        cursor = None
        while True:
            page = self.read(*path, **{**said, "limit": 1000, "cursor": cursor})
            yield from page["items"]
            cursor = page["cursor"]
            if cursor is None:
                return

    def close(self) -> None:
        """Let go of the connections."""
        self._client.close()

    def _request(self, method: str, path: tuple[str, ...], said: dict[str, Any]) -> httpx.Request:
        said = {name: value for name, value in said.items() if value is not None}
        root = "/api" if path[0] in ROOTED else self._own
        url = f"{self.address}{root}{path_of(*path)}"
        if method in ("GET", "DELETE"):
            try:
                return self._client.build_request(method, url, params=query_of(said))
            except UnicodeEncodeError:
                raise InvalidInput("The text has half a character in it.") from None
        headers = {"Content-Type": "application/json"}
        return self._client.build_request(method, url, content=body_of(said), headers=headers)

    def _told(self, request: httpx.Request) -> Told:
        answer = self._answered(request)
        if not answer.is_success:
            error = problems.error_of(answer)
            if isinstance(error, Ambiguous):
                error.candidates = tuple(self._records(problems.candidates(answer)))
            raise error
        try:
            return Told(answer.json())
        except (TypeError, ValueError):
            raise unreadable() from None

    def _answered(self, request: httpx.Request) -> httpx.Response:
        """The answer, after as many tries as are allowed and make sense."""
        arrived = False
        for left in range(self._retries, -1, -1):
            try:
                answer = self._send(request)
            except httpx.RequestError as error:
                arrived |= not isinstance(error, httpx.ConnectError | httpx.ConnectTimeout)
                if not left:
                    raise self._unavailable(arrived and KEY in request.headers) from error
                pause = FIRST_PAUSE * 2 ** (self._retries - left)
            else:
                pause = _pause(answer)
                if not left or not 0 <= pause <= self._longest_pause:
                    return answer
            time.sleep(pause)
        raise AssertionError

    def _send(self, request: httpx.Request) -> httpx.Response:
        if self._client.is_closed:
            raise Unavailable("This memory was disconnected; connect again.")
        return self._client.send(request)

    def _unavailable(self, maybe_done: bool) -> Unavailable:
        sentence = (
            f"{self.address} does not answer: check the address, and that the server is running."
        )
        if maybe_done:
            sentence += " It may have done what was asked: look before you ask again."
        return Unavailable(sentence)

    def _records(self, ids: list[str]) -> Iterator[Record]:
        for one in ids:
            try:
                yield read(Record, self.read("memory", one))
            except NotFound:
                continue


def _pause(answer: httpx.Response) -> float:
    """After how many seconds to ask again; less than none if that is of no use."""
    later = answer.headers.get("Retry-After", "")
    if answer.status_code not in LATER or not (later.isascii() and later.isdigit()):
        return -1
    return float(later)
