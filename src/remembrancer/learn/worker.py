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
from remembrancer.types import JOBS_SURFACE, Owner, Principal

if TYPE_CHECKING:
    from remembrancer.call import Services

CLOSE_TIMEOUT_SECONDS = 5.0
"""For how many seconds closing waits; what is then not learned stays due."""


class Learner:
    """Learns for whoever wakes it; nothing that happens here reaches those who speak."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._queue: queue.Queue[Owner | None] = queue.Queue()
        self._start_lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def wake(self, owner: Owner) -> None:
        """Say that there is something to learn for someone; returns at once."""
        with self._start_lock:
            self._queue.put(owner)
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._run, name="remembrancer-learn", daemon=True
                )
                self._thread.start()

    def drain(self) -> None:
        """Wait until everyone who was waiting has been learned for."""
        self._queue.join()

    def close(self) -> None:
        """Finish what can be finished in a moment."""
        with self._start_lock:
            thread, self._thread = self._thread, None
            if thread is not None:
                self._queue.put(None)
        if thread is not None:
            thread.join(CLOSE_TIMEOUT_SECONDS)

    def _run(self) -> None:
        from remembrancer.learn.queue import learn_due_sessions

        while (owner := self._queue.get()) is not None:
            with contextlib.suppress(RemembrancerError):  # It stays due.
                learn_due_sessions(self._services, Principal(owner, None, JOBS_SURFACE))
            self._queue.task_done()
        self._queue.task_done()
