"""Answers that are told while they are made: each in a thread of its own, until nobody listens."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

MAX_CONCURRENT_ANSWERS = 32

LineStream = Generator[str, None, None]


class AnswerStreamer:
    """The threads in which answers are made."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(MAX_CONCURRENT_ANSWERS, "chat")
        self._closed = threading.Event()

    async def stream(self, lines: LineStream) -> AsyncIterator[str]:
        """Tell lines as they come; whoever stops listening stops them."""
        loop = asyncio.get_running_loop()
        heard: asyncio.Queue[str | Exception | None] = asyncio.Queue()
        left = threading.Event()

        def tell(line: str | Exception | None) -> None:
            loop.call_soon_threadsafe(heard.put_nowait, line)

        def talk() -> None:
            try:
                with closing(lines):
                    for line in lines:
                        tell(line)
                        if left.is_set() or self._closed.is_set():
                            break
                tell(None)
            except Exception as error:  # whoever listens is told, where errors are dealt with
                tell(error)

        self._threads.submit(talk)
        try:
            while (line := await heard.get()) is not None:
                if isinstance(line, Exception):
                    raise line
                yield line
        finally:
            left.set()

    def close(self) -> None:
        """Stop every answer; what was said until then is kept."""
        self._closed.set()
        self._threads.shutdown()
