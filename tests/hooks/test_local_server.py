"""How programs of the same person find the server of this machine, and nobody else does."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from remembrancer import local_server
from remembrancer.access.login_links import ServerStart
from remembrancer.config import Settings
from remembrancer.engine import Remembrancer
from remembrancer.local_server import LocalServer
from remembrancer.server import run


@pytest.fixture
def here() -> Iterator[LocalServer]:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield LocalServer("127.0.0.1", listening.getsockname()[1], "rem_key", os.getpid())


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return local_server.server_file_path({"store": {"path": str(tmp_path)}})


def test_what_is_left_is_found_and_can_be_read_by_nobody_else(
    file: Path, here: LocalServer
) -> None:
    local_server.write_server_file(file, here)

    assert local_server.find_running(file) == here
    assert file.stat().st_mode & 0o777 == 0o600
    assert list(file.parent.iterdir()) == [file]
    assert here.address == f"http://127.0.0.1:{here.port}"


def test_what_others_can_read_or_have_damaged_is_not_trusted(file: Path, here: LocalServer) -> None:
    local_server.write_server_file(file, here)
    file.chmod(0o644)
    assert local_server.find_running(file) is None
    file.chmod(0o600)
    file.write_text('{"host": "127.0.0.1"}')
    assert local_server.find_running(file) is None
    assert local_server.find_running(file.with_name("nothing")) is None


def test_a_server_that_is_gone_is_not_found_whoever_has_its_port_now(
    file: Path, here: LocalServer
) -> None:
    gone = subprocess.Popen([sys.executable, "-c", "pass"])
    gone.wait()
    local_server.write_server_file(file, here._replace(process=gone.pid))
    assert local_server.find_running(file) is None

    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    local_server.write_server_file(file, here._replace(port=port))
    assert local_server.find_running(file) is None


def test_each_store_person_and_profile_has_a_server_of_its_own(tmp_path: Path) -> None:
    store = {"path": str(tmp_path), "url": None}
    others = [
        {"store": store},
        {"store": store, "user": "ada"},
        {"store": store, "tenant": "acme"},
        {"store": store, "profile": "agents"},
        {"store": {**store, "url": "postgresql://localhost/memory"}},
        {"store": {"path": str(tmp_path / "other")}},
    ]
    assert len({local_server.server_file_path(one) for one in others}) == len(others)
    defaults = Settings()
    said = {name: getattr(defaults, name) for name in ("tenant", "user", "profile")}
    assert local_server.server_file_path({"store": store, **said}) == local_server.server_file_path(
        others[0]
    )


def test_another_server_in_the_same_place_is_left_alone(file: Path, here: LocalServer) -> None:
    local_server.write_server_file(file, here)
    local_server.remove_server_file(file, "rem_of_another")
    assert local_server.find_running(file) == here
    local_server.remove_server_file(file, here.key)
    assert not file.exists()


def test_the_key_of_a_server_that_was_killed_opens_nothing_after_the_next_start(
    store: Remembrancer,
) -> None:
    start = ServerStart.new()
    killed, file = run.publish_local_key(store, 1, start)
    assert store.principal_of(killed) is not None

    key, same = run.publish_local_key(store, 1, start)

    assert same == file
    assert store.principal_of(killed) is None
    run.LocalAccess(start, None, key, file).revoke(store)
    assert store.principal_of(key) is None
    assert not file.exists()
