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
from remembrancer.guard.redaction import without_secrets
from remembrancer.memory import Memory
from remembrancer.server import chat_protocol as protocol
from remembrancer.server import problems
from remembrancer.server.cpu_limit import in_turn
from remembrancer.server.deps import Caller, Me
from remembrancer.server.proxy import Passed, Upstream
from remembrancer.sessions.turns import Said

router = APIRouter(tags=["chat completions"])

SESSION = "x-remembrancer-session"
RECALL_SECONDS = 5.0
"""How long an answer waits for memory."""

ANSWER: dict[str, Any] = {"schema": {"type": "object"}}
ANSWERS: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "What the server of models answers, unchanged.",
        "content": {"application/json": ANSWER, "text/event-stream": {}},
    },
    **problems.documented(502, 504),
    "default": {"description": "Its errors too.", "content": {"application/json": ANSWER}},
}
ASKED = {"model": "some-model", "messages": [{"role": "user", "content": "What do I drink?"}]}
EXAMPLE = {"requestBody": {"content": {"application/json": {"example": ASKED}}}}

T = TypeVar("T")


class NoUpstream(RemembrancerError):
    """This server has no other to pass requests on to."""

    code = "no_upstream"
    status = 404


class Message(BaseModel):
    """One message; whatever else it has is passed on."""

    model_config = ConfigDict(extra="allow")

    role: str
    content: Any = None


class Completion(BaseModel):
    """What a model is asked; whatever else it has is passed on."""

    model_config = ConfigDict(extra="allow")

    messages: Annotated[list[Message], Field(min_length=1)]


@router.post("/chat/completions", response_model=None, responses=ANSWERS, openapi_extra=EXAMPLE)
async def complete_chat(request: Request, me: Me, asked: Completion) -> Response:
    """Ask a model that is told what is remembered; then learn from what was said.

    The conversation is the one that the header `X-Remembrancer-Session` names, or else the one
    that opens with the same messages.
    """
    upstream = _upstream(request)
    messages = [one.model_dump() for one in asked.messages]
    body: bytes = request.scope["state"]["body"]
    if not (said := protocol.said_last(messages)):
        return Passed(upstream, "/chat/completions", request.headers, body)
    body = await _remembering(request, in_turn(request, _noted, me, said, body)) or body

    async def heard(answer: bytes, streamed: bool) -> None:
        session = request.headers.get(SESSION)
        learning = run_in_threadpool(_learn, me, session, messages, answer, streamed)
        await _remembering(request, learning)

    return Passed(upstream, "/chat/completions", request.headers, body, heard)


@router.get("/models", response_model=None, responses=ANSWERS)
async def list_models(request: Request, _: Caller) -> Response:
    """The models that can be asked."""
    return Passed(_upstream(request), "/models", request.headers)


def _upstream(request: Request) -> Upstream:
    found: Upstream | None = request.app.state.upstream
    if found is None:
        raise NoUpstream("There is no server of models to ask; name one in server.upstream.url.")
    return found


def _noted(me: Memory, said: str, body: bytes) -> bytes:
    """The request with what is remembered of what was said."""
    note = me.context(said).text
    return protocol.with_note(body.decode(), note).encode() if note else body


def _learn(
    me: Memory, session: str | None, messages: list[dict[str, Any]], answer: bytes, streamed: bool
) -> None:
    """Keep what was said and answered; the same words again are another try for an answer."""
    reply = protocol.reply(answer, streamed=streamed)
    if reply.calls:
        return
    session = session or protocol.conversation(messages, me.principal.agent)
    said = protocol.said_last(messages)
    before = [one.content for one in me.turns(session) if one.is_by_user]
    turns: list[Said] = []
    if before[-1:] != [without_secrets(said)]:
        turns.append({"role": "user", "content": said})
    if reply.text:
        turns.append({"role": "assistant", "content": reply.text})
    me.learn(turns, session)


async def _remembering(request: Request, work: Awaitable[T]) -> T | None:
    """What memory gives in time; None if it does not, which is no reason to fail a call."""
    task = asyncio.ensure_future(work)
    try:
        async with asyncio.timeout(RECALL_SECONDS):
            return await asyncio.shield(task)
    except Exception as error:  # whatever it is: the answer matters more
        code = getattr(error, "code", type(error).__name__)
        request.app.state.log.warning("memory", code=code)
        task.add_done_callback(_looked_at)
        return None


def _looked_at(task: asyncio.Future[Any]) -> None:
    """Nobody waits for it any more, whatever becomes of it."""
    if not task.cancelled():
        task.exception()
