"""Answers Telegram updates: links the chat to an account or passes the message to the assistant."""

from __future__ import annotations

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

HOW_TO_LINK = (
    "This chat is not linked to an account. Get a code with `rem telegram-link`, "
    "then send /link CODE here."
)
LINKED = (
    "This chat is linked to your account. I remember what you tell me here in all your apps. "
    "/memories lists your memories, /forget forgets everything, /reset starts a new conversation, "
    "/unlink removes the link."
)
NO_SUCH_CODE = "That code is invalid or has expired. Get a new one with `rem telegram-link`."
UNLINKED = "This chat is no longer linked to your account. Your memories are kept."
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
                self._answer_message(number, chat, text if isinstance(text, str) else "")
            case {
                "callback_query": {
                    "id": str(query),
                    "data": str(data),
                    "message": {"chat": {"id": int(chat), "type": "private"}},
                }
            }:
                self._answer_button(chat, query, data)

    def _answer_message(self, number: int, chat: int, text: str) -> None:
        verb, _, rest = text.strip().partition(" ")
        verb = verb.partition("@")[0] if verb.startswith("/") else ""
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
            self._run_chat(me, number, chat, f"{verb} {rest}".strip() if verb else text)

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

    def _run_chat(self, me: Memory, number: int, chat: int, text: str) -> None:
        session = _find_session(me)
        if session is not None and (stored := _find_answer(me, session, number)) is not None:
            self._api.send(chat, stored)  # The process stopped between storing and sending it.
            return
        self._api.call("sendChatAction", {"chat_id": chat, "action": "typing"})
        zone = self._engine.settings.time_zone
        conversation = Chat(me, self._engine.models, session, time_zone=zone)
        try:
            events = list(conversation.say(text, {UPDATE_KEY: number}))
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


def _find_session(me: Memory) -> str | None:
    """The latest active Telegram session."""
    sessions = me.sessions(status="active", limit=50).items
    return next((session.id for session in sessions if session.surface == SURFACE), None)


def _find_answer(me: Memory, session: str, number: int) -> str | None:
    """The stored answer to an update, if it was answered before."""
    last = me.turns(session)[-1:]
    return last[0].content if last and last[0].metadata.get(UPDATE_KEY) == number else None
