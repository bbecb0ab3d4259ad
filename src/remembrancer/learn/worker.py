"""Learning in the background: one thread that works off what is due, and leaves it due if it fails.

The queue is in the store: whatever is not learned here, because the process ends or a model is
down, is learned by whoever looks next.
"""

from __future__ import annotations

import contextlib
import queue
import threading
from typing import TYPE_CHECKING

from remembrancer.errors import RemembrancerError
from remembrancer.types import JOBS, Owner, Principal

if TYPE_CHECKING:
    from remembrancer.call import Parts

PATIENCE = 5.0
"""For how many seconds closing waits; what is then not learned stays due."""


class Learner:
    """Learns for whoever wakes it; nothing that happens here reaches those who speak."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._waiting: queue.Queue[Owner | None] = queue.Queue()
        self._starting = threading.Lock()
        self._thread: threading.Thread | None = None

    def wake(self, owner: Owner) -> None:
        """Say that there is something to learn for someone; returns at once."""
        with self._starting:
            self._waiting.put(owner)
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._work, name="remembrancer-learn", daemon=True
                )
                self._thread.start()

    def drain(self) -> None:
        """Wait until everyone who was waiting has been learned for."""
        self._waiting.join()

    def close(self) -> None:
        """Finish what can be finished in a moment."""
        with self._starting:
            thread, self._thread = self._thread, None
            if thread is not None:
                self._waiting.put(None)
        if thread is not None:
            thread.join(PATIENCE)

    def _work(self) -> None:
        from remembrancer.learn.queue import learn_what_is_due

        while (owner := self._waiting.get()) is not None:
            with contextlib.suppress(RemembrancerError):  # It stays due.
                learn_what_is_due(self._parts, Principal(owner, None, JOBS))
            self._waiting.task_done()
        self._waiting.task_done()
