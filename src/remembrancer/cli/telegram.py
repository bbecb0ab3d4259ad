"""`rem telegram` and `rem telegram-link`: run the bot, and link a chat to a user."""

from __future__ import annotations

import contextlib
import logging
import signal
import sys
import threading
from typing import TYPE_CHECKING, Annotated

from typer import Option

from remembrancer.cli import restore_default_gc
from remembrancer.cli.cli_context import CliContext
from remembrancer.cli.terminal import Terminal
from remembrancer.errors import InvalidSetting

if TYPE_CHECKING:
    from remembrancer.assistant.telegram.api import BotApi
    from remembrancer.config import Settings
    from remembrancer.types import Json


def telegram(
    cli: CliContext,
    *,
    webhook: Annotated[
        str | None, Option(metavar="URL", help="Register this URL with Telegram, and exit.")
    ] = None,
) -> None:
    """Run the Telegram bot.

    Set the token of @BotFather as telegram.token in the configuration, or as
    REMEMBRANCER_TELEGRAM__TOKEN in the environment. The bot polls Telegram until Ctrl-C. It answers
    only chats that are linked to an account: see `rem telegram-link`.

    With --webhook, Telegram calls `rem serve` instead, which also needs telegram.webhook_secret.

    \b
    Examples:
      rem telegram
      rem telegram --webhook https://memory.example.org/telegram
    """
    with contextlib.closing(_build_api(cli.settings)) as api:
        if webhook is None:
            _poll(cli, api)
            return
        _set_webhook(cli.settings, api, webhook)
    cli.print_result({"webhook": webhook}, lambda out: out.say(f"Telegram calls {webhook}."))


def _poll(cli: CliContext, api: BotApi) -> None:
    """Answer until Ctrl-C or SIGTERM."""
    from remembrancer.assistant.telegram.polling import poll

    restore_default_gc()
    logging.basicConfig(stream=sys.stderr, format="%(message)s")
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with cli.open_engine(embeds=True) as engine, contextlib.suppress(KeyboardInterrupt):
        poll(engine, api, threading.Event())


def _set_webhook(settings: Settings, api: BotApi, address: str) -> None:
    from remembrancer.assistant.telegram.polling import ALLOWED_UPDATES
    from remembrancer.assistant.telegram.webhook import validate_secret

    secret = settings.telegram.webhook_secret
    if secret is None:
        raise InvalidSetting(
            "telegram.webhook_secret is not set. Choose one, so that only Telegram can call."
        )
    webhook: dict[str, Json] = {
        "url": address,
        "secret_token": validate_secret(secret.get_secret_value()),
    }
    api.call("setWebhook", {**webhook, "allowed_updates": ALLOWED_UPDATES})


def telegram_link(cli: CliContext) -> None:
    """Create a code that links a Telegram chat to a user.

    Send it to the bot as /link CODE. It works once, for ten minutes, and replaces an earlier code.
    The link is a key: `rem key-list` shows it, and `rem key-revoke` removes it.

    \b
    Examples:
      rem telegram-link
      rem telegram-link --user ada
    """
    with cli.open_engine() as engine:
        made = engine.account_links.create_code(cli.memory_of(engine).principal.owner)

    def print_text(out: Terminal) -> None:
        out.say(f"/link {made.code}")
        out.note(f"Send this to the bot before {out.format_time(made.expires_at)}.")

    cli.print_result(made, print_text)


def _build_api(settings: Settings) -> BotApi:
    from remembrancer.assistant.telegram.api import BotApi

    token = settings.telegram.token
    if token is None:
        raise InvalidSetting("telegram.token is not set. Get one from @BotFather.")
    return BotApi(token.get_secret_value(), settings.telegram.url)
