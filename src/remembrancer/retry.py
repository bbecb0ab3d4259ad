"""Retry rules for HTTP endpoints, and the error messages that go with them.

Used by every client: language models, embeddings, Telegram and our own server.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

UNAUTHORIZED = (401, 403)
PAYMENT_REQUIRED = 402
REQUEST_TIMEOUT = 408
TOO_MANY_REQUESTS = 429


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Exponential backoff: the delay doubles with each attempt, up to `max_delay` seconds."""

    max_retries: int = 4
    initial_delay: float = 0.5
    max_delay: float = 20.0

    def delay_seconds(self, attempt: int, retry_after: float | None = None) -> float:
        """The seconds to wait after a failed attempt; `retry_after` replaces the backoff."""
        delay = self.initial_delay * 2.0**attempt if retry_after is None else retry_after
        return min(delay, self.max_delay)


DEFAULT_RETRY_POLICY = RetryPolicy()


def is_retryable(status: int) -> bool:
    """True for a timeout, a rate limit and any server error."""
    return status in (REQUEST_TIMEOUT, TOO_MANY_REQUESTS) or status >= 500


def parse_retry_after(headers: Mapping[str, str]) -> float | None:
    """The seconds in a Retry-After header; None for a date or anything else.

    A plain dict must have lower-case keys.
    """
    try:
        seconds = float(headers.get("retry-after", ""))
    except ValueError:
        return None
    return seconds if math.isfinite(seconds) and seconds >= 0 else None


def is_sendable_key(key: str) -> bool:
    """True if an HTTP header can carry the key: not empty, visible ASCII only."""
    return bool(key) and key.isascii() and key.isprintable() and " " not in key


@dataclass(frozen=True, slots=True)
class EndpointMessages:
    """Error messages about an endpoint. They never quote the key, the request or the response.

    `name` says what the endpoint serves, such as "model" or "embedding".
    """

    name: str

    def invalid_key(self) -> str:
        return (
            f"The {self.name} key is empty or contains a space, a line break or another character "
            "that cannot be sent: copy it again."
        )

    def invalid_url(self) -> str:
        return f"The {self.name} url cannot be used: it must look like https://host/v1."

    def unreachable(self, error_name: str) -> str:
        return (
            f"The {self.name} endpoint could not be reached ({error_name}): "
            f"check that it is running and that the {self.name} url is right."
        )

    def rejected(self, status: int) -> str:
        return f"The {self.name} endpoint {self._explain_status(status)}"

    def _explain_status(self, status: int) -> str:
        if status in UNAUTHORIZED:
            return f"rejected the key ({status}): check the {self.name} key."
        if status == PAYMENT_REQUIRED:
            return f"requires payment ({status}): top up the account."
        if status == TOO_MANY_REQUESTS:
            return f"is over its rate limit ({status}): wait, or raise your quota."
        if is_retryable(status):
            return f"keeps failing ({status}): try again later."
        return f"rejected the request ({status}): check the {self.name} url and the model's name."
