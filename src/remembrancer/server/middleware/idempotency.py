"""Stores responses by Idempotency-Key, so that a retry is answered without running again."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from remembrancer.errors import InvalidInput, RemembrancerError
from remembrancer.server import problems
from remembrancer.server.problems import IdempotencyMismatch, RequestInProgress
from remembrancer.store.contract import StoredResponse

if TYPE_CHECKING:
    from remembrancer.engine import Remembrancer
    from remembrancer.types import Json, Principal

KEY_HEADER = "idempotency-key"
WRITE_METHODS = ("POST", "PUT", "PATCH", "DELETE")
MAX_KEY_CHARS = 255
UNSTORED_PATHS = ("/api/keys", "/api/me/link-code")
"""Paths whose responses contain secrets, which must not be stored."""

STORED_HEADERS = ("content-type", "etag", "location")
DATA_OWNER = "data_owner"
"""The key in a request's state of the owner whose memories the response can show."""

NOT_STORED_YET = datetime.min.replace(tzinfo=UTC)
"""Placeholder; the store sets the time when it stores the response."""


class IdempotencyMiddleware:
    """Runs a write with an Idempotency-Key once and replays its response to retries."""

    def __init__(self, app: ASGIApp, *, engine: Remembrancer) -> None:
        self._app = app
        self._responses = engine.idempotency

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        key = Headers(scope=scope).get(KEY_HEADER) if _is_write(scope) else None
        principal: Principal | None = scope.get("state", {}).get("principal")
        if key is None or principal is None:
            await self._app(scope, receive, send)
            return
        try:
            await self._run_once(scope, receive, send, key)
        except RemembrancerError as error:
            await problems.send_error(error, scope, receive, send)

    async def _run_once(self, scope: Scope, receive: Receive, send: Send, key: str) -> None:
        principal: Principal = scope["state"]["principal"]
        owner = principal.owner
        if not 0 < len(key) <= MAX_KEY_CHARS:
            raise InvalidInput(f"An Idempotency-Key has 1 to {MAX_KEY_CHARS} characters.")
        name = _digest((principal.agent or "").encode(), key.encode())
        request = _digest_request(scope)
        stored = await run_in_threadpool(self._responses.begin, owner, name, request)
        if stored is not None:
            await _replay(stored, request)(scope, receive, send)
            return
        recorder = _ResponseRecorder()
        try:
            await self._app(scope, receive, recorder.record)
        except BaseException:
            await run_in_threadpool(self._responses.cancel, owner, name)
            raise
        if recorder.status is None or recorder.status >= 500 or recorder.status == 429:
            await run_in_threadpool(self._responses.cancel, owner, name)
        else:
            # Stored before it is sent: the client may retry as soon as it has the response.
            response = recorder.build_stored_response(name, request)
            shown = scope["state"].get(DATA_OWNER)
            await run_in_threadpool(self._responses.finish, owner, response, shown)
        for message in recorder.messages:
            await send(message)


class _ResponseRecorder:
    """Collects a response instead of sending it."""

    def __init__(self) -> None:
        self.messages: list[Message] = []

    async def record(self, message: Message) -> None:
        self.messages.append(message)

    @property
    def status(self) -> int | None:
        return self.messages[0]["status"] if self.messages else None

    def build_stored_response(self, key: str, request: str) -> StoredResponse:
        start, *chunks = self.messages
        headers = Headers(raw=start["headers"])
        stored: dict[str, Json] = {
            name: headers[name] for name in STORED_HEADERS if name in headers
        }
        body = b"".join(chunk.get("body", b"") for chunk in chunks).decode()
        return StoredResponse(key, request, NOT_STORED_YET, start["status"], stored, body)


def _replay(stored: StoredResponse, request: str) -> Response:
    if stored.request != request:
        raise IdempotencyMismatch(
            "This Idempotency-Key was used for another request. Use a new one."
        )
    if stored.status is None:
        raise RequestInProgress("The same request is still running. Try again in a moment.", 1)
    headers = {name: str(value) for name, value in stored.headers.items()}
    return Response(stored.body, stored.status, {**headers, "Idempotency-Replayed": "true"})


def _is_write(scope: Scope) -> bool:
    if scope["type"] != "http" or scope["method"] not in WRITE_METHODS:
        return False
    path: str = scope["path"]
    return path.startswith(("/api/", "/memories")) and not path.startswith(UNSTORED_PATHS)


def _digest_request(scope: Scope) -> str:
    query, body = scope.get("query_string", b""), scope["state"].get("body", b"")
    return _digest(scope["method"].encode(), scope["path"].encode(), query, body)


def _digest(*values: bytes) -> str:
    digest = hashlib.sha256()
    for value in values:
        digest.update(len(value).to_bytes(8, "big") + value)
    return digest.hexdigest()
