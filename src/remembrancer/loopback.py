"""What this machine is called by itself. Pure."""

from __future__ import annotations

import ipaddress

LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
"""The names of this machine in an address."""


def is_loopback(host: str) -> bool:
    """Whether only this machine can be meant."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
