"""Learns in a background thread, and runs other small tasks that no reply waits for.

The queue of due sessions is in the store: a session that is not learned from here, because the
process ends or a model is down, stays due for any other process.
"""

from __future__ import annotations

import contextlib
import queue
import threading
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING

from remembrancer.types import Owner, Principal

if TYPE_CHECKING:
    from remembrancer.call import Services
    from remembrancer.learn.pipeline import LearnedBatch

CLOSE_TIMEOUT_SECONDS = 5.0
"""How long `close` waits for the thread; sessions that are unfinished then stay due."""


class Learner:
    """A thread that learns from the due sessions of the owners it is woken for."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._queue: queue.Queue[Callable[[], None] | None] = queue.Queue()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._collectors: list[tuple[Owner, list[LearnedBatch]]] = []

    def wake(self, owner: Owner) -> None:
        """Learn from the owner's due sessions soon; returns at once."""
        self.run_soon(partial(self._learn, owner))

    def run_soon(self, task: Callable[[], None]) -> None:
        """Run a task in the thread; returns at once. Its errors are dropped.

        What woke it is stored, so it is dropped, too, if the process can have no more threads.
        """
        with self._lock, contextlib.suppress(RuntimeError):
            if self._thread is None:
                thread = threading.Thread(target=self._run, name="remembrancer-learn", daemon=True)
                thread.start()
                self._thread = thread
            self._queue.put(task)

    def learn_now(self, owner: Owner, session_id: str, scope: str) -> list[LearnedBatch] | None:
        """Learn from a session in the caller's thread; None if that failed."""
        from remembrancer.learn.pipeline import learn

        call = self._services.build_call(Principal.for_jobs(owner), scope)
        try:
            return list(learn(call, session_id))
        except Exception:  # A failure here must never reach the user's conversation.
            return None

    def drain(self) -> None:
        """Wait until the queue is empty."""
        self._queue.join()

    @contextlib.contextmanager
    def collect(self, owner: Owner) -> Iterator[list[LearnedBatch]]:
        """Yield a list that receives what this thread learns for an owner within the block.

        Results are kept only for a collector, so that a server holds none of them.
        """
        collector: tuple[Owner, list[LearnedBatch]] = (owner, [])
        with self._lock:
            self._collectors.append(collector)
        try:
            yield collector[1]
        finally:
            with self._lock:
                self._collectors = [one for one in self._collectors if one is not collector]

    def close(self) -> None:
        """Stop the thread; waits a few seconds for the work at hand."""
        with self._lock:
            thread, self._thread = self._thread, None
            if thread is not None:
                self._queue.put(None)
        if thread is not None:
            thread.join(CLOSE_TIMEOUT_SECONDS)

    def _run(self) -> None:
        while (task := self._queue.get()) is not None:
            # Sessions stay due; the thread must live on for those who wait for it.
            with contextlib.suppress(Exception):
                task()
            self._queue.task_done()
        self._queue.task_done()

    def _learn(self, owner: Owner) -> None:
        # Loading the extraction rules takes about 100 ms, which every command would pay.
        from remembrancer.learn.queue import learn_due_sessions

        for batch in learn_due_sessions(self._services, Principal.for_jobs(owner)):
            self._hand_back(owner, batch)

    def _hand_back(self, owner: Owner, batch: LearnedBatch) -> None:
        with self._lock:
            for wanted, batches in self._collectors:
                if wanted == owner:
                    batches.append(batch)
