"""OpenAI's chat protocol with a memory: recall, pass on, and learn once it is answered."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import Annotated, Any, TypeVar

from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict, Field
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from remembrancer.errors import RemembrancerError
from remembrancer.guard.redaction import redact_text
from remembrancer.memory import Memory
from remembrancer.server import chat_protocol as protocol
from remembrancer.server import problems
from remembrancer.server.cpu_limit import run_limited
from remembrancer.server.deps import Caller, CallerMemory
from remembrancer.server.proxy import ProxyResponse, Upstream
from remembrancer.sessions.turns import TurnInput

router = APIRouter(tags=["chat completions"])

SESSION_HEADER = "x-remembrancer-session"
MEMORY_TIMEOUT_SECONDS = 5.0
"""How long an answer waits for memory."""

JSON_OBJECT: dict[str, Any] = {"schema": {"type": "object"}}
RESPONSES: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "What the server of models answers, unchanged.",
        "content": {"application/json": JSON_OBJECT, "text/event-stream": {}},
    },
    **problems.document_errors(502, 504),
    "default": {"description": "Its errors too.", "content": {"application/json": JSON_OBJECT}},
}
EXAMPLE_REQUEST = {
    "model": "some-model",
    "messages": [{"role": "user", "content": "What do I drink?"}],
}
OPENAPI_EXTRA = {"requestBody": {"content": {"application/json": {"example": EXAMPLE_REQUEST}}}}

T = TypeVar("T")


class NoUpstream(RemembrancerError):
    """This server has no other to pass requests on to."""

    code = "no_upstream"
    status = 404


class ChatMessage(BaseModel):
    """One message; whatever else it has is passed on."""

    model_config = ConfigDict(extra="allow")

    role: str
    content: Any = None


class ChatCompletionRequest(BaseModel):
    """What a model is asked; whatever else it has is passed on."""

    model_config = ConfigDict(extra="allow")

    messages: Annotated[list[ChatMessage], Field(min_length=1)]


@router.post(
    "/chat/completions", response_model=None, responses=RESPONSES, openapi_extra=OPENAPI_EXTRA
)
async def complete_chat(
    request: Request, me: CallerMemory, completion: ChatCompletionRequest
) -> Response:
    """Ask a model that is told what is remembered; then learn from what was said.

    The conversation is the one that the header `X-Remembrancer-Session` names, or else the one
    that opens with the same messages.
    """
    upstream = _get_upstream(request)
    messages = [one.model_dump() for one in completion.messages]
    body: bytes = request.scope["state"]["body"]
    if not (said := protocol.find_last_user_text(messages)):
        return ProxyResponse(upstream, "/chat/completions", request.headers, body)
    body = (
        await _run_with_timeout(request, run_limited(request, _add_memory_note, me, said, body))
        or body
    )

    async def heard(answer: bytes, streamed: bool) -> None:
        session = request.headers.get(SESSION_HEADER)
        learning = run_in_threadpool(_learn, me, session, messages, answer, streamed)
        await _run_with_timeout(request, learning)

    return ProxyResponse(upstream, "/chat/completions", request.headers, body, heard)


@router.get("/models", response_model=None, responses=RESPONSES)
async def list_models(request: Request, _: Caller) -> Response:
    """The models that can be asked."""
    return ProxyResponse(_get_upstream(request), "/models", request.headers)


def _get_upstream(request: Request) -> Upstream:
    found: Upstream | None = request.app.state.upstream
    if found is None:
        raise NoUpstream("There is no server of models to ask; name one in server.upstream.url.")
    return found


def _add_memory_note(me: Memory, user_text: str, body: bytes) -> bytes:
    """The request with what is remembered of what was said."""
    note = me.context(user_text).text
    return protocol.insert_note(body.decode(), note).encode() if note else body


def _learn(
    me: Memory, session: str | None, messages: list[dict[str, Any]], answer: bytes, streamed: bool
) -> None:
    """Keep what was said and answered; the same words again are another try for an answer."""
    reply = protocol.parse_reply(answer, streamed=streamed)
    if reply.calls_tools:
        return
    session = session or protocol.derive_session_id(messages, me.principal.agent)
    said = protocol.find_last_user_text(messages)
    before = [one.content for one in me.turns(session) if one.is_by_user]
    turns: list[TurnInput] = []
    if before[-1:] != [redact_text(said)]:
        turns.append({"role": "user", "content": said})
    if reply.text:
        turns.append({"role": "assistant", "content": reply.text})
    me.learn(turns, session)


async def _run_with_timeout(request: Request, work: Awaitable[T]) -> T | None:
    """What memory gives in time; None if it does not, which is no reason to fail a call."""
    task = asyncio.ensure_future(work)
    try:
        async with asyncio.timeout(MEMORY_TIMEOUT_SECONDS):
            return await asyncio.shield(task)
    except Exception as error:  # whatever it is: the answer matters more
        code = getattr(error, "code", type(error).__name__)
        request.app.state.log.warning("memory", code=code)
        task.add_done_callback(_ignore_outcome)
        return None


def _ignore_outcome(task: asyncio.Future[Any]) -> None:
    """Nobody waits for it any more, whatever becomes of it."""
    if not task.cancelled():
        task.exception()
