"""How far a transfer is, for whoever wants to know."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from remembrancer.types import Progress


class ProgressCounter:
    """Counts steps, of which there is one per person or team, and pass."""

    def __init__(self, progress: Progress | None = None) -> None:
        self._progress = progress
        self._done = 0
        self._total = 0

    def set_total(self, total: int) -> None:
        """Say how many there will be."""
        self._total = total
        self._report()

    def advance(self) -> None:
        """One more is done."""
        self._done += 1
        self._report()

    def _report(self) -> None:
        if self._progress is not None:
            self._progress(self._done, max(self._done, self._total))
