"""A client of Telegram's Bot API that retries calls and splits long messages.

The token is part of every URL, so no error or log line contains a URL or an httpx error.
"""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from remembrancer.assistant.telegram import TelegramUnavailable
from remembrancer.errors import InvalidSetting
from remembrancer.llm.json_answer import parse_json
from remembrancer.retry import RetryPolicy, is_retryable
from remembrancer.types import Json

if TYPE_CHECKING:
    import httpx

TOKEN_PATTERN = re.compile(r"\d+:[A-Za-z0-9_-]{20,}")
MAX_MESSAGE_UNITS = 4096
"""The length of one message in UTF-16 units, which is how Telegram counts."""

DEFAULT_RETRY_POLICY = RetryPolicy(max_retries=6, initial_delay=0.5, max_delay=60.0)
TIMEOUT_SECONDS = 20.0


class BotApi:
    """One bot. Can be used from many threads."""

    def __init__(
        self,
        token: str,
        url: str,
        *,
        retry_policy: RetryPolicy = DEFAULT_RETRY_POLICY,
        timeout_seconds: float = TIMEOUT_SECONDS,
    ) -> None:
        if not TOKEN_PATTERN.fullmatch(token):
            raise InvalidSetting("telegram.token: use the token that @BotFather gave you.")
        import httpx

        self.bot_id = token.partition(":")[0]
        self._address = f"{url.rstrip('/')}/bot{token}/"
        self._retry_policy = retry_policy
        self._timeout_seconds = timeout_seconds
        self._client = httpx.Client(timeout=timeout_seconds)
        self._log_filter = _TokenLogFilter(token)
        logging.getLogger("httpx").addFilter(self._log_filter)

    def call(
        self, method: str, parameters: Mapping[str, Json] | None = None, *, wait: float = 0
    ) -> Json:
        """The result of an API method; `wait` extends the timeout, in seconds, for long polling."""
        for attempt in range(self._retry_policy.max_retries + 1):
            reply = self._attempt(method, parameters or {}, wait)
            match reply:
                case {"ok": True, "result": result}:
                    return result
                case {"ok": False, "error_code": int(code)} if not is_retryable(code):
                    raise _build_error(code)
            if attempt < self._retry_policy.max_retries:
                time.sleep(self._retry_policy.delay_seconds(attempt, _parse_retry_after(reply)))
        raise TelegramUnavailable(
            "Telegram does not answer: check the network and telegram.url.", transient=True
        )

    def send(self, chat: int, text: str, undo: tuple[str, ...] = ()) -> None:
        """Send a text to a chat, in as many messages as needed.

        The last message has an Undo button for each event in `undo`.
        """
        pieces = list(split_message(text))
        for piece in pieces[:-1]:
            self.call("sendMessage", {"chat_id": chat, "text": piece})
        buttons: list[Json] = [[{"text": "Undo", "callback_data": f"undo:{id}"}] for id in undo]
        markup: dict[str, Json] = {"reply_markup": {"inline_keyboard": buttons}} if undo else {}
        for piece in pieces[-1:]:
            self.call("sendMessage", {"chat_id": chat, "text": piece, **markup})

    def find_name(self) -> str | None:
        """The bot's user name, such as "@busybrobot"."""
        match self.call("getMe"):
            case {"username": str(name)}:
                return f"@{name}"
        return None

    def close(self) -> None:
        self._client.close()
        logging.getLogger("httpx").removeFilter(self._log_filter)

    def _attempt(self, method: str, parameters: Mapping[str, Json], wait: float) -> Json:
        """The parsed reply; None if no response arrived."""
        import httpx

        try:
            response = self._client.post(
                self._address + method, json=dict(parameters), timeout=self._timeout_seconds + wait
            )
        except (httpx.UnsupportedProtocol, httpx.InvalidURL, UnicodeError):
            raise InvalidSetting("telegram.url: it must look like https://host.") from None
        except httpx.HTTPError:
            return None
        return _parse_reply(response)


class _TokenLogFilter(logging.Filter):
    """Drops log records of httpx that contain the token."""

    def __init__(self, token: str) -> None:
        super().__init__()
        self._token = token

    def filter(self, record: logging.LogRecord) -> bool:
        return self._token not in record.getMessage()


def split_message(text: str) -> Iterator[str]:
    """The text in pieces that fit into one message, cut between lines or words if possible."""
    rest = text.strip()
    while rest:
        end = _count_fitting_chars(rest)
        if end < len(rest):
            cuts = (rest.rfind("\n", end // 2, end), rest.rfind(" ", end // 2, end))
            end = next((cut for cut in cuts if cut > 0), end)
        yield rest[:end].rstrip()
        rest = rest[end:].lstrip()


def _count_fitting_chars(text: str) -> int:
    units = 0
    for position, character in enumerate(text):
        units += 2 if ord(character) > 0xFFFF else 1
        if units > MAX_MESSAGE_UNITS:
            return position
    return len(text)


def _parse_reply(response: httpx.Response) -> Json:
    try:
        return parse_json(response.text)
    except ValueError:
        return {"ok": False, "error_code": response.status_code if response.is_error else 500}


def _parse_retry_after(reply: Json) -> float | None:
    match reply:
        case {"parameters": {"retry_after": int(seconds)}} if seconds >= 0:
            return float(seconds)
    return None


def _build_error(code: int) -> TelegramUnavailable:
    advice = {
        401: "Telegram does not know the bot: check telegram.token.",
        403: "The user has blocked the bot.",
        404: "Telegram does not know the bot: check telegram.token and telegram.url.",
        409: "Another process reads this bot's messages: stop it.",
    }
    message = advice.get(code, f"Telegram rejected a request ({code}).")
    return TelegramUnavailable(message, transient=False)
