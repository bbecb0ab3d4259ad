"""Validates the address of a server and builds paths below it."""

from __future__ import annotations

from urllib.parse import quote, urlsplit

from remembrancer.errors import InvalidInput
from remembrancer.local_server import is_loopback
from remembrancer.types import validate_name


def validate_address(url: str, *, insecure: bool) -> str:
    """Return the address without a final slash; raises `InvalidInput` if a key is unsafe there."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        host = None
    if host is None or parts.scheme not in ("http", "https"):
        raise InvalidInput("Give the server's address as https://memory.example.org.")
    if parts.username is not None or parts.query or parts.fragment:
        raise InvalidInput("Give the address of the server without a user, query or fragment.")
    if parts.scheme == "http" and not (insecure or is_loopback(host)):
        raise InvalidInput("Over http, others can read the key: use https, or set insecure=True.")
    return url.rstrip("/")


def build_path(*names: str, slashes: bool = False) -> str:
    """Return the URL path of some names; raises `InvalidInput` for a slash, unless it may be."""
    return "".join(f"/{_quote_segment(name, slashes)}" for name in names)


def _quote_segment(name: str, slashes: bool) -> str:
    name = validate_name(name, "name")
    if "/" in name and not slashes:
        raise InvalidInput("A server cannot look up a name that contains a slash.")
    # Clients resolve the segments "." and "..", so dots are escaped.
    return quote(name, safe="").replace(".", "%2E")
