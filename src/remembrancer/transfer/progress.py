"""Reports the progress of a backup, restore or move."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from remembrancer.types import Progress


class ProgressCounter:
    """Counts steps; each pass over a person or team is one step."""

    def __init__(self, progress: Progress | None = None) -> None:
        self._progress = progress
        self._done = 0
        self._total = 0

    def set_total(self, total: int) -> None:
        self._total = total
        self._report()

    def advance(self) -> None:
        self._done += 1
        self._report()

    def _report(self) -> None:
        if self._progress is not None:
            self._progress(self._done, max(self._done, self._total))
