"""How programs of the same person find the server of this machine, and nobody else does."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from remembrancer import whereabouts
from remembrancer.config import Settings
from remembrancer.engine import Remembrancer
from remembrancer.server import running
from remembrancer.whereabouts import Whereabouts


@pytest.fixture
def here() -> Iterator[Whereabouts]:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield Whereabouts("127.0.0.1", listening.getsockname()[1], "rem_key", os.getpid())


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return whereabouts.file({"store": {"path": str(tmp_path)}})


def test_what_is_left_is_found_and_can_be_read_by_nobody_else(
    file: Path, here: Whereabouts
) -> None:
    whereabouts.leave(file, here)

    assert whereabouts.found(file) == here
    assert file.stat().st_mode & 0o777 == 0o600
    assert list(file.parent.iterdir()) == [file]
    assert here.address == f"http://127.0.0.1:{here.port}"


def test_what_others_can_read_or_have_damaged_is_not_trusted(file: Path, here: Whereabouts) -> None:
    whereabouts.leave(file, here)
    file.chmod(0o644)
    assert whereabouts.found(file) is None
    file.chmod(0o600)
    file.write_text('{"host": "127.0.0.1"}')
    assert whereabouts.found(file) is None
    assert whereabouts.found(file.with_name("nothing")) is None


def test_a_server_that_is_gone_is_not_found_whoever_has_its_port_now(
    file: Path, here: Whereabouts
) -> None:
    gone = subprocess.Popen([sys.executable, "-c", "pass"])
    gone.wait()
    whereabouts.leave(file, here._replace(process=gone.pid))
    assert whereabouts.found(file) is None

    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    whereabouts.leave(file, here._replace(port=port))
    assert whereabouts.found(file) is None


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
    assert len({whereabouts.file(one) for one in others}) == len(others)
    defaults = Settings()
    said = {name: getattr(defaults, name) for name in ("tenant", "user", "profile")}
    assert whereabouts.file({"store": store, **said}) == whereabouts.file(others[0])


def test_another_server_in_the_same_place_is_left_alone(file: Path, here: Whereabouts) -> None:
    whereabouts.leave(file, here)
    whereabouts.take_back(file, "rem_of_another")
    assert whereabouts.found(file) == here
    whereabouts.take_back(file, here.key)
    assert not file.exists()


def test_the_key_of_a_server_that_was_killed_opens_nothing_after_the_next_start(
    store: Remembrancer,
) -> None:
    killed, file = running.local_key(store, 1)
    assert store.principal_of(killed) is not None

    key, same = running.local_key(store, 1)

    assert same == file
    assert store.principal_of(killed) is None
    running.Doors(None, key, file).shut(store)
    assert store.principal_of(key) is None
    assert not file.exists()
