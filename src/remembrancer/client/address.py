"""Where a server is, and the addresses below it. Pure."""

from __future__ import annotations

from urllib.parse import quote, urlsplit

from remembrancer.errors import InvalidInput
from remembrancer.local_server import is_loopback
from remembrancer.types import validate_name


def validate_address(url: str, *, insecure: bool) -> str:
    """The address of a server to which a key may be sent."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        host = None
    if host is None or parts.scheme not in ("http", "https"):
        raise InvalidInput("Give the server's address as https://memory.example.org.")
    if parts.username is not None or parts.query or parts.fragment:
        raise InvalidInput("Give the server's address alone, and the key beside it.")
    if parts.scheme == "http" and not (insecure or is_loopback(host)):
        raise InvalidInput(
            "Over http anyone on the way can read the key: use https, or say insecure=True."
        )
    return url.rstrip("/")


def build_path(*names: str) -> str:
    """An address below the server, made of names that may hold anything but a slash."""
    return "".join(f"/{_quote_segment(name)}" for name in names)


def _quote_segment(name: str) -> str:
    name = validate_name(name, "name")
    if "/" in name:
        raise InvalidInput("A server cannot be asked for a name with a slash in it.")
    # A dot alone would mean this folder, two the one above.
    return quote(name, safe="").replace(".", "%2E")
