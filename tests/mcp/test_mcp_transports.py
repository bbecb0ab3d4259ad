"""The official client, over a real process and over HTTP, uses every tool of every profile."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from remembrancer.config import Settings
from remembrancer.engine import Remembrancer
from remembrancer.profiles import PROFILE_NAMES
from remembrancer.tools.toolsets import Extent, select_tools
from tests.mcp.talk import REM, inside, over_http, over_stdio, principal, serving
from tests.mcp.uses import USES, use_all

pytestmark = pytest.mark.postgres_long

Open = Callable[..., Remembrancer]

PINNED = {"instances": "bot", "namespaces": "projects"}
"""Where agents are kept apart, the client is one of them."""


def offered(profile: str, extent: Extent) -> set[str]:
    return set(select_tools(Settings(profile=profile).profile_for(), extent))


def test_every_tool_there_is_has_a_use() -> None:
    assert set(USES) == {name for profile in PROFILE_NAMES for name in offered(profile, "full")}


@pytest.mark.parametrize("profile", PROFILE_NAMES)
def test_every_tool_of_a_profile_works_over_stdio(profile: str, tmp_path: Path) -> None:
    where = ("--store", str(tmp_path / "memory"), "--profile", profile, "--user", "ada")
    agent = ("--agent", PINNED[profile]) if profile in PINNED else ()
    errors = tmp_path / "errors"
    with over_stdio(*where, *agent, "mcp", errors=errors) as talk:
        assert use_all(talk) == offered(profile, "core")
    assert errors.read_text() == ""


@pytest.mark.parametrize("profile", PROFILE_NAMES)
def test_every_tool_works_over_http(profile: str, open_memory: Open) -> None:
    engine = open_memory(profile)
    keys = {"ada": principal(engine, agent=PINNED.get(profile))}
    with serving(engine, keys, extent="full") as address, over_http(address, "ada") as talk:
        assert use_all(talk) == offered(profile, "full")


def test_clients_that_begin_with_a_handshake_are_served_too(
    open_memory: Open, tmp_path: Path
) -> None:
    engine = open_memory()
    with serving(engine, {"ada": principal(engine)}) as address:
        with over_http(address, "ada", "legacy") as talk:
            use_all(talk)
    where = ("--store", str(tmp_path / "other"))
    with over_stdio(*where, "mcp", errors=tmp_path / "errors", mode="legacy") as talk:
        use_all(talk)


def test_what_one_transport_stores_the_other_tells(open_memory: Open, place: str) -> None:
    engine = open_memory()
    with serving(engine, {"ada": principal(engine)}) as address, over_http(address, "ada") as talk:
        talk.call("remember", content="The spare key is under the pot.")
    with inside(engine, principal(engine)) as talk:
        assert "under the pot" in talk.says("recall", query="spare key")
    assert engine.for_user("ada").list().items[0].surface == "mcp"


def test_stdout_has_nothing_but_the_protocol(tmp_path: Path) -> None:
    """Garbage, half characters and unknown methods included; it ends when its input does."""
    hello = {"protocolVersion": "2025-11-25", "capabilities": {}}
    hello["clientInfo"] = {"name": "test", "version": "1"}
    lines = [
        json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}),
        json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        "garbage",
        '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"recall",'
        '"arguments":{"query":"\\ud800"}}}',
        json.dumps({"jsonrpc": "2.0", "id": 3, "method": "no/such"}),
        json.dumps(
            {
                "jsonrpc": "2.0",
                "id": 4,
                "method": "tools/call",
                "params": {"name": "remember", "arguments": {"content": "x \x00 y"}},
            }
        ),
    ]
    command = [sys.executable, *REM, "--store", str(tmp_path / "memory"), "mcp"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command, stdin=pipe, stdout=pipe, stderr=pipe, text=True, env=environment
    ) as running:
        assert running.stdin is not None
        assert running.stdout is not None
        assert running.stderr is not None
        running.stdin.write("\n".join(lines) + "\n")
        running.stdin.flush()
        answers = [json.loads(running.stdout.readline()) for _ in range(3)]
        running.stdin.close()
        assert running.stdout.read() == ""
        assert "Traceback" not in running.stderr.read()
    assert running.returncode == 0
    assert {one["id"] for one in answers} == {1, 3, 4}
    assert all(one["jsonrpc"] == "2.0" for one in answers)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [(["--tools", "some"], "core, full"), (["--profile", "nonsense"], "'nonsense' is unknown")],
)
def test_what_is_asked_wrongly_is_told_on_stderr(
    arguments: list[str], sentence: str, tmp_path: Path
) -> None:
    done = subprocess.run(
        [sys.executable, *REM, "--store", str(tmp_path), "mcp", *arguments],
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert sentence in done.stderr


def test_without_the_library_it_says_what_to_install(tmp_path: Path) -> None:
    program = "import sys; sys.modules['mcp'] = None; from remembrancer.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", program, "--store", str(tmp_path), "mcp"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert done.returncode == 2
    assert "pip install 'remembrancer[mcp]'" in done.stderr
