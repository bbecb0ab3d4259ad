"""How often and how long to retry a busy endpoint."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    pass


@dataclass(frozen=True, slots=True)
class Patience:
    """How often and how long to wait for a busy endpoint."""

    retries: int = 4
    first_pause: float = 0.5
    longest_pause: float = 20.0

    def pause(self, attempt: int, asked: float | None = None) -> float:
        """Seconds before the next attempt: as the endpoint asked, or twice as long each time."""
        wanted = self.first_pause * 2.0**attempt if asked is None else asked
        return min(wanted, self.longest_pause)


PATIENT = Patience()
