"""Asking Telegram for what is new, again and again."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING

from remembrancer.assistant.telegram import TelegramUnavailable
from remembrancer.assistant.telegram.bot import Bot
from remembrancer.assistant.telegram.inbox import Inbox, get_chat_id
from remembrancer.types import Json

if TYPE_CHECKING:
    import threading

    from remembrancer.assistant.telegram.api import BotApi
    from remembrancer.engine import Remembrancer

POLL_TIMEOUT_SECONDS = 25
MAX_CONCURRENT_CHATS = 8
ALLOWED_UPDATES: list[Json] = ["message", "callback_query"]


def poll(
    engine: Remembrancer,
    api: BotApi,
    stop: threading.Event,
    *,
    wait: int = POLL_TIMEOUT_SECONDS,
    pause: float = 1.0,
) -> None:
    """Answer until it is over. What is not answered yet is not confirmed, and comes again."""
    inbox = Inbox(engine, Bot(engine, api), api.bot_id)
    api.call("deleteWebhook")  # With one, Telegram gives nothing to whoever asks.
    offset = 0  # From the first that was not confirmed; what was answered of these is passed over.
    with ThreadPoolExecutor(MAX_CONCURRENT_CHATS, "remembrancer-telegram") as workers:
        while not stop.is_set():
            updates = _fetch_updates(api, offset, wait)
            if updates is None:
                stop.wait(pause)
                continue
            left = workers.map(partial(_answer_chat, inbox), _group_by_chat(updates))
            waiting = [number for one in left for number in one]
            if waiting:
                stop.wait(pause)
                offset = min(waiting)
            elif updates:
                offset = max(map(_get_update_id, updates)) + 1


def _fetch_updates(api: BotApi, offset: int, wait: int) -> list[Json] | None:
    """What came since; None when Telegram cannot be reached for now."""
    try:
        asked: dict[str, Json] = {
            "offset": offset,
            "timeout": wait,
            "allowed_updates": ALLOWED_UPDATES,
        }
        found = api.call("getUpdates", asked, wait=wait)
    except TelegramUnavailable as error:
        if not error.transient:
            raise
        return None
    return found if isinstance(found, list) else []


def _group_by_chat(updates: Sequence[Json]) -> list[list[Json]]:
    """The updates of each chat in their order: chats do not wait for each other."""
    chats: dict[object, list[Json]] = {}
    for update in updates:
        chats.setdefault(get_chat_id(update), []).append(update)
    return list(chats.values())


def _answer_chat(inbox: Inbox, updates: Sequence[Json]) -> list[int]:
    """Answer one after the other; from the first that could not be, all have to come again."""
    for place, update in enumerate(updates):
        if not inbox.answer_once(update):
            return [_get_update_id(one) for one in updates[place:]]
    return []


def _get_update_id(update: Json) -> int:
    match update:
        case {"update_id": int(number)}:
            return number
    return 0
