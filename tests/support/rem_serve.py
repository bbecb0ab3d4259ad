"""Starts `rem serve` as a process."""

from __future__ import annotations

import re
import socket
import subprocess
import sys
import time

import httpx

REM = [sys.executable, "-c", "from remembrancer.cli import main; main()"]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def address_of(process: subprocess.Popen[str]) -> tuple[str, str]:
    """Read the address of the server and the login URL."""
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
