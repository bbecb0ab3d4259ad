"""Runs `rem serve` and other commands as processes."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import httpx

REM = [sys.executable, "-c", "from remembrancer.cli import main; main()"]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def address_of(process: subprocess.Popen[str]) -> tuple[str, str]:
    """Read the address of the server and the login link."""
    assert process.stdout is not None
    listens, browser = process.stdout.readline(), process.stdout.readline()
    address = re.findall(r"http://\S+", listens)[0]
    for _ in range(300):
        try:
            httpx.get(f"{address}/healthz", trust_env=False)
            break
        except httpx.TransportError:
            time.sleep(0.1)
    return address, re.findall(r"http://\S+", browser)[0]


def follow_login_link(browser: httpx.Client, link: str) -> httpx.Response:
    """Do what the page of a login link does: post the code that stands behind the #."""
    page, _, code = link.partition("#")
    assert browser.get(page).status_code == 200
    return browser.post(page, data={"code": code}, headers={"Origin": page.rpartition("/")[0]})


@contextmanager
def running(
    *command: str, environment: Mapping[str, str] | None = None
) -> Iterator[subprocess.Popen[str]]:
    """Run `rem …` until the block is left."""
    given = {**os.environ, **(environment or {})}
    # A pipe that nobody reads would stop the server once it is full of its log.
    with tempfile.TemporaryFile("w+", encoding="utf-8") as log:
        with subprocess.Popen(
            [*REM, *command], env=given, stdout=subprocess.PIPE, stderr=log, text=True
        ) as process:
            try:
                yield process
            finally:
                process.terminate()
                process.wait(60)
        log.seek(0)
        told = log.read()
    assert "Traceback" not in told, told


def complete(*command: str) -> str:
    """Run `rem …` to its end; returns what it printed."""
    ended = subprocess.run([*REM, *command], capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout
