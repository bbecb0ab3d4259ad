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
from remembrancer.assistant.commands import Tell, command
from remembrancer.assistant.events import Notice, Part, Status, Text, Used
from remembrancer.assistant.execute import obeyed
from remembrancer.assistant.focus import topic_of
from remembrancer.errors import NotFound, RemembrancerError
from remembrancer.memory import Memory
from remembrancer.recall.filters import Wanted
from remembrancer.server import schemas
from remembrancer.server.pages.conversations import by_recency
from remembrancer.server.pages.filters import asked
from remembrancer.server.pages.forms import Sent, back
from remembrancer.server.pages.messages import Message, keep, messages
from remembrancer.server.pages.page_context import HEADERS, Frame, Framed
from remembrancer.server.pages.streaming import Lines, Talks
from remembrancer.sessions.view import beginning
from remembrancer.types import Session, Turn
from remembrancer.types import Status as Standing

router = APIRouter()

STREAM = "application/x-ndjson"
BESIDE = 40
SHOWN = 200
"""How many turns are shown at once."""

SEARCH: Wanted = {
    "mode": "keyword",
    "kinds": ["turn"],
    "limit": 20,
    "minimum_importance": 0,
    "used": False,
}


@router.get("/chat")
def new(frame: Framed, about: str = "") -> Response:
    """A conversation that begins when something is said in it, perhaps about one memory."""
    me = frame.me
    topic = me.several([about]).get(about)
    if about and topic is None:
        raise NotFound("There is no such memory.")
    return _page(frame, me, me.new_session(), None, (), about if topic else None)


@router.get("/chat/{id}")
def open_one(frame: Framed, id: schemas.Name) -> Response:
    """One conversation, to go on with."""
    me = frame.me
    try:
        session = me.session(id)
    except NotFound:  # The browser may remember one that is gone.
        return RedirectResponse(f"{frame.root}/chat", 303)
    turns = me.turns(id)
    return _page(frame, me, id, session, turns, topic_of(turns))


@router.post("/chat/{id}")
def say(frame: Framed, id: schemas.Name, form: Sent) -> Response:
    """Say something; the answer comes as a stream, or on the page that is shown next."""
    me, settings = frame.me, frame.engine.settings
    about = next(iter(me.several([form.get("about")])), None)
    chat = Chat(me, frame.engine.models, id, time_zone=settings.time_zone, about=about)
    if frame.request.headers.get("accept") == STREAM:
        frame.here = _place(frame, id)
        talks: Talks = frame.request.app.state.talks
        lines = talks.told(_lines(frame, me, chat, form.get("text")))
        return StreamingResponse(lines, media_type=STREAM, headers=HEADERS)
    for _ in chat.say(form.get("text")):
        pass
    return RedirectResponse(f"{_place(frame, chat.session)}#end", 303)


@router.post("/chat/{id}/notes")
def keep_reply(frame: Framed, id: schemas.Name, form: Sent) -> Response:
    """Keep a reply as a note in the journal."""
    me = frame.me
    turn = next((one for one in me.turns(id) if one.id == form.get("turn")), None)
    if turn is None:
        raise NotFound("There is no such reply.")
    return back(form, keep(me, turn) or "known")


def _page(
    frame: Frame,
    me: Memory,
    id: str,
    session: Session | None,
    turns: Sequence[Turn],
    about: str | None,
) -> Response:
    said = [one for one in turns if one.status is Standing.ACTIVE and one.role != "tool"]
    sizes = me.profile.sessions
    topic = me.several([about]).get(about) if about else None
    return frame.show(
        "chat.html",
        (session.title if session else None) or "New chat",
        id=id,
        session=session,
        trashed=bool(turns) and all(one.status is Standing.TRASHED for one in turns),
        messages=_shown(frame, me, said[-SHOWN:]),
        left_out=max(0, len(said) - SHOWN),
        in_brief=bool(beginning(said, sizes, sizes.context_tokens)),
        topic=frame.card(topic, me) if topic else None,
        model=frame.engine.models.chat is not None,
        wording=replies,
        **_beside(frame, me),
    )


def _beside(frame: Frame, me: Memory) -> dict[str, Any]:
    """The conversations beside the chat: the latest, or those in which something was said."""
    q = asked(frame.request.query_params).q
    found = me.recall(q, **SEARCH) if q else ()
    page = me.sessions(limit=BESIDE)
    return {
        "q": q,
        "found": [frame.card(one.memory, me) for one in found],
        "groups": by_recency(frame, page.items) if not q else {},
        "more": page.cursor is not None,
        "listing": "list" in frame.request.query_params or bool(q),
    }


def _shown(frame: Frame, me: Memory, turns: list[Turn]) -> list[Message]:
    """The messages; a list that was asked for last is told anew, since only that is kept of it."""
    shown = messages(frame, me, turns)
    if len(turns) > 1 and turns[-2].is_by_user and isinstance(command(turns[-2].content), Tell):
        parts = obeyed(me, Tell(), frame.zone)
        listed = "".join(one.text for one in parts if isinstance(one, Text))
        shown[-1] = replace(shown[-1], text=listed)
    return shown


def _lines(frame: Frame, me: Memory, chat: Chat, text: str) -> Lines:
    """An answer as it comes, and at its end the message as the page shows it."""
    told = ""
    try:
        with closing(chat.say(text)) as parts:
            for part in parts:
                told += part.text if isinstance(part, Text) else ""
                yield from _line(frame, part)
    except RemembrancerError as error:
        yield _json(notice=str(error))
        return
    yield _json(**_end(frame, me, chat.session, told))


def _line(frame: Frame, part: Part) -> Iterator[str]:
    match part:
        case Text():
            yield _json(text=part.text)
        case Notice() if part.text != replies.NO_MODEL:  # The page says that all the time.
            yield _json(notice=part.text)
        case Status():
            yield _json(change=frame.piece("change.html", text=part.text, event=part.event))
        case Notice() | Used():
            pass
        case _:
            assert_never(part)


def _end(frame: Frame, me: Memory, id: str, told: str) -> dict[str, str]:
    """What the page shows of an answer once it is whole, and of the conversations beside it."""
    place = _place(frame, id)
    if place != frame.here:
        return {"go": place}
    last = me.turns(id)[-1:]
    shown = [replace(one, text=told.strip()) for one in messages(frame, me, last)]
    pieces = [frame.piece("message.html", one=one, id=id) for one in shown if told.strip()]
    return {
        "message": "".join(pieces),
        "beside": frame.piece("talks.html", id=id, **_beside(frame, me)),
        "title": me.session(id).title or "",
    }


def _place(frame: Frame, id: str) -> str:
    return f"{frame.root}/chat/{quote(id, safe='')}"


def _json(**line: str) -> str:
    return json.dumps(line, ensure_ascii=False) + "\n"
