"""Deduplicates Telegram updates: answered ids are stored, so none is answered twice or lost."""

from __future__ import annotations

import logging
import threading
from functools import partial
from typing import TYPE_CHECKING

from remembrancer.assistant.telegram import TelegramUnavailable
from remembrancer.errors import RemembrancerError
from remembrancer.types import Json

if TYPE_CHECKING:
    from remembrancer.assistant.telegram.bot import Bot
    from remembrancer.engine import Remembrancer

MAX_ANSWERED_KEPT = 200
MAX_ATTEMPTS = 3

logger = logging.getLogger(__name__)


class Inbox:
    """Answers each update once, whether it arrives by polling or by webhook."""

    def __init__(self, engine: Remembrancer, bot: Bot, bot_id: str) -> None:
        self._engine = engine
        self._bot = bot
        self._key = f"telegram:{bot_id}"
        self._lock = threading.Lock()
        self._in_progress: set[int] = set()
        self._attempts: dict[int, int] = {}

    def list_answered(self) -> list[int]:
        return _parse_numbers(self._engine.setting(self._key))

    def answer_once(self, update: Json) -> bool:
        """Answer an update unless it was answered before; False if Telegram must resend it."""
        match update:
            case {"update_id": int(number)}:
                return self._answer_numbered(number, update)
        return True

    def _answer_numbered(self, number: int, update: Json) -> bool:
        with self._lock:
            if number in self._in_progress:
                return False
            self._in_progress.add(number)
        try:
            if number in self.list_answered():
                return True
            answered = self._try_answer(number, update)
            if answered:
                self._attempts.pop(number, None)
                self._engine.change_setting(self._key, partial(_append_number, number))
            return answered
        finally:
            with self._lock:
                self._in_progress.discard(number)

    def _try_answer(self, number: int, update: Json) -> bool:
        """True if the update was answered or never can be."""
        try:
            self._bot.answer(update)
        except RemembrancerError as error:
            logger.warning("An update was not answered: %s", error.code)
            if isinstance(error, TelegramUnavailable) and not error.transient:
                return True
        except Exception as error:  # One failing update must not block all others.
            logger.error("An update failed: %s", type(error).__name__)
        else:
            return True
        self._attempts[number] = self._attempts.get(number, 0) + 1
        return self._attempts[number] >= MAX_ATTEMPTS


def get_chat_id(update: Json) -> int | None:
    """The chat of an update; None for updates without a chat."""
    match update:
        case {"message": {"chat": {"id": int(chat)}}}:
            return chat
        case {"callback_query": {"message": {"chat": {"id": int(chat)}}}}:
            return chat
    return None


def _append_number(number: int, known: Json) -> Json:
    kept: list[Json] = [*_parse_numbers(known), number]
    return kept[-MAX_ANSWERED_KEPT:]


def _parse_numbers(known: Json) -> list[int]:
    numbers = known if isinstance(known, list) else []
    return [number for number in numbers if isinstance(number, int)]
