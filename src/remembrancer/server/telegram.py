"""Telegram's way in, where there is a bot and a secret that its calls bring along."""

from __future__ import annotations

from typing import TYPE_CHECKING

from remembrancer.assistant.telegram.api import BotApi
from remembrancer.assistant.telegram.webhook import Webhook

if TYPE_CHECKING:
    from remembrancer.engine import Remembrancer

WEBHOOK_PATH = "/telegram"


def build_webhook(engine: Remembrancer) -> Webhook | None:
    """What Telegram may call, if that is configured."""
    settings = engine.settings.telegram
    if settings.token is None or settings.webhook_secret is None:
        return None
    api = BotApi(settings.token.get_secret_value(), settings.url)
    return Webhook(engine, api, settings.webhook_secret.get_secret_value())
