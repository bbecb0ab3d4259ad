"""Streams chat answers from worker threads to async responses."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

MAX_CONCURRENT_ANSWERS = 32

LineStream = Generator[str, None, None]


class AnswerStreamer:
    """Runs answers in a thread pool and streams their lines."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(MAX_CONCURRENT_ANSWERS, "chat")
        self._closed = threading.Event()

    async def stream(self, lines: LineStream) -> AsyncIterator[str]:
        """Yield lines as they are produced; stops the producer when the client disconnects."""
        loop = asyncio.get_running_loop()
        queue: asyncio.Queue[str | Exception | None] = asyncio.Queue()
        disconnected = threading.Event()

        def send(line: str | Exception | None) -> None:
            loop.call_soon_threadsafe(queue.put_nowait, line)

        def produce() -> None:
            try:
                with closing(lines):
                    for line in lines:
                        send(line)
                        if disconnected.is_set() or self._closed.is_set():
                            break
                send(None)
            except Exception as error:  # The consumer raises it, where errors are handled.
                send(error)

        self._threads.submit(produce)
        try:
            while (line := await queue.get()) is not None:
                if isinstance(line, Exception):
                    raise line
                yield line
        finally:
            disconnected.set()

    def close(self) -> None:
        """Stop all answers; the parts that were streamed are stored."""
        self._closed.set()
        self._threads.shutdown()
