"""OpenAI-compatible chat completions: add memories, forward upstream, learn from the reply."""

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
from remembrancer.guard.repetition import repeats_words
from remembrancer.memory import Memory
from remembrancer.search.prompt import join_follow_up
from remembrancer.server import chat_protocol as protocol
from remembrancer.server import problems
from remembrancer.server.deps import Caller, CallerMemory
from remembrancer.server.proxy import ProxyResponse, Upstream
from remembrancer.sessions.turns import MEMORIES_KEY, TurnInput
from remembrancer.types import Origin

router = APIRouter(tags=["chat completions"])

SESSION_HEADER = "x-remembrancer-session"
MEMORY_TIMEOUT_SECONDS = 5.0
"""How long a request waits for memory before it goes on without."""

JSON_OBJECT: dict[str, Any] = {"schema": {"type": "object"}}
RESPONSES: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The upstream's response, unchanged.",
        "content": {"application/json": JSON_OBJECT, "text/event-stream": {}},
    },
    **problems.document_errors(502, 504),
    "default": {
        "description": "The upstream's errors.",
        "content": {"application/json": JSON_OBJECT},
    },
}
EXAMPLE_REQUEST = {
    "model": "some-model",
    "messages": [{"role": "user", "content": "What do I drink?"}],
}
OPENAPI_EXTRA = {"requestBody": {"content": {"application/json": {"example": EXAMPLE_REQUEST}}}}

T = TypeVar("T")


class NoUpstream(RemembrancerError):
    code = "no_upstream"
    status = 404


class ChatCompletionMessage(BaseModel):
    """One message; additional fields are forwarded."""

    model_config = ConfigDict(extra="allow")

    role: str
    content: Any = None


class ChatCompletionRequest(BaseModel):
    """A chat completion request; additional fields are forwarded."""

    model_config = ConfigDict(extra="allow")

    messages: Annotated[list[ChatCompletionMessage], Field(min_length=1)]


@router.post(
    "/chat/completions", response_model=None, responses=RESPONSES, openapi_extra=OPENAPI_EXTRA
)
async def complete_chat(
    request: Request, me: CallerMemory, completion: ChatCompletionRequest
) -> Response:
    """Complete a chat with memory (OpenAI-compatible).

    Adds relevant memories to the last user message and learns from the reply. The header
    `X-Remembrancer-Session` names the session; without it, chats that begin with the same
    messages are one session.
    """
    upstream = _get_upstream(request)
    messages = [message.model_dump() for message in completion.messages]
    body: bytes = request.scope["state"]["body"]
    if not (user_text := protocol.find_last_user_text(messages)):
        return ProxyResponse(upstream, "/chat/completions", request.headers, body)
    prompt = join_follow_up(user_text, protocol.find_earlier_user_text(messages))
    adding = run_in_threadpool(_add_memory_note, me, prompt, body)
    body, given = await _run_with_timeout(request, adding) or (body, ())

    async def learn(response: bytes, streamed: bool) -> None:
        session = request.headers.get(SESSION_HEADER)
        reply = protocol.parse_reply(response, streamed=streamed)
        learning = run_in_threadpool(_learn, me, session, messages, reply, given)
        await _run_with_timeout(request, learning)

    return ProxyResponse(upstream, "/chat/completions", request.headers, body, learn)


@router.get("/models", response_model=None, responses=RESPONSES)
async def list_models(request: Request, _: Caller) -> Response:
    """List the upstream's models."""
    return ProxyResponse(_get_upstream(request), "/models", request.headers)


def _get_upstream(request: Request) -> Upstream:
    upstream: Upstream | None = request.app.state.upstream
    if upstream is None:
        raise NoUpstream("No upstream model server is configured. Set server.upstream.url.")
    return upstream


def _add_memory_note(me: Memory, prompt: str, body: bytes) -> tuple[bytes, tuple[str, ...]]:
    """Return the request with relevant memories in its last user message, and their ids."""
    context = me.context(prompt)
    if not context.text:
        return body, ()
    return protocol.insert_note(body.decode(), context.text).encode(), context.memories


def _learn(
    me: Memory,
    session: str | None,
    messages: list[dict[str, Any]],
    reply: protocol.ModelReply,
    given: tuple[str, ...],
) -> None:
    """Append the user's message and the reply; a repeated message is a retry and is skipped.

    `given` are the ids of the memories in the request.
    """
    if reply.calls_tools:
        return
    session = session or protocol.derive_session_id(messages, me.principal.agent)
    user_text = protocol.find_last_user_text(messages)
    previous = [turn.content for turn in me.turns(session) if turn.is_by_user]
    turns: list[TurnInput] = []
    said_before = protocol.list_texts_before_last_user(messages)
    if previous[-1:] != [redact_text(user_text, said_before)]:
        turns.append({"role": "user", "content": user_text})
    if reply.text:
        turns.append(_build_reply(reply.text, messages, given))
    me.learn(turns, session)


def _build_reply(text: str, messages: list[dict[str, Any]], given: tuple[str, ...]) -> TurnInput:
    """Return the reply as a turn, from outside if it repeats what a tool or a program said."""
    outside, own = protocol.list_outside_texts(messages), protocol.list_user_texts(messages)
    turn: TurnInput = {"role": "assistant", "content": text}
    if given:
        turn["metadata"] = {MEMORIES_KEY: [*given]}
    if repeats_words(text, outside, own):
        turn["origin"] = Origin.TOOL
    return turn


async def _run_with_timeout(request: Request, work: Awaitable[T]) -> T | None:
    """Return None if memory fails or takes too long; the chat goes on without it."""
    task = asyncio.ensure_future(work)
    try:
        async with asyncio.timeout(MEMORY_TIMEOUT_SECONDS):
            return await asyncio.shield(task)
    except Exception as error:  # any failure: the reply matters more than memory
        code = getattr(error, "code", type(error).__name__)
        request.app.state.log.warning("memory", code=code)
        task.add_done_callback(_ignore_outcome)
        return None


def _ignore_outcome(task: asyncio.Future[Any]) -> None:
    """Retrieve the exception, so that asyncio does not report it as never retrieved."""
    if not task.cancelled():
        task.exception()
