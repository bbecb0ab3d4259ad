"""ASGI application for the Telegram webhook, mounted by the server under one path."""

from __future__ import annotations

import asyncio
import hmac
import re
from collections.abc import Awaitable, Callable, MutableMapping
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

from remembrancer.assistant.telegram.bot import Bot
from remembrancer.assistant.telegram.inbox import Inbox, get_chat_id
from remembrancer.errors import InvalidSetting
from remembrancer.llm.json_answer import parse_json
from remembrancer.types import Json

if TYPE_CHECKING:
    from remembrancer.assistant.telegram.api import BotApi
    from remembrancer.engine import Remembrancer

SECRET_HEADER = b"x-telegram-bot-api-secret-token"
SECRET_PATTERN = re.compile(r"[A-Za-z0-9_-]{16,256}")
MAX_BODY_BYTES = 1_000_000

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]


class Webhook:
    """Answers updates that carry the secret.

    The response is sent after the answer, so that Telegram resends an update that failed.
    """

    def __init__(self, engine: Remembrancer, api: BotApi, secret: str) -> None:
        self._api = api
        self._secret = validate_secret(secret).encode()
        self._inbox = Inbox(engine, Bot(engine, api), api.bot_id)
        self._chats: WeakValueDictionary[object, asyncio.Lock] = WeakValueDictionary()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        secret = dict(scope["headers"]).get(SECRET_HEADER, b"")
        if not hmac.compare_digest(secret, self._secret):
            await _reply(send, 403)
        elif scope["method"] != "POST":
            await _reply(send, 405)
        elif (update := await _read_update(receive)) is None:
            await _reply(send, 400)
        else:
            # Telegram sends updates concurrently; those of one chat are answered in order.
            async with self._chats.setdefault(get_chat_id(update), asyncio.Lock()):
                answered = await asyncio.to_thread(self._inbox.answer_once, update)
            await _reply(send, 200 if answered else 503)

    def close(self) -> None:
        """Close the connections to Telegram."""
        self._api.close()


def validate_secret(secret: str) -> str:
    """Return the secret if Telegram accepts it and it is long enough."""
    if not SECRET_PATTERN.fullmatch(secret):
        raise InvalidSetting(
            "telegram.webhook_secret: use 16 to 256 letters, digits, dashes and underscores."
        )
    return secret


async def _read_update(receive: Receive) -> Json:
    body, more = b"", True
    while more and len(body) <= MAX_BODY_BYTES:
        message = await receive()
        body += message.get("body", b"")
        more = message.get("more_body", False)
    try:
        return parse_json(body.decode("utf-8")) if len(body) <= MAX_BODY_BYTES else None
    except ValueError:
        return None


async def _reply(send: Send, status: int) -> None:
    await send({"type": "http.response.start", "status": status, "headers": []})
    await send({"type": "http.response.body", "body": b""})
