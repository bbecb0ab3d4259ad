"""The verbs about Telegram: run the bot, and link a chat to a person."""

from __future__ import annotations

import contextlib
import logging
import signal
import sys
import threading
from typing import TYPE_CHECKING, Annotated

import typer

from remembrancer.cli import restore_default_gc
from remembrancer.cli.cli_context import CliContext
from remembrancer.cli.terminal import Terminal
from remembrancer.errors import InvalidSetting

if TYPE_CHECKING:
    from remembrancer.assistant.telegram.api import BotApi
    from remembrancer.config import Settings
    from remembrancer.types import Json


def telegram(
    context: typer.Context,
    *,
    webhook: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Have Telegram call this address, and leave."),
    ] = None,
) -> None:
    """Talk with people on Telegram, as a bot.

    The token of @BotFather comes from telegram.token in the configuration, or from the environment
    as REMEMBRANCER_TELEGRAM__TOKEN. It asks Telegram for messages until Ctrl-C. Only chats that
    were linked to an account are answered: see rem telegram-link.

    With --webhook, Telegram calls rem serve instead, which needs telegram.webhook_secret too.

    \b
    Examples:
      rem telegram
      rem telegram --webhook https://memory.example.org/telegram
    """
    cli: CliContext = context.obj
    with contextlib.closing(_build_api(cli.settings)) as api:
        if webhook is None:
            _poll(cli, api)
            return
        _set_webhook(cli.settings, api, webhook)
    cli.print_result({"webhook": webhook}, lambda out: out.say(f"Telegram calls {webhook}."))


def _poll(cli: CliContext, api: BotApi) -> None:
    """Answer until Ctrl-C, or until the process is told to end."""
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
        raise InvalidSetting("telegram.webhook_secret: choose one, so that only they can call.")
    told: dict[str, Json] = {
        "url": address,
        "secret_token": validate_secret(secret.get_secret_value()),
    }
    api.call("setWebhook", {**told, "allowed_updates": ALLOWED_UPDATES})


def telegram_link(context: typer.Context) -> None:
    """Make a code that links a Telegram chat to a person.

    Send it to the bot as /link CODE. It is good once, for ten minutes, and takes the place of an
    earlier one. The link is a key: rem key-list shows it, rem key-revoke ends it.

    \b
    Examples:
      rem telegram-link
      rem telegram-link --user ada
    """
    cli: CliContext = context.obj
    with cli.open_engine() as engine:
        made = engine.account_links.create_code(
            engine.for_user(cli.user, tenant=cli.tenant, surface="cli").principal.owner
        )

    def print_text(out: Terminal) -> None:
        out.say(f"/link {made.code}")
        out.note(f"Send this to the bot before {out.format_time(made.expires_at)}.")

    cli.print_result(made, print_text)


def _build_api(settings: Settings) -> BotApi:
    from remembrancer.assistant.telegram.api import BotApi

    token = settings.telegram.token
    if token is None:
        raise InvalidSetting("telegram.token: get one from @BotFather, and set it.")
    return BotApi(token.get_secret_value(), settings.telegram.url)
