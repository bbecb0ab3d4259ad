"""A POST whose answer is read while it comes: server-sent events, with a deadline for them all.

Knows no protocol beyond that. What is asked again is only what has not begun to be answered.
"""

from __future__ import annotations

import asyncio
import contextlib
import queue
import threading
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from remembrancer.llm import ModelMisspoke, ModelUnavailable
from remembrancer.llm.http import Line, Reply, asked_pause, encoded, read, unreached, unusable
from remembrancer.llm.json_answer import loaded
from remembrancer.types import Json

if TYPE_CHECKING:
    import httpx

LARGEST = 8_000_000
"""Of a stream, in bytes: each word of an answer comes in an envelope of its own."""

DATA = b"data:"
DONE = "[DONE]"
TIMEOUT = TimeoutError.__name__


class TurnedDown(Exception):
    """The endpoint would not answer; `reply` says why."""

    def __init__(self, reply: Reply) -> None:
        super().__init__(reply.status)
        self.reply = reply


@dataclass(frozen=True, slots=True)
class Broken:
    """An answer ended before its end, by an error of this kind."""

    kind: str


Piece = str | Reply | Broken | ModelUnavailable | ModelMisspoke | None
"""The data of an event; what there is instead of events; what went wrong; the end."""


def events(line: Line, body: Mapping[str, Json]) -> Iterator[Json]:
    """The events of an answer. TurnedDown when the endpoint refuses for good."""
    content = encoded(body)
    for attempt in range(line.patience.retries + 1):
        with _Listening(line, content) as heard:
            first = heard.get()
            if not _may_pass(first) or attempt == line.patience.retries:
                yield from _told(first, heard)
                return
        assert isinstance(first, Reply | Broken)
        said = first if isinstance(first, Reply) else first.kind
        time.sleep(line.patience.pause(attempt, asked_pause(said)))


def _may_pass(first: Piece) -> bool:
    """Whether to ask again at once; whoever waited for a whole answer in vain does not want to."""
    if isinstance(first, Broken):
        return first.kind != TIMEOUT
    return isinstance(first, Reply) and first.may_pass


def _told(piece: Piece, heard: _Listening) -> Iterator[Json]:
    while piece is not None:
        match piece:
            case str():
                if piece != DONE:
                    yield _event(piece)
            case Reply():
                raise TurnedDown(piece)
            case Broken():
                raise unreached(piece.kind)
            case error:
                raise error
        piece = heard.get()


def _event(data: str) -> Json:
    try:
        return loaded(data)
    except ValueError:
        raise ModelMisspoke(
            "The model's endpoint sent an event that is no JSON: check the model url."
        ) from None


class _Listening:
    """One answer, read in a thread of its own: a deadline ends it there, and leaving it does too.

    Whoever waits for the next piece can be interrupted, as by Ctrl-C.
    """

    def __init__(self, line: Line, content: bytes) -> None:
        self._line = line
        self._content = content
        self._pieces: queue.SimpleQueue[Piece] = queue.SimpleQueue()
        self._left = False
        self._loop = asyncio.new_event_loop()
        self._reading = self._loop.create_task(self._read())
        self._thread = threading.Thread(target=self._work, name="remembrancer-answer", daemon=True)

    def get(self) -> Piece:
        """The next piece, None at the end."""
        return self._pieces.get()

    def __enter__(self) -> _Listening:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._left = True
        with contextlib.suppress(RuntimeError):  # It is over already.
            self._loop.call_soon_threadsafe(self._reading.cancel)
        self._thread.join()

    def _work(self) -> None:
        try:
            try:
                self._loop.run_until_complete(self._reading)
            except asyncio.CancelledError:
                if not self._left:
                    self._pieces.put(Broken(TIMEOUT))
            self._loop.run_until_complete(self._loop.shutdown_asyncgens())
        finally:
            self._pieces.put(None)
            self._loop.close()

    async def _read(self) -> None:
        import httpx

        try:
            async with self._line.opened(self._content) as response:
                if not 200 <= response.status_code < 300:
                    self._pieces.put(await read(response))
                    return
                async for data in _data(response):
                    self._pieces.put(data)
        except (
            httpx.UnsupportedProtocol,
            httpx.LocalProtocolError,
            httpx.InvalidURL,
            UnicodeError,
        ):
            self._pieces.put(unusable())
        except ModelMisspoke as error:
            self._pieces.put(error)
        except (httpx.RequestError, OSError) as error:
            self._pieces.put(Broken(type(error).__name__))


async def _data(response: httpx.Response) -> AsyncIterator[str]:
    """What each event holds; a server that does not stream sends all of it as one."""
    streams = "json" not in response.headers.get("content-type", "")
    size, rest = 0, b""
    async for piece in response.aiter_bytes():
        size += len(piece)
        if size > LARGEST:
            raise ModelMisspoke("The model answered with more than 8 MB: try another model.")
        rest += piece
        if streams:
            *lines, rest = rest.split(b"\n")
            for line in lines:
                if line.startswith(DATA):
                    yield line.removeprefix(DATA).decode("utf-8", "replace").strip()
    last = rest.removeprefix(DATA).decode("utf-8", "replace").strip()
    if last and (not streams or rest.startswith(DATA)):
        yield last
