"""A process that has few file handles: everyone is served, one after the other, and none leaks.

`REM_LONG=1` serves three thousand people and prints what it takes.
"""

from __future__ import annotations

import os
import resource
import socket
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from statistics import median

import httpx
import pytest

from remembrancer.engine import Remembrancer
from remembrancer.errors import StoreBusy, StoreUnavailable
from tests.faults.test_disk_faults import open_at
from tests.support.http_server import served
from tests.support.limits import apart, few_handles

pytestmark = [
    pytest.mark.feature("A8"),
    pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="nothing counts the handles"),
]

LONG = bool(os.environ.get("REM_LONG"))
PEOPLE = 3000 if LONG else 60
OPEN_FILES = 16


def count_handles() -> int:
    return len(os.listdir("/proc/self/fd"))


def count_memory_pages() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1])


def test_many_people_need_a_bounded_number_of_handles(tmp_path: Path) -> None:
    print(apart(serve_many, tmp_path / "memory", PEOPLE))


def serve_many(place: Path, people: int) -> str:
    with open_at(place, open_files=OPEN_FILES) as store:
        names = [f"user-{number}" for number in range(people)]
        store.for_user("ada").remember("The kettle is red.")
        before, pages = count_handles(), count_memory_pages()
        for name in names:
            store.for_user(name).remember(f"The kettle of {name} is red.")
        cold = [measure(partial(list_all, store, name)) for name in names[:200]]
        warm = [measure(partial(list_all, store, "ada")) for _ in range(51)][1:]
        with ThreadPoolExecutor(20) as pool:
            assert set(pool.map(partial(list_all, store), names)) == {1}
        store.flush()
        handles = count_handles() - before
        assert handles <= OPEN_FILES * 9 + 20
        grown = (count_memory_pages() - pages) * resource.getpagesize() / 1e6
    return (
        f"{people} people: {handles} handles more, {grown:.0f} MB more, a cold person takes "
        f"{median(cold) / median(warm):.1f} times as long as a warm one"
    )


def list_all(store: Remembrancer, name: str) -> int:
    return len(store.for_user(name).list().items)


def measure(call: Callable[[], object]) -> float:
    started = time.perf_counter()
    call()
    return time.perf_counter() - started


def test_forty_at_once_share_few_handles(tmp_path: Path) -> None:
    apart(share_handles, tmp_path / "memory")


def share_handles(place: Path) -> None:
    names = [f"user-{number}" for number in range(40)]
    with open_at(place) as store:
        for name in names:
            store.for_user(name).remember(f"The kettle of {name} is red.")
    with open_at(place) as store:
        store.for_user("ada").remember("The lamp is yellow.")
        with few_handles(30), ThreadPoolExecutor(20) as pool:
            stored = list(pool.map(lambda name: remember(store, name), names))
        assert all(stored)
        for name in names:
            assert len(store.for_user(name).list().items) == 2


def remember(store: Remembrancer, name: str) -> bool:
    return bool(store.for_user(name).remember("The lamp is yellow.").memory.id)


def test_without_any_handle_the_error_says_so_and_it_passes(tmp_path: Path) -> None:
    apart(use_up_handles, tmp_path / "memory")


def use_up_handles(place: Path) -> None:
    with open_at(place) as store:
        for name in ("ada", "bob"):
            store.for_user(name).remember(f"The kettle of {name} is red.")
    with open_at(place) as store:
        with few_handles(0):
            for name in ("bob", "eve"):
                with pytest.raises(StoreBusy, match="ulimit -n") as caught:
                    store.for_user(name).remember("The lamp is yellow.")
                assert "backup" not in str(caught.value)
        assert len(store.for_user("bob").list().items) == 1
        store.for_user("eve").remember("The lamp is yellow.")


def test_a_server_survives_more_connections_than_handles(tmp_path: Path) -> None:
    apart(flood, tmp_path / "memory")


def flood(place: Path) -> None:
    with open_at(place) as store, served(store) as site:
        ada = site.of("ada")
        ada.post("/api/remember", json={"content": "The kettle is red."})
        host, port = "127.0.0.1", int(site.address.rpartition(":")[2])
        lines: list[socket.socket] = []
        with few_handles(60):
            try:
                while True:
                    lines.append(socket.create_connection((host, port), timeout=1))
            except OSError:
                pass
            refused = try_to_remember(ada)
            for line in lines:
                line.close()
        assert refused in (None, 200, 503, 507)
        for _ in range(100):
            if try_to_remember(ada) == 200:
                return
            time.sleep(0.1)
        raise AssertionError("the server does not recover")


def try_to_remember(client: httpx.Client) -> int | None:
    try:
        answer = client.post("/api/remember", json={"content": "The lamp is yellow."}, timeout=10)
    except httpx.TransportError:
        return None
    return 200 if answer.is_success else answer.status_code


def test_the_error_is_one_that_says_it_passes() -> None:
    assert StoreBusy.passes_by_itself
    assert issubclass(StoreBusy, StoreUnavailable)
