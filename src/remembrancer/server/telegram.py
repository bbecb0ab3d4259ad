"""The server's part of Telegram: the webhook, the codes that link a chat, the bot's name."""

from __future__ import annotations

from contextlib import closing
from functools import cache
from typing import TYPE_CHECKING

from remembrancer.assistant.telegram import TelegramUnavailable
from remembrancer.assistant.telegram.api import BotApi
from remembrancer.assistant.telegram.webhook import Webhook
from remembrancer.errors import InvalidSetting, NotAllowed
from remembrancer.retry import RetryPolicy

if TYPE_CHECKING:
    from remembrancer.access.account_links import LinkCode
    from remembrancer.engine import Remembrancer
    from remembrancer.types import Principal

WEBHOOK_PATH = "/telegram"
NAME_TIMEOUT_SECONDS = 3.0
ONE_ATTEMPT = RetryPolicy(max_retries=0, initial_delay=0.1, max_delay=0.1)


def build_webhook(engine: Remembrancer) -> Webhook | None:
    settings = engine.settings.telegram
    if settings.token is None or settings.webhook_secret is None:
        return None
    api = BotApi(settings.token.get_secret_value(), settings.url)
    return Webhook(engine, api, settings.webhook_secret.get_secret_value())


def create_link_code(engine: Remembrancer, caller: Principal) -> LinkCode:
    """A code that links a chat to the caller's account."""
    if caller.agent is not None:
        raise NotAllowed("A link opens the whole account. Sign in as the user.")
    return engine.account_links.create_code(caller.owner)


def find_bot_name(engine: Remembrancer) -> str | None:
    """The name of the configured bot; None without a bot, or if Telegram does not tell."""
    settings = engine.settings.telegram
    if settings.token is None:
        return None
    try:
        return _ask_name(settings.token.get_secret_value(), settings.url)
    except (TelegramUnavailable, InvalidSetting):
        return None


@cache
def _ask_name(token: str, url: str) -> str | None:
    api = BotApi(token, url, retry_policy=ONE_ATTEMPT, timeout_seconds=NAME_TIMEOUT_SECONDS)
    with closing(api):
        return api.find_name()
