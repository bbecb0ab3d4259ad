"""The installed command, as a process of its own on a real store."""

from __future__ import annotations

import json
import os
import pty
import secrets
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from remembrancer.cli.tour import STEPS

Process = Callable[..., "subprocess.CompletedProcess[str]"]

SCRIPT = Path(sys.executable).with_name("rem")
HEAVY = ("sqlalchemy", "numpy", "onnxruntime", "rich", "httpx")
OURS = ("data", "config", "memory")


def a_day_with_it(process: Process, *where: str) -> None:
    """Remember, correct, recall, forget, take back: each in a process of its own."""

    def ask(*args: str, **options: Any) -> Any:
        return json.loads(process(*where, "--json", *args, **options).stdout)

    who = ("--subject", "Ada", "--predicate", "lives_in")
    old = ask("remember", "Ada lives in Hamburg.", *who)["memory"]
    new = ask("remember", "-", *who, input="Ada lives in Berlin.\n")
    assert new["replaced"]["id"] == old["id"]
    told = process(*where, "recall", "where does Ada live?", "--explain").stdout
    assert told.startswith("Ada lives in Berlin.\n")
    assert "\x1b" not in told
    assert ask("forget", "Ada's home")["memory"]["status"] == "forgotten"
    assert ask("list")["items"] == []
    assert ask("undo")["memory"]["status"] == "active"
    assert ask("get", new["memory"]["id"])["recall_count"] == 1, "recalls are counted"
    events = ask("history", "Berlin")["events"]
    assert [one["action"] for one in events][:2] == ["remembered", "replaced"]


def test_a_day_on_sqlite(process: Process, tmp_path: Path) -> None:
    a_day_with_it(process, "--store", str(tmp_path / "memory"))
    assert (tmp_path / "memory").stat().st_mode & 0o777 == 0o700


def test_a_day_on_postgresql(process: Process, postgres_server: Callable[[str], str]) -> None:
    tenant = f"tenant-{secrets.token_hex(8)}"
    a_day_with_it(process, "--store", postgres_server("memory"), "--tenant", tenant)


def test_the_configuration_is_obeyed(process: Process, tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(f"user = 'ada'\ntime_zone = 'Asia/Tokyo'\n[store]\npath = '{tmp_path}/kept'\n")
    env = {"REMEMBRANCER_CONFIG": str(file)}
    process("remember", "The boat is red.", "--valid-from", "2026-03-02T09:00", env=env)
    found = json.loads(process("get", "boat", "--json", env=env).stdout)
    assert found["valid_from"] == "2026-03-02T00:00:00+00:00"
    assert "boat" in process("list", "--user", "ada", "--store", str(tmp_path / "kept")).stdout
    process("get", "boat", "--user", "grace", env=env, code=3)


def test_by_default_it_lives_in_the_users_data_directory(process: Process, tmp_path: Path) -> None:
    process("remember", "The boat is red.")
    assert (tmp_path / "data" / "remembrancer" / "system.db").exists()


def test_what_vanishes_leaves_nothing(process: Process, tmp_path: Path) -> None:
    process("--store", ":memory:", "remember", "The boat is red.")
    assert not any((tmp_path / name).exists() for name in OURS)


def test_nothing_of_others_is_left_either(process: Process, tmp_path: Path) -> None:
    process("--store", ":memory:", "remember", "The boat is red.")
    assert list(tmp_path.iterdir()) == []


def test_a_narrow_or_plain_terminal_is_no_trouble(process: Process) -> None:
    process("remember", "“Ada” likes café crème.", env={"PYTHONIOENCODING": "ascii"})
    told = process("recall", "coffee", "--json", env={"PYTHONIOENCODING": "ascii"}).stdout
    assert json.loads(told)["items"][0]["memory"]["content"] == "“Ada” likes café crème."


def test_a_reader_that_goes_away_is_no_trouble(process: Process, home: dict[str, str]) -> None:
    process("remember", "The boat is red.")
    with subprocess.Popen(
        [str(SCRIPT), "list"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=home, text=True
    ) as running:
        assert running.stdout is not None
        running.stdout.close()
        assert running.stderr is not None
        assert running.stderr.read() == ""
    assert running.returncode == 1


def loaded(env: dict[str, str], names: tuple[str, ...], *args: str) -> list[str]:
    """Which of these modules a command loads."""
    program = (
        "import sys; from remembrancer.cli.app import app\n"
        "try: app(sys.argv[1:])\n"
        f"except SystemExit: print(*[name for name in {names} if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, *args], capture_output=True, text=True, env=env, check=True
    )
    return done.stdout.splitlines()[-1].split()


def test_help_loads_nothing_heavy(home: dict[str, str]) -> None:
    assert loaded(home, (*HEAVY, "pydantic"), "--help") == []
    assert loaded(home, HEAVY, "recall", "--help") == []
    assert loaded(home, HEAVY, "--version") == []


def test_a_recall_loads_no_tables_and_no_network(home: dict[str, str]) -> None:
    assert loaded(home, ("rich", "httpx", "psycopg"), "recall", "boat") == []


def test_the_tour_runs_and_writes_nothing(process: Process, tmp_path: Path) -> None:
    told = process("tour").stdout
    assert "\x1b" not in told
    for step in STEPS:
        assert step.title in told
        for command in step.commands:
            assert f"$ {command}\n" in told
    answers = told.split("$ rem ")
    replaced = next(one for one in answers if one.startswith("remember 'Ada lives in Berlin.'"))
    assert "Replaced “Ada lives in Hamburg.”" in replaced
    assert "Replaced “Keep answers short, code first.”" in told
    assert "1 secret was left out (password)." in told
    past = next(one for one in answers if "--as-of" in one.splitlines()[0])
    assert past.splitlines()[1] == "Ada lives in Hamburg."
    stranger = next(one for one in answers if one.startswith("--user grace"))
    assert stranger.splitlines()[1] == "Nothing was found."
    assert "What to type next" in told
    assert not any((tmp_path / name).exists() for name in OURS)


@pytest.mark.skipif(os.name != "posix", reason="a terminal of this kind is a POSIX thing")
def test_ctrl_c_ends_the_tour_quietly(home: dict[str, str]) -> None:
    env = home | {"TERM": "xterm", "COLUMNS": "50"}
    # On a busy machine the tour can end before the signal arrives.
    codes = [code for _ in range(5) if (code := _interrupt_tour(env))]
    assert codes
    assert set(codes) == {130}


def _interrupt_tour(env: dict[str, str]) -> int:
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [str(SCRIPT), "tour"], stdin=theirs, stdout=theirs, stderr=subprocess.PIPE, env=env
    ) as running:
        os.close(theirs)
        # At its first heading, which has weight on a terminal: it may be through soon after.
        told = b""
        while b"\x1b[" not in told:
            told += os.read(ours, 4096)
        running.send_signal(signal.SIGINT)
        assert running.stderr is not None
        assert running.stderr.read() == b""
    os.close(ours)
    return running.returncode
