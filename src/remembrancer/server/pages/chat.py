"""The chat: conversations beside it, what was said, and a stream of what is being answered."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from typing import Any, assert_never
from urllib.parse import quote

from fastapi import APIRouter
from starlette.responses import RedirectResponse, Response, StreamingResponse

from remembrancer.assistant import replies
from remembrancer.assistant.chat import Chat
from remembrancer.assistant.commands import ListMemories, parse_command
from remembrancer.assistant.events import ChatEvent, MemoriesUsed, MemoryChanged, Notice, TextChunk
from remembrancer.assistant.execute import execute_command
from remembrancer.assistant.topic import find_topic_id
from remembrancer.errors import NotFound, RemembrancerError
from remembrancer.memory import Memory
from remembrancer.recall.filters import RecallOptions
from remembrancer.server import schemas
from remembrancer.server.pages.conversations import group_by_recency
from remembrancer.server.pages.filters import parse_filters
from remembrancer.server.pages.forms import SubmittedForm, redirect_back
from remembrancer.server.pages.messages import MessageView, build_messages, save_note
from remembrancer.server.pages.page_context import PAGE_HEADERS, CurrentPage, PageContext
from remembrancer.server.pages.streaming import AnswerStreamer, LineStream
from remembrancer.sessions.view import select_summarised
from remembrancer.types import Session, Turn
from remembrancer.types import Status as Standing

router = APIRouter()

STREAM_MEDIA_TYPE = "application/x-ndjson"
MAX_SIDEBAR_SESSIONS = 40
MAX_TURNS_SHOWN = 200
"""How many turns are shown at once."""

TURN_SEARCH_OPTIONS: RecallOptions = {
    "mode": "keyword",
    "kinds": ["turn"],
    "limit": 20,
    "minimum_importance": 0,
    "used": False,
}


@router.get("/chat")
def show_new_chat(frame: CurrentPage, about: str = "") -> Response:
    """A conversation that begins when something is said in it, perhaps about one memory."""
    me = frame.me
    topic = me.several([about]).get(about)
    if about and topic is None:
        raise NotFound("There is no such memory.")
    return _render_chat(frame, me, me.new_session(), None, (), about if topic else None)


@router.get("/chat/{id}")
def show_chat(frame: CurrentPage, id: schemas.Name) -> Response:
    """One conversation, to go on with."""
    me = frame.me
    try:
        session = me.session(id)
    except NotFound:  # The browser may remember one that is gone.
        return RedirectResponse(f"{frame.root}/chat", 303)
    turns = me.turns(id)
    return _render_chat(frame, me, id, session, turns, find_topic_id(turns))


@router.post("/chat/{id}")
def send_message(frame: CurrentPage, id: schemas.Name, form: SubmittedForm) -> Response:
    """Say something; the answer comes as a stream, or on the page that is shown next."""
    me, settings = frame.me, frame.engine.settings
    about = next(iter(me.several([form.get("about")])), None)
    chat = Chat(me, frame.engine.models, id, time_zone=settings.time_zone, about=about)
    if frame.request.headers.get("accept") == STREAM_MEDIA_TYPE:
        frame.return_path = _chat_url(frame, id)
        talks: AnswerStreamer = frame.request.app.state.talks
        lines = talks.stream(_stream_answer(frame, me, chat, form.get("text")))
        return StreamingResponse(lines, media_type=STREAM_MEDIA_TYPE, headers=PAGE_HEADERS)
    for _ in chat.say(form.get("text")):
        pass
    return RedirectResponse(f"{_chat_url(frame, chat.session)}#end", 303)


@router.post("/chat/{id}/notes")
def keep_reply(frame: CurrentPage, id: schemas.Name, form: SubmittedForm) -> Response:
    """Keep a reply as a note in the journal."""
    me = frame.me
    turn = next((one for one in me.turns(id) if one.id == form.get("turn")), None)
    if turn is None:
        raise NotFound("There is no such reply.")
    return redirect_back(form, save_note(me, turn) or "known")


def _render_chat(
    frame: PageContext,
    me: Memory,
    id: str,
    session: Session | None,
    turns: Sequence[Turn],
    about: str | None,
) -> Response:
    said = [one for one in turns if one.status is Standing.ACTIVE and one.role != "tool"]
    sizes = me.profile.sessions
    topic = me.several([about]).get(about) if about else None
    return frame.render(
        "chat.html",
        (session.title if session else None) or "New chat",
        id=id,
        session=session,
        trashed=bool(turns) and all(one.status is Standing.TRASHED for one in turns),
        messages=_build_shown_messages(frame, me, said[-MAX_TURNS_SHOWN:]),
        left_out=max(0, len(said) - MAX_TURNS_SHOWN),
        in_brief=bool(select_summarised(said, sizes, sizes.context_tokens)),
        topic=frame.build_card(topic, me) if topic else None,
        model=frame.engine.models.chat is not None,
        wording=replies,
        **_build_sidebar(frame, me),
    )


def _build_sidebar(frame: PageContext, me: Memory) -> dict[str, Any]:
    """The conversations beside the chat: the latest, or those in which something was said."""
    q = parse_filters(frame.request.query_params).q
    found = me.recall(q, **TURN_SEARCH_OPTIONS) if q else ()
    page = me.sessions(limit=MAX_SIDEBAR_SESSIONS)
    return {
        "q": q,
        "found": [frame.build_card(one.memory, me) for one in found],
        "groups": group_by_recency(frame, page.items) if not q else {},
        "more": page.cursor is not None,
        "listing": "list" in frame.request.query_params or bool(q),
    }


def _build_shown_messages(frame: PageContext, me: Memory, turns: list[Turn]) -> list[MessageView]:
    """The messages; a list that was asked for last is told anew, since only that is kept of it."""
    shown = build_messages(frame, me, turns)
    if (
        len(turns) > 1
        and turns[-2].is_by_user
        and isinstance(parse_command(turns[-2].content), ListMemories)
    ):
        parts = execute_command(me, ListMemories(), frame.zone)
        listed = "".join(one.text for one in parts if isinstance(one, TextChunk))
        shown[-1] = replace(shown[-1], text=listed)
    return shown


def _stream_answer(frame: PageContext, me: Memory, chat: Chat, text: str) -> LineStream:
    """An answer as it comes, and at its end the message as the page shows it."""
    told = ""
    try:
        with closing(chat.say(text)) as parts:
            for part in parts:
                told += part.text if isinstance(part, TextChunk) else ""
                yield from _encode_event(frame, part)
    except RemembrancerError as error:
        yield _encode_line(notice=str(error))
        return
    yield _encode_line(**_build_last_line(frame, me, chat.session, told))


def _encode_event(frame: PageContext, part: ChatEvent) -> Iterator[str]:
    match part:
        case TextChunk():
            yield _encode_line(text=part.text)
        case Notice() if part.text != replies.NO_MODEL:  # The page says that all the time.
            yield _encode_line(notice=part.text)
        case MemoryChanged():
            yield _encode_line(
                change=frame.render_fragment("change.html", text=part.text, event=part.event)
            )
        case Notice() | MemoriesUsed():
            pass
        case _:
            assert_never(part)


def _build_last_line(frame: PageContext, me: Memory, id: str, told: str) -> dict[str, str]:
    """What the page shows of an answer once it is whole, and of the conversations beside it."""
    place = _chat_url(frame, id)
    if place != frame.return_path:
        return {"go": place}
    last = me.turns(id)[-1:]
    shown = [replace(one, text=told.strip()) for one in build_messages(frame, me, last)]
    pieces = [
        frame.render_fragment("message.html", one=one, id=id) for one in shown if told.strip()
    ]
    return {
        "message": "".join(pieces),
        "beside": frame.render_fragment("talks.html", id=id, **_build_sidebar(frame, me)),
        "title": me.session(id).title or "",
    }


def _chat_url(frame: PageContext, id: str) -> str:
    return f"{frame.root}/chat/{quote(id, safe='')}"


def _encode_line(**line: str) -> str:
    return json.dumps(line, ensure_ascii=False) + "\n"
