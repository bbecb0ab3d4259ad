"""Connections that wait are closed in time, and too many of them shut nobody out.

Raw sockets against `rem serve` as a process, with short timeouts.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from typing import Any

import httpx
import pytest

import remembrancer
from tests.support.rem_serve import REM, address_of, free_port

Begin = Callable[..., "Process"]
PATIENCE = 60.0


class Process:
    """A running server and a key to it."""

    def __init__(self, process: subprocess.Popen[str], key: str) -> None:
        self.process = process
        self.address = address_of(process)[0]
        self.headers = {"Authorization": f"Bearer {key}"}
        self._host, _, port = self.address.removeprefix("http://").partition(":")
        self._port = int(port)

    def connect(self, sent: bytes = b"") -> socket.socket:
        line = socket.create_connection((self._host, self._port), timeout=PATIENCE)
        line.sendall(sent)
        return line

    def is_alive(self) -> bool:
        return httpx.get(f"{self.address}/healthz", trust_env=False, timeout=PATIENCE).is_success

    def answers(self) -> bool:
        url = f"{self.address}/api/me"
        return httpx.get(url, headers=self.headers, trust_env=False, timeout=PATIENCE).is_success

    def handles(self) -> int:
        return len(list(Path(f"/proc/{self.process.pid}/fd").iterdir()))


@pytest.fixture
def begin(tmp_path: Path) -> Iterator[Begin]:
    """Start `rem serve` with some settings, and with as many file handles as asked for."""
    with ExitStack() as running:

        def start(handles: int = 1024, **settings: Any) -> Process:
            place = str(tmp_path / "store")
            with remembrancer.open(place) as store:
                key = store.create_key("ada").secret
            names = {f"REMEMBRANCER_SERVER__{name.upper()}": str(v) for name, v in settings.items()}
            command = [*REM, "--store", place, "serve", "--port", str(free_port())]
            process = subprocess.Popen(
                ["/bin/sh", "-c", f'ulimit -n {handles}; exec "$@"', "sh", *command],
                env={**os.environ, "REMEMBRANCER_JOBS__LEARN": "", **names},
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            running.callback(_end, process)
            return Process(process, key)

        yield start


def _end(process: subprocess.Popen[str]) -> None:
    process.send_signal(signal.SIGINT)
    _, log = process.communicate(timeout=PATIENCE)
    assert "Traceback" not in log, log


def received(line: socket.socket) -> bytes:
    """Everything until the server closes the connection."""
    told = b""
    with closing(line):
        try:
            while more := line.recv(65_536):
                told += more
        except ConnectionResetError:
            pass
    return told


HALF = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Slow: "


def test_connections_that_ask_for_nothing_are_closed(begin: Begin) -> None:
    server = begin(header_timeout_seconds=0.7, idle_timeout_seconds=0.7)
    before = server.handles()
    silent = [server.connect() for _ in range(5)]
    half = [server.connect(HALF) for _ in range(5)]
    idle = [server.connect(HALF + b"\r\n\r\n") for _ in range(5)]
    empty_lines = [server.connect(HALF + b"\r\n\r\n") for _ in range(5)]
    for line in empty_lines:
        line.sendall(b"\r\n")
    assert [received(line) for line in silent] == [b""] * 5
    assert {received(line).partition(b"\r\n")[0] for line in half} == {
        b"HTTP/1.1 408 Request Timeout"
    }
    for line in (*idle, *empty_lines):
        told = received(line)
        assert told.startswith(b"HTTP/1.1 200")
        assert told.count(b"HTTP/1.1") == 1
    assert server.is_alive()
    assert server.handles() <= before + 2


def test_dripping_headers_do_not_prolong_the_time(begin: Begin) -> None:
    server = begin(header_timeout_seconds=0.5)
    line = server.connect(HALF)
    dripped = 0
    try:
        while dripped < 200:
            line.sendall(b"x")
            dripped += 1
            time.sleep(0.05)
    except (BrokenPipeError, ConnectionResetError):
        pass
    line.close()
    assert dripped < 200


def test_a_second_request_has_as_little_time_as_the_first(begin: Begin) -> None:
    server = begin(header_timeout_seconds=0.5, idle_timeout_seconds=30)
    told = received(server.connect(HALF + b"\r\n\r\n" + HALF))
    assert told.startswith(b"HTTP/1.1 200")
    assert b"HTTP/1.1 408" in told
    line = server.connect(HALF + b"\r\n\r\n")
    assert line.recv(65_536).startswith(b"HTTP/1.1 200")
    line.sendall(HALF)
    assert b"408" in received(line)


def test_endless_headers_are_refused(begin: Begin) -> None:
    server = begin(header_timeout_seconds=60)
    with closing(server.connect(HALF)) as line, suppress(BrokenPipeError, ConnectionResetError):
        for _ in range(100_000):
            line.sendall(b"x" * 10_000)
        pytest.fail("the headers never end")
    assert server.answers()


def test_a_request_may_take_longer_than_the_timeouts(begin: Begin) -> None:
    server = begin(header_timeout_seconds=0.5, idle_timeout_seconds=0.5, body_timeout_seconds=30)
    body = b'{"content": "Ada drinks tea."}'
    head = (
        f"POST /api/remember HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        f"Authorization: {server.headers['Authorization']}\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    line = server.connect(head.encode())
    time.sleep(1.2)
    line.sendall(body)
    assert received(line).startswith(b"HTTP/1.1 200")


def test_who_reads_no_answer_is_not_waited_for(begin: Begin) -> None:
    server = begin(send_timeout_seconds=1)
    before = server.handles()
    asks = b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n"
    deaf = []
    for _ in range(3):
        line = socket.socket()
        line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        line.connect(("127.0.0.1", int(server.address.rpartition(":")[2])))
        line.sendall(asks * 40)
        deaf.append(line)
    ended = time.monotonic() + PATIENCE
    while server.handles() > before + 1 and time.monotonic() < ended:
        time.sleep(0.1)
    assert server.handles() <= before + 1
    for line in deaf:
        line.close()


def test_waiting_connections_shut_nobody_out(begin: Begin) -> None:
    server = begin(handles=96, header_timeout_seconds=60, idle_timeout_seconds=60)
    with ExitStack() as lines:
        for _ in range(150):
            lines.enter_context(closing(server.connect(HALF)))
        assert server.is_alive()
        assert server.answers()
        assert server.handles() < 96


def test_one_address_takes_no_more_than_its_share(begin: Begin) -> None:
    server = begin(max_connections=40, max_connections_per_address=4, header_timeout_seconds=60)
    before = server.handles()
    with ExitStack() as lines:
        for _ in range(20):
            lines.enter_context(closing(server.connect(HALF)))
        assert server.answers()
        assert server.handles() <= before + 6


def test_beside_busy_connections_the_server_is_alive(begin: Begin) -> None:
    server = begin(max_connections=4, max_connections_per_address=4)
    head = (
        "POST /api/remember HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n"
        f"Authorization: {server.headers['Authorization']}\r\n\r\n"
    )
    with ExitStack() as lines:
        for _ in range(4):
            lines.enter_context(closing(server.connect(head.encode())))
        time.sleep(0.5)
        assert server.is_alive()
        url = f"{server.address}/api/me"
        refused = httpx.get(url, headers=server.headers, trust_env=False, timeout=PATIENCE)
        assert refused.status_code == 503
        assert refused.headers["retry-after"]
    assert server.answers()
