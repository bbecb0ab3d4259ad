"""The address and key of this machine's running server, in a file that only its owner can read.

The person's other programs find the server by it without opening the store. It must stay cheap to
import.
"""

from __future__ import annotations

import hashlib
import ipaddress
import json
import os
import socket
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from remembrancer import environment

if TYPE_CHECKING:
    from remembrancer.types import Json

CONNECT_TIMEOUT_SECONDS = 1.0


class LocalServer(NamedTuple):
    """A running server, a key to its owner's memory, its process id, and the id of its start."""

    host: str
    port: int
    key: str
    process: int
    start: str = ""

    @property
    def address(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}"


def server_file_path(settings: Mapping[str, Json]) -> Path:
    """The file for the store, person and profile that the settings name."""
    store = settings.get("store")
    store_settings = store if isinstance(store, dict) else {}
    path, url = store_settings.get("path"), store_settings.get("url")
    folder = environment.data_directory(str(path) if path else None)
    identity = [settings.get(field) or default for field, default in environment.DEFAULTS.items()]
    name = json.dumps([url or str(folder.absolute()), *identity])
    return folder / f"server-{hashlib.sha256(name.encode()).hexdigest()[:16]}.json"


def write_server_file(file: Path, server: LocalServer) -> None:
    """Write the file, readable by its owner only."""
    draft = file.with_suffix(f".{server.process}")
    with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as out:
        json.dump(server._asdict(), out)
    os.replace(draft, file)


def read_server_file(file: Path) -> LocalServer | None:
    """The file's content, even if the server has stopped; None if there is none."""
    try:
        return LocalServer(**json.loads(file.read_text("utf-8")))
    except (OSError, ValueError, TypeError):
        return None


def find_running(file: Path) -> LocalServer | None:
    """The running server; None if others can read its file, or if its process is gone."""
    server = read_server_file(file)
    if server is None or not (_is_private(file) and _is_running(server.process)):
        return None
    try:
        socket.create_connection((server.host, server.port), CONNECT_TIMEOUT_SECONDS).close()
    except OSError:
        return None
    return server


def remove_server_file(file: Path, key: str) -> None:
    """Remove the file unless another server has replaced it."""
    server = read_server_file(file)
    if server is not None and server.key == key:
        file.unlink(missing_ok=True)


def _is_private(file: Path) -> bool:
    if sys.platform == "win32":
        return True
    status = file.stat()
    return status.st_uid == os.getuid() and not status.st_mode & 0o077


def _is_running(process: int) -> bool:
    """False if the process is gone: its key must not be sent to the next owner of its port."""
    if sys.platform == "win32":  # where the same call would end it
        return True
    try:
        os.kill(process, 0)
    except OSError:
        return False
    return True


LOOPBACK_HOSTS = ("localhost", "127.0.0.1", "[::1]")
"""The names of this machine in a URL."""


def is_loopback(host: str) -> bool:
    """True if the host can only be this machine."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
