"""Being called by Telegram: an ASGI application for one path, to be mounted by a server."""

from __future__ import annotations

import asyncio
import hmac
from collections.abc import Awaitable, Callable, MutableMapping
from typing import TYPE_CHECKING, Any

from remembrancer.assistant.telegram.bot import Bot
from remembrancer.assistant.telegram.inbox import Inbox
from remembrancer.errors import InvalidSetting
from remembrancer.llm.answer import loaded
from remembrancer.types import Json

if TYPE_CHECKING:
    from remembrancer.assistant.telegram.api import BotApi
    from remembrancer.engine import Remembrancer

HEADER = b"x-telegram-bot-api-secret-token"
LARGEST = 1_000_000

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]


def webhook(engine: Remembrancer, api: BotApi, secret: str) -> Application:
    """Answers updates of whoever knows the secret.

    Telegram is told that an update arrived once it is answered; else it sends it again.
    """
    if len(secret) < 16 or not secret.isascii():
        raise InvalidSetting("telegram.webhook_secret: use at least 16 letters and digits.")
    inbox = Inbox(engine, Bot(engine, api), api.bot_id)

    async def application(scope: Scope, receive: Receive, send: Send) -> None:
        headers = dict(scope["headers"])
        if scope["method"] != "POST":
            await _reply(send, 405)
        elif not hmac.compare_digest(headers.get(HEADER, b""), secret.encode()):
            await _reply(send, 403)
        elif (update := await _update(receive)) is None:
            await _reply(send, 400)
        else:
            answered = await asyncio.to_thread(inbox.take, update)
            await _reply(send, 200 if answered else 503)

    return application


async def _update(receive: Receive) -> Json:
    body, more = b"", True
    while more and len(body) <= LARGEST:
        message = await receive()
        body += message.get("body", b"")
        more = message.get("more_body", False)
    try:
        return loaded(body.decode("utf-8")) if len(body) <= LARGEST else None
    except ValueError:
        return None


async def _reply(send: Send, status: int) -> None:
    await send({"type": "http.response.start", "status": status, "headers": []})
    await send({"type": "http.response.body", "body": b""})
