"""Answers Telegram updates: links the chat to an account or passes the message to the assistant."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from remembrancer.assistant.chat import Chat
from remembrancer.assistant.events import MemoryChanged, Notice, TextChunk
from remembrancer.assistant.telegram import SURFACE
from remembrancer.errors import RemembrancerError
from remembrancer.types import Json, Principal

if TYPE_CHECKING:
    from remembrancer.assistant.telegram.api import BotApi
    from remembrancer.engine import Remembrancer
    from remembrancer.memory import Memory

UPDATE_KEY = "telegram_update"
"""Metadata key of a turn for the id of the update that it answers."""

CHAT_KEY = "telegram_chat"
"""Metadata key of a turn for the number of the chat's link, so that chats share no conversation."""

MAX_SESSIONS_SEARCHED = 50
MAX_LINK_NUMBER = 1_000_000
WHERE_TO_GET_A_CODE = (
    "Get a code on the dashboard under Settings, from POST /api/me/link-code, "
    "or with `rem telegram-link`"
)
HOW_TO_LINK = (
    f"This chat is not linked to an account. {WHERE_TO_GET_A_CODE}, then send /link CODE here."
)
LINKED = (
    "This chat is linked to your account. I remember what you tell me here in all your apps. "
    "/help lists what you can say, /unlink removes the link."
)
NO_SUCH_CODE = f"That code is invalid or has expired. {WHERE_TO_GET_A_CODE}."
UNLINKED = "This chat is no longer linked to your account. Your memories are kept."
FORWARD_FIELDS = frozenset({"forward_origin", "forward_from", "forward_date"})
"""What only a message has that somebody else wrote."""

ONLY_TEXT = "I can only read text."


class Bot:
    def __init__(self, engine: Remembrancer, api: BotApi) -> None:
        self._engine = engine
        self._api = api

    def answer(self, update: Json) -> None:
        """Answer an update; updates from groups and channels are ignored."""
        match update:
            case {
                "update_id": int(number),
                "message": {"chat": {"id": int(chat), "type": "private"}, **message},
            }:
                text = message.get("text")
                is_forwarded = not message.keys().isdisjoint(FORWARD_FIELDS)
                said = text if isinstance(text, str) else ""
                self._answer_message(number, chat, said, is_forwarded=is_forwarded)
            case {
                "callback_query": {
                    "id": str(query),
                    "data": str(data),
                    "message": {"chat": {"id": int(chat), "type": "private"}},
                }
            }:
                self._answer_button(chat, query, data)

    def _answer_message(self, number: int, chat: int, text: str, *, is_forwarded: bool) -> None:
        verb, _, rest = text.strip().partition(" ")
        verb = verb.partition("@")[0] if verb.startswith("/") and not is_forwarded else ""
        if verb in ("/link", "/start") and rest.strip():
            self._api.send(chat, self._link_chat(chat, rest))
            return
        me = self._load_memory(chat)
        if me is None:
            self._api.send(chat, HOW_TO_LINK)
        elif verb in ("/start", "/link"):
            self._api.send(chat, LINKED)
        elif verb == "/unlink":
            self._engine.account_links.unlink(SURFACE, str(chat))
            self._api.send(chat, UNLINKED)
        elif not text.strip():
            self._api.send(chat, ONLY_TEXT)
        else:
            said = f"{verb} {rest}".strip() if verb else text
            self._run_chat(me, number, chat, said, is_forwarded=is_forwarded)

    def _link_chat(self, chat: int, code: str) -> str:
        try:
            owner = self._engine.account_links.redeem(code, SURFACE, str(chat))
        except RemembrancerError as error:
            return str(error)
        return NO_SUCH_CODE if owner is None else LINKED

    def _load_memory(self, chat: int) -> Memory | None:
        """The memory of the user to whom a chat is linked."""
        owner = self._engine.account_links.owner_of(SURFACE, str(chat))
        return self._engine.for_principal(Principal(owner, None, SURFACE)) if owner else None

    def _run_chat(
        self, me: Memory, number: int, chat: int, text: str, *, is_forwarded: bool
    ) -> None:
        link = _number_link(self._engine.account_links.link_of(SURFACE, str(chat)))
        session = _find_session(me, link)
        if session is not None and (stored := _find_answer(me, session, number)) is not None:
            self._api.send(chat, stored)  # The process stopped between storing and sending it.
            return
        self._api.call("sendChatAction", {"chat_id": chat, "action": "typing"})
        conversation = Chat(me, self._engine.models, session)
        try:
            about: dict[str, Json] = {UPDATE_KEY: number, CHAT_KEY: link}
            events = list(conversation.say(text, about, is_quoted=is_forwarded))
        except RemembrancerError as error:
            self._api.send(chat, str(error))
            return
        answer = "".join(event.text for event in events if isinstance(event, TextChunk))
        notes = [f"· {event.text}" for event in events if isinstance(event, Notice | MemoryChanged)]
        undo = tuple(event.event for event in events if isinstance(event, MemoryChanged))
        self._api.send(chat, "\n".join([answer, *([""] if notes else []), *notes]), undo)

    def _answer_button(self, chat: int, query: str, data: str) -> None:
        me = self._load_memory(chat)
        verb, _, event = data.partition(":")
        if me is None or verb != "undo":
            reply = HOW_TO_LINK
        else:
            try:
                me.undo(event)
                reply = "Undone."
            except RemembrancerError as error:
                reply = str(error)
        self._api.call("answerCallbackQuery", {"callback_query_id": query, "text": reply[:200]})


def _number_link(link: str | None) -> int:
    """A short number for the id of a link; a longer one could be taken for a secret."""
    return int(hashlib.sha256((link or "").encode()).hexdigest(), 16) % MAX_LINK_NUMBER


def _find_session(me: Memory, link: int) -> str | None:
    """The latest active session of a linked chat."""
    sessions = me.sessions(status="active", limit=MAX_SESSIONS_SEARCHED).items
    own = (one.id for one in sessions if one.surface == SURFACE)
    return next((id for id in own if _was_held_in(me, id, link)), None)


def _was_held_in(me: Memory, session: str, link: int) -> bool:
    return any(one.metadata.get(CHAT_KEY) == link for one in me.turns(session)[-2:])


def _find_answer(me: Memory, session: str, number: int) -> str | None:
    """The stored answer to an update, if it was answered before."""
    last = me.turns(session)[-1:]
    return last[0].content if last and last[0].metadata.get(UPDATE_KEY) == number else None
