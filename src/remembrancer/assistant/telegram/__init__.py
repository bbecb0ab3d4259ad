"""The assistant on Telegram, for chats that a user has linked to their account.

Unavailable
└── TelegramUnavailable   telegram_unavailable   503   .transient
"""

from __future__ import annotations

from remembrancer.errors import Unavailable

SURFACE = "telegram"


class TelegramUnavailable(Unavailable):
    """A Telegram request failed; `transient` errors can be retried later."""

    code = "telegram_unavailable"

    def __init__(self, message: str, *, transient: bool) -> None:
        super().__init__(message)
        self.transient = transient
