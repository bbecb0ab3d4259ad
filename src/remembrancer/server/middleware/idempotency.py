"""A write with an Idempotency-Key is carried out once, however often and wherever it arrives."""

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
UNSTORED_PATHS = ("/api/keys",)
"""Where answers hold what must never be stored: they are not kept."""

STORED_HEADERS = ("content-type", "etag", "location")
NOT_STORED_YET = datetime.min.replace(tzinfo=UTC)
"""Until an answer is kept, which is when its day begins."""


class IdempotencyMiddleware:
    """Carries a write out once, and tells what came of it whenever it is made again."""

    def __init__(self, app: ASGIApp, *, engine: Remembrancer) -> None:
        self._app = app
        self._answers = engine.idempotency

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on what was not carried out before."""
        key = Headers(scope=scope).get(KEY_HEADER) if _is_write(scope) else None
        principal: Principal | None = scope.get("state", {}).get("principal")
        if key is None or principal is None:
            await self._app(scope, receive, send)
            return
        try:
            await self._run_once(scope, receive, send, key)
        except RemembrancerError as error:
            await problems.render_error(scope, error)(scope, receive, send)

    async def _run_once(self, scope: Scope, receive: Receive, send: Send, key: str) -> None:
        owner = scope["state"]["principal"].owner
        if not 0 < len(key) <= MAX_KEY_CHARS:
            raise InvalidInput(f"An Idempotency-Key has 1 to {MAX_KEY_CHARS} characters.")
        name, request = _digest(_encode_agent(scope), key.encode()), _digest_request(scope)
        known = await run_in_threadpool(self._answers.begin, owner, name, request)
        if known is not None:
            await _replay(known, request)(scope, receive, send)
            return
        said = _ResponseRecorder()
        try:
            await self._app(scope, receive, said.record)
        except BaseException:
            await run_in_threadpool(self._answers.cancel, owner, name)
            raise
        if said.status is None or said.status >= 500 or said.status == 429:
            await run_in_threadpool(self._answers.cancel, owner, name)
        else:
            # Before it is told: whoever has the answer may ask again at once.
            await run_in_threadpool(
                self._answers.finish, owner, said.build_stored_response(name, request)
            )
        for message in said.messages:
            await send(message)


class _ResponseRecorder:
    """An answer, before it is told."""

    def __init__(self) -> None:
        self.messages: list[Message] = []

    async def record(self, message: Message) -> None:
        self.messages.append(message)

    @property
    def status(self) -> int | None:
        return self.messages[0]["status"] if self.messages else None

    def build_stored_response(self, key: str, request: str) -> StoredResponse:
        start, *rest = self.messages
        headers = Headers(raw=start["headers"])
        kept: dict[str, Json] = {name: headers[name] for name in STORED_HEADERS if name in headers}
        body = b"".join(one.get("body", b"") for one in rest).decode()
        return StoredResponse(key, request, NOT_STORED_YET, start["status"], kept, body)


def _replay(stored: StoredResponse, request: str) -> Response:
    if stored.request != request:
        raise IdempotencyMismatch(
            "This Idempotency-Key was used for another request; make a new one."
        )
    if stored.status is None:
        raise RequestInProgress("The same request is being carried out; ask again in a moment.", 1)
    headers = {name: str(value) for name, value in stored.headers.items()}
    return Response(stored.body, stored.status, {**headers, "Idempotency-Replayed": "true"})


def _is_write(scope: Scope) -> bool:
    if scope["type"] != "http" or scope["method"] not in WRITE_METHODS:
        return False
    path: str = scope["path"]
    return path.startswith(("/api/", "/memories")) and not path.startswith(UNSTORED_PATHS)


def _encode_agent(scope: Scope) -> bytes:
    return (scope["state"]["principal"].agent or "").encode()


def _digest_request(scope: Scope) -> str:
    parts = (scope["method"], scope["path"])
    query, body = scope.get("query_string", b""), scope["state"].get("body", b"")
    return _digest(*(part.encode() for part in parts), query, body)


def _digest(*parts: bytes) -> str:
    whole = hashlib.sha256()
    for part in parts:
        whole.update(len(part).to_bytes(8, "big") + part)
    return whole.hexdigest()
