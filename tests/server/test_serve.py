"""`rem serve` as a real process: its address, its shutdown and the settings that it refuses."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

import remembrancer
from remembrancer import local_server
from remembrancer.config import ServerSettings, Settings
from remembrancer.server import run
from tests.support.rem_serve import REM, address_of, follow_login_link, free_port

Start = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    return {
        **{name: value for name, value in os.environ.items() if "REMEMBRANCER" not in name},
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
        "XDG_DATA_HOME": str(tmp_path / "data"),
        "REMEMBRANCER_JOBS__LEARN": "",
    }


@pytest.fixture
def start(environment: dict[str, str], place: str) -> Iterator[Start]:
    """Start `rem serve` on the store of this test; teardown ends processes that still run."""
    started: list[subprocess.Popen[str]] = []

    def run(*options: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [*REM, "--store", place, "--tenant", "x", "serve", *options],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        return process

    yield run
    for one in started:
        if one.poll() is None:
            one.kill()
        one.communicate()


def test_it_lets_a_browser_in_and_stops_without_losing_anything(
    start: Start, place: str, tmp_path: Path
) -> None:
    process = start("--port", str(free_port()))
    address, entrance = address_of(process)
    (left,) = tmp_path.rglob("server-*.json")
    here = local_server.find_running(left)
    assert here is not None, "other programs of the same person find it"
    assert here.address == address
    own_key = {"Authorization": f"Bearer {here.key}"}
    assert httpx.get(f"{address}/api/me", headers=own_key, trust_env=False).json()["tenant"] == "x"
    with httpx.Client(trust_env=False, follow_redirects=True, timeout=60) as browser:
        assert follow_login_link(browser, entrance).url.path == "/memory"
        assert follow_login_link(browser, entrance).status_code == 401, "the link works once"
        assert browser.get(f"{address}/api/me").json()["user"] == "me"
        own = {"Origin": address}
        said = {"content": f"Tea number {process.pid} is hot."}
        kept = browser.post(f"{address}/api/remember", json=said, headers=own).json()["memory"]
        browser.post(f"{address}/api/recall", json={"query": "tea"}, headers=own)
        told = browser.get(f"{address}/metrics").text
        collections = re.findall(r'gc_collections_total{generation="0"} (\S+)', told)
        assert float(collections[0]) > 60, "unlike commands that end soon, it collects its garbage"

        process.send_signal(signal.SIGTERM)
        _, log = process.communicate(timeout=60)

    assert "Traceback" not in log
    with remembrancer.open(place, settings=Settings(tenant="x")) as store:
        found = store.for_user("me").get(kept["id"])
        assert found.content == said["content"]
        assert found.recall_count == 1
        assert store.principal_of(here.key) is None
    assert not left.exists()


def test_an_answer_waits_for_nothing_to_be_added_to_it() -> None:
    with run.bind_socket(ServerSettings(port=free_port())) as listening:
        assert listening.proto == socket.IPPROTO_TCP, "asyncio asks for that before TCP_NODELAY"


@pytest.mark.parametrize("place", ["sqlite"], indirect=True)
def test_a_port_that_is_taken_is_told(start: Start) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        process = start("--port", str(other.getsockname()[1]))
        _, told = process.communicate(timeout=60)
    assert process.returncode == 2
    assert "Cannot listen on" in told
    assert "--port" in told


@pytest.mark.parametrize("place", ["sqlite"], indirect=True)
def test_beyond_this_machine_nobody_listens_without_keys(start: Start) -> None:
    process = start("--host", "0.0.0.0", "--port", str(free_port()))
    _, told = process.communicate(timeout=60)
    assert process.returncode == 2
    assert "rem key-create" in told


@pytest.mark.parametrize("place", ["sqlite"], indirect=True)
def test_several_workers_need_postgresql(start: Start) -> None:
    process = start("--workers", "2")
    _, told = process.communicate(timeout=60)
    assert process.returncode == 2
    assert "PostgreSQL" in told


@pytest.mark.parametrize("place", ["postgres"], indirect=True)
def test_several_workers_share_sessions_and_memories(start: Start) -> None:
    process = start("--port", str(free_port()), "--workers", "2")
    address, entrance = address_of(process)
    with httpx.Client(trust_env=False, timeout=60) as browser:
        follow_login_link(browser, entrance)
        for _ in range(10):
            with httpx.Client(cookies=browser.cookies, trust_env=False, timeout=60) as again:
                assert again.get(f"{address}/api/me").status_code == 200
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)


@pytest.mark.parametrize("place", ["sqlite"], indirect=True)
def test_a_new_login_link_is_printed_while_the_server_runs(
    start: Start, place: str, environment: dict[str, str]
) -> None:
    process = start("--port", str(free_port()))
    address, first = address_of(process)
    options = (*REM, "--store", place, "--tenant", "x", "--json", "login")
    printed = subprocess.run(options, env=environment, capture_output=True, text=True, check=True)
    link = json.loads(printed.stdout)["link"]
    assert link.startswith(f"{address}/login#")
    with httpx.Client(trust_env=False, follow_redirects=True, timeout=60) as browser:
        assert follow_login_link(browser, link).url.path == "/memory"

    process.kill()
    process.communicate()
    gone = subprocess.run(options, env=environment, capture_output=True, text=True, check=False)
    assert gone.returncode == 2
    assert "rem serve" in gone.stderr
    restarted, second = address_of(start("--port", str(free_port())))
    assert link != second
    with httpx.Client(trust_env=False, follow_redirects=True, timeout=60) as browser:
        of_the_killed = f"{restarted}/login#{first.partition('#')[2]}"
        assert follow_login_link(browser, of_the_killed).status_code == 401
