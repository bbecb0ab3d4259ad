"""The chat page: its sidebar, its messages, and the streamed answer."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from typing import Any, assert_never

from fastapi import APIRouter
from starlette.responses import RedirectResponse, Response, StreamingResponse

from remembrancer.assistant import replies
from remembrancer.assistant.chat import Chat
from remembrancer.assistant.commands import ListMemories, parse_command
from remembrancer.assistant.events import ChatEvent, MemoriesUsed, MemoryChanged, Notice, TextChunk
from remembrancer.assistant.execute import execute_command
from remembrancer.assistant.topic import find_topic_id
from remembrancer.errors import NotFound, RemembrancerError
from remembrancer.recall.filters import RecallOptions
from remembrancer.server import schemas
from remembrancer.server.pages import text
from remembrancer.server.pages.activity_feed import list_memory_ids
from remembrancer.server.pages.conversations import group_by_recency
from remembrancer.server.pages.filters import parse_filters
from remembrancer.server.pages.forms import SubmittedForm, redirect_back
from remembrancer.server.pages.messages import MessageView, build_messages, save_note
from remembrancer.server.pages.page_context import PAGE_HEADERS, CurrentPage, PageContext
from remembrancer.server.pages.streaming import AnswerStreamer, LineStream
from remembrancer.server.sent_path import SentPathRoute
from remembrancer.sessions.view import select_summarised
from remembrancer.types import Session, Status, Turn

router = APIRouter(route_class=SentPathRoute)

STREAM_MEDIA_TYPE = "application/x-ndjson"
MAX_SIDEBAR_SESSIONS = 40
MAX_TURNS_SHOWN = 200

TURN_SEARCH_OPTIONS: RecallOptions = {
    "mode": "keyword",
    "kinds": ["turn"],
    "limit": 20,
    "minimum_importance": 0,
    "used": False,
}


@router.get("/chat")
def show_new_chat(context: CurrentPage, about: str = "") -> Response:
    """An empty chat, optionally about one memory; it is stored with its first message."""
    me = context.me
    topic = me.several([about]).get(about)
    if about and topic is None:
        raise NotFound("This memory does not exist.")
    return _render_chat(context, me.new_session(), None, (), about if topic else None)


@router.get("/chat/{id}")
def show_chat(context: CurrentPage, id: schemas.Name) -> Response:
    me = context.me
    try:
        session = me.session(id)
    except NotFound:  # The browser may have kept a deleted one.
        return RedirectResponse(f"{context.root}/chat", 303)
    turns = me.turns(id)
    return _render_chat(context, id, session, turns, find_topic_id(turns))


@router.post("/chat/{id}")
def send_message(context: CurrentPage, id: schemas.Name, form: SubmittedForm) -> Response:
    """Stream the answer to a message; without a script, redirect to the page that shows it."""
    me = context.me
    about = next(iter(me.several([form.get("about")])), None)
    chat = Chat(me, context.engine.models, id, time_zone=context.zone.key, about=about)
    if context.request.headers.get("accept") == STREAM_MEDIA_TYPE:
        context.return_path = context.chat_url(id)
        streamer: AnswerStreamer = context.request.app.state.talks
        lines = streamer.stream(_stream_answer(context, chat, form.get("text")))
        return StreamingResponse(lines, media_type=STREAM_MEDIA_TYPE, headers=PAGE_HEADERS)
    for _ in chat.say(form.get("text")):
        pass
    return RedirectResponse(f"{context.chat_url(chat.session)}#end", 303)


@router.post("/chat/{id}/notes")
def bookmark_reply(context: CurrentPage, id: schemas.Name, form: SubmittedForm) -> Response:
    """Save a reply as a note in the journal."""
    me = context.me
    turn = next((turn for turn in me.turns(id) if turn.id == form.get("turn")), None)
    if turn is None:
        raise NotFound("This reply does not exist.")
    return redirect_back(form, save_note(me, turn) or "known")


def _render_chat(
    context: PageContext, id: str, session: Session | None, turns: Sequence[Turn], about: str | None
) -> Response:
    active = [turn for turn in turns if turn.status is Status.ACTIVE]
    shown = [turn for turn in active if turn.role != "tool"]
    limits = context.me.profile.sessions
    topic = context.me.several([about]).get(about) if about else None
    return context.render(
        "chat.html",
        (session.title if session else None) or text.UNTITLED,
        id=id,
        session=session,
        trashed=bool(turns) and all(turn.status is Status.TRASHED for turn in turns),
        messages=_build_shown_messages(context, shown[-MAX_TURNS_SHOWN:]),
        left_out=max(0, len(shown) - MAX_TURNS_SHOWN),
        in_brief=bool(select_summarised(active, limits, limits.context_tokens)),
        topic=context.build_card(topic) if topic else None,
        model=context.engine.models.chat is not None,
        replies=replies,
        **_build_sidebar(context),
    )


def _build_sidebar(context: PageContext) -> dict[str, Any]:
    """The latest conversations, or the messages that match the search."""
    q = parse_filters(context).q
    found = context.me.recall(q, **TURN_SEARCH_OPTIONS) if q else ()
    page = context.me.sessions(limit=MAX_SIDEBAR_SESSIONS)
    return {
        "q": q,
        "found": [context.build_card(result.memory) for result in found],
        "groups": group_by_recency(context, page.items) if not q else {},
        "more": page.cursor is not None,
        "listing": "list" in context.request.query_params or bool(q),
    }


def _build_shown_messages(context: PageContext, turns: list[Turn]) -> list[MessageView]:
    """The messages to show.

    A list of memories is not stored, so that a list as the last reply is built again.
    """
    messages = build_messages(context, turns)
    if (
        len(turns) > 1
        and turns[-2].is_by_user
        and isinstance(parse_command(turns[-2].content), ListMemories)
    ):
        events = execute_command(context.me, ListMemories(), context.zone)
        memories = "".join(event.text for event in events if isinstance(event, TextChunk))
        messages[-1] = replace(messages[-1], text=memories)
    return messages


def _stream_answer(context: PageContext, chat: Chat, text: str) -> LineStream:
    """The events of an answer as lines, then the whole message as HTML."""
    answer = ""
    try:
        with closing(chat.say(text)) as events:
            for event in events:
                answer += event.text if isinstance(event, TextChunk) else ""
                yield from _encode_event(context, event)
    except RemembrancerError as error:
        yield _encode_line(notice=str(error))
        return
    yield _encode_line(**_build_last_line(context, chat.session, answer))


def _encode_event(context: PageContext, event: ChatEvent) -> Iterator[str]:
    match event:
        case TextChunk():
            yield _encode_line(text=event.text)
        case Notice() if event.text != replies.NO_MODEL:  # The page always shows it.
            yield _encode_line(notice=event.text)
        case MemoryChanged():
            named = list_memory_ids(context.me.event(event.event))
            href = f"{context.root}/memory/{named[0]}" if named else ""
            shown = {"text": event.text, "event": event.event, "href": href}
            yield _encode_line(change=context.render_fragment("change.html", **shown))
        case Notice() | MemoriesUsed():
            pass
        case _:
            assert_never(event)


def _build_last_line(context: PageContext, id: str, answer: str) -> dict[str, str]:
    """The finished message and the sidebar as HTML, or the URL of the new session."""
    url = context.chat_url(id)
    if url != context.return_path:
        return {"go": url}
    last = context.me.turns(id)[-1:]
    text = answer.strip()
    messages = build_messages(context, last) if text else []
    fragments = [
        context.render_fragment("message.html", message=replace(message, text=text), id=id)
        for message in messages
    ]
    return {
        "message": "".join(fragments),
        "beside": context.render_fragment("chat_sidebar.html", id=id, **_build_sidebar(context)),
        "title": context.me.session(id).title or "",
    }


def _encode_line(**line: str) -> str:
    return json.dumps(line, ensure_ascii=False) + "\n"
