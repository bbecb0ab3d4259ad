"""The assistant on Telegram: for chats that a person has linked to their account, and no other.

Unavailable
└── TelegramUnavailable   telegram_unavailable   503   .passing
"""

from __future__ import annotations

from remembrancer.errors import Unavailable

SURFACE = "telegram"


class TelegramUnavailable(Unavailable):
    """Telegram did not do what it was asked; `passing` says whether a later try may succeed."""

    code = "telegram_unavailable"

    def __init__(self, message: str, *, transient: bool) -> None:
        super().__init__(message)
        self.transient = transient
