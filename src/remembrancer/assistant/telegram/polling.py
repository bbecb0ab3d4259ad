"""Polls Telegram for updates and answers them."""

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
    """Answer updates until `stop` is set; unanswered updates stay unacknowledged and come again."""
    inbox = Inbox(engine, Bot(engine, api), api.bot_id)
    api.call("deleteWebhook")  # Telegram refuses getUpdates while a webhook is set.
    offset = 0  # From the first unacknowledged update; the inbox skips answered ones.
    with ThreadPoolExecutor(MAX_CONCURRENT_CHATS, "remembrancer-telegram") as workers:
        while not stop.is_set():
            updates = _fetch_updates(api, offset, wait)
            if updates is None:
                stop.wait(pause)
                continue
            unanswered = workers.map(partial(_answer_chat, inbox), _group_by_chat(updates))
            waiting = [number for numbers in unanswered for number in numbers]
            if waiting:
                stop.wait(pause)
                offset = min(waiting)
            elif updates:
                offset = max(map(_get_update_id, updates)) + 1


def _fetch_updates(api: BotApi, offset: int, wait: int) -> list[Json] | None:
    """The updates since `offset`; None while Telegram is unavailable."""
    since: dict[str, Json] = {"offset": offset, "timeout": wait, "allowed_updates": ALLOWED_UPDATES}
    try:
        found = api.call("getUpdates", since, wait=wait)
    except TelegramUnavailable as error:
        if not error.transient:
            raise
        return None
    return found if isinstance(found, list) else []


def _group_by_chat(updates: Sequence[Json]) -> list[list[Json]]:
    """The updates of each chat in order, so that chats are answered concurrently."""
    chats: dict[object, list[Json]] = {}
    for update in updates:
        chats.setdefault(get_chat_id(update), []).append(update)
    return list(chats.values())


def _answer_chat(inbox: Inbox, updates: Sequence[Json]) -> list[int]:
    """Answer updates in order; returns the ids from the first failure on."""
    for index, update in enumerate(updates):
        if not inbox.answer_once(update):
            return [_get_update_id(rest) for rest in updates[index:]]
    return []


def _get_update_id(update: Json) -> int:
    match update:
        case {"update_id": int(number)}:
            return number
    return 0
