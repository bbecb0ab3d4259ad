"""A real TCP server in front of another, which drops connections, loses answers, or says no."""

from __future__ import annotations

import socket
import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum, auto
from urllib.parse import urlsplit


class Fault(Enum):
    """What goes wrong on the way."""

    DROP = auto()
    """The request never arrives."""
    LOSE = auto()
    """The request is carried out, and its answer never arrives."""
    HANG = auto()
    """Nothing happens for longer than anyone waits."""


@dataclass
class Way:
    """What is to go wrong with the next requests, and what came along."""

    address: str
    faults: list[Fault | bytes] = field(default_factory=list)
    requests: list[bytes] = field(default_factory=list)
    over: threading.Event = field(default_factory=threading.Event)

    def keys(self) -> list[str]:
        """The Idempotency-Keys of all requests, "" where there is none."""
        return [_header(one, "idempotency-key") for one in self.requests]


def says(status: str, *headers: str, body: str = "") -> bytes:
    """An answer of the way's own."""
    lines = (f"HTTP/1.1 {status}", f"Content-Length: {len(body.encode())}", *headers, "", body)
    return "\r\n".join(lines).encode()


@contextmanager
def unreliable(served: str) -> Iterator[Way]:
    """A way to the server at that address."""
    parts = urlsplit(served)
    assert parts.hostname
    assert parts.port
    beyond = (parts.hostname, parts.port)

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            while request := _message(self.request):
                way.requests.append(request)
                fault = way.faults.pop(0) if way.faults else None
                if fault is Fault.HANG:
                    way.over.wait(20)
                if fault in (Fault.DROP, Fault.HANG):
                    return
                answer = fault if isinstance(fault, bytes) else _passed_on(beyond, request)
                if fault is Fault.LOSE:
                    return
                self.request.sendall(answer)

    class Impatient(socketserver.ThreadingTCPServer):
        daemon_threads = True
        block_on_close = False

    with Impatient(("127.0.0.1", 0), Handler) as server:
        way = Way(f"http://127.0.0.1:{server.server_address[1]}")
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        yield way
        way.over.set()
        server.shutdown()
        thread.join()


def _passed_on(beyond: tuple[str, int], request: bytes) -> bytes:
    with socket.create_connection(beyond, 20) as connection:
        connection.sendall(request)
        return _message(connection)


def _message(connection: socket.socket) -> bytes:
    """One request or answer as a whole; nothing when the other side is gone."""
    received = b""
    while b"\r\n\r\n" not in received:
        if not (more := connection.recv(65536)):
            return b""
        received += more
    head, _, body = received.partition(b"\r\n\r\n")
    length = int(_header(received, "content-length") or 0)
    while len(body) < length:
        body += connection.recv(65536)
    return head + b"\r\n\r\n" + body


def _header(message: bytes, name: str) -> str:
    for line in message.partition(b"\r\n\r\n")[0].decode("latin-1").split("\r\n")[1:]:
        found, _, value = line.partition(":")
        if found.lower() == name:
            return value.strip()
    return ""
