"""What the bot does with an update: links the chat, or lets the person talk with the assistant."""

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
"""The key in a turn's metadata for the update that it answers."""

HOW_TO_LINK = (
    "This chat is not linked to an account: get a code with `rem telegram-link` or on the web, "
    "and send it here as /link CODE."
)
LINKED = (
    "This chat is linked to your account; what you tell me here I remember everywhere. "
    "/memories lists what I know, /forget forgets everything, /reset begins a new conversation, "
    "/unlink ends this."
)
NO_SUCH_CODE = "That code is not good, or not any more: get another one."
UNLINKED = "This chat is no longer linked to your account. Your memory stays as it is."
ONLY_TEXT = "I can only read text."


class Bot:
    """One bot over an open store."""

    def __init__(self, engine: Remembrancer, api: BotApi) -> None:
        self._engine = engine
        self._api = api

    def answer(self, update: Json) -> None:
        """Answer an update; anything that is not from a private chat is passed over."""
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
        """The memory of the person to whom a chat is linked."""
        owner = self._engine.account_links.owner_of(SURFACE, str(chat))
        return self._engine.for_principal(Principal(owner, None, SURFACE)) if owner else None

    def _run_chat(self, me: Memory, number: int, chat: int, text: str) -> None:
        session = _find_session(me)
        if session is not None and (told := _find_answer(me, session, number)) is not None:
            self._api.send(chat, told)  # It was answered, and then we were interrupted.
            return
        self._api.call("sendChatAction", {"chat_id": chat, "action": "typing"})
        zone = self._engine.settings.time_zone
        talk = Chat(me, self._engine.models, session, time_zone=zone)
        try:
            parts = list(talk.say(text, {UPDATE_KEY: number}))
        except RemembrancerError as error:
            self._api.send(chat, str(error))
            return
        said = "".join(one.text for one in parts if isinstance(one, TextChunk))
        quiet = [f"· {one.text}" for one in parts if isinstance(one, Notice | MemoryChanged)]
        undo = tuple(one.event for one in parts if isinstance(one, MemoryChanged))
        self._api.send(chat, "\n".join([said, *([""] if quiet else []), *quiet]), undo)

    def _answer_button(self, chat: int, query: str, data: str) -> None:
        """Undo a change by its button."""
        me = self._load_memory(chat)
        verb, _, event = data.partition(":")
        if me is None or verb != "undo":
            told = HOW_TO_LINK
        else:
            try:
                me.undo(event)
                told = "Undone."
            except RemembrancerError as error:
                told = str(error)
        self._api.call("answerCallbackQuery", {"callback_query_id": query, "text": told[:200]})


def _find_session(me: Memory) -> str | None:
    """The conversation to go on with: the latest here that has not ended."""
    latest = me.sessions(status="active", limit=50).items
    return next((one.id for one in latest if one.surface == SURFACE), None)


def _find_answer(me: Memory, session: str, number: int) -> str | None:
    """What was answered to an update already."""
    last = me.turns(session)[-1:]
    return last[0].content if last and last[0].metadata.get(UPDATE_KEY) == number else None
