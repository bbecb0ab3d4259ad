"""Builds the Telegram webhook if a bot token and a webhook secret are configured."""

from __future__ import annotations

from typing import TYPE_CHECKING

from remembrancer.assistant.telegram.api import BotApi
from remembrancer.assistant.telegram.webhook import Webhook

if TYPE_CHECKING:
    from remembrancer.engine import Remembrancer

WEBHOOK_PATH = "/telegram"


def build_webhook(engine: Remembrancer) -> Webhook | None:
    settings = engine.settings.telegram
    if settings.token is None or settings.webhook_secret is None:
        return None
    api = BotApi(settings.token.get_secret_value(), settings.url)
    return Webhook(engine, api, settings.webhook_secret.get_secret_value())
