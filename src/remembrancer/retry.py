"""How often and how long to retry a busy endpoint."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    pass


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often and how long to wait for a busy endpoint."""

    max_retries: int = 4
    initial_delay: float = 0.5
    max_delay: float = 20.0

    def delay_seconds(self, attempt: int, retry_after: float | None = None) -> float:
        """Seconds before the next attempt: as the endpoint asked, or twice as long each time."""
        wanted = self.initial_delay * 2.0**attempt if retry_after is None else retry_after
        return min(wanted, self.max_delay)


DEFAULT_RETRY_POLICY = RetryPolicy()
