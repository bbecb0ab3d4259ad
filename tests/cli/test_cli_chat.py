"""`rem chat` in a pipe and at a terminal, and `rem telegram-link`."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from typer.testing import CliRunner

from remembrancer.assistant.telegram.bot import HOW_TO_LINK
from remembrancer.cli.app import app
from remembrancer.config import Settings
from remembrancer.embed.local import LocalEmbedder
from remembrancer.engine import Remembrancer
from remembrancer.store.open import open_store
from remembrancer.testing import ModelEndpoint, streams
from tests.assistant.bot_api import TOKEN, TelegramServer

Run = Callable[..., Any]
REM = [sys.executable, "-c", "from remembrancer.cli import main; main()"]


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelEndpoint]:
    monkeypatch.setenv("NO_PROXY", "*")
    with ModelEndpoint(default=streams("Good ", "day.")) as endpoint:
        yield endpoint


def test_each_line_is_answered_and_changes_are_told_apart(rem: Run, shelf: Remembrancer) -> None:
    done = rem("chat", input="Remember that I like tea.\n\nWhat do you remember about me?\n")

    assert done.stdout.splitlines() == [
        "I will remember that: “Likes tea”",
        "This is what I remember about you:",
        "- “Likes tea” (2 Mar 2026)",
    ]
    assert "rem undo event_" in done.stderr
    assert [one.surface for one in shelf.for_user().sessions().items] == ["cli"]


def test_with_json_each_answer_is_one_document(rem: Run) -> None:
    done = rem("--json", "chat", input="Remember that I like tea.\nundo\n")

    first, second = (json.loads(line) for line in done.stdout.splitlines())
    assert first["changes"][0]["event"].startswith("event_")
    assert first["session"] == second["session"]
    assert second["answer"] == "Undone: “Likes tea”"


def test_a_conversation_is_gone_on_with_by_its_name(rem: Run, shelf: Remembrancer) -> None:
    rem("chat", "--session", "tea", input="Remember that I like tea.\n")

    assert "Undone" in rem("chat", "--session", "tea", input="undo\n").stdout

    assert [one.id for one in shelf.for_user().sessions().items] == ["tea"]


def test_the_notice_that_there_is_no_model_comes_once(rem: Run) -> None:
    done = rem("chat", input="Hello\nHow are you?\n")

    assert done.stderr.count("No AI model") == 1
    assert done.stdout.splitlines() == ["I have nothing about that yet."] * 2


def test_a_line_that_cannot_be_kept_does_not_end_the_conversation(rem: Run) -> None:
    done = rem("chat", input="a\x00b\nRemember that I like tea.\n")

    assert "I will remember that" in done.stdout


def test_what_is_said_cannot_steer_the_terminal(rem: Run) -> None:
    done = rem("chat", input="Remember that \x1b[2J is a code.\n")

    assert "\x1b[2J" not in done.stdout + done.stderr


def test_ctrl_c_stops_the_answer_and_ctrl_d_leaves(
    home: dict[str, str], model: ModelEndpoint
) -> None:
    """A real terminal: one answer is stopped in the middle, the next is whole."""
    model.script = [streams(*(f"number {n}, " for n in range(200)), pause=0.1)]
    env = home | {
        "REMEMBRANCER_MODELS__CHAT__URL": model.openai,
        "REMEMBRANCER_MODELS__CHAT__MODEL": "scripted",
        "NO_PROXY": "*",
        "TERM": "dumb",
    }
    with Terminal(env) as terminal:
        terminal.see("> ")
        terminal.type("Count.\n")
        terminal.see("number 1,")
        terminal.interrupt()
        terminal.see("Stopped.")
        terminal.see("> ")
        terminal.type("Hello\n")
        terminal.see("Good day.")
        terminal.see("> ")
        terminal.type("\x04")
        assert terminal.process.wait(20) == 0


def test_a_code_to_link_a_chat_is_shown_and_is_a_key_that_opens_nothing(
    rem: Run, ask: Run, shelf: Remembrancer
) -> None:
    told = rem("telegram-link").stdout.splitlines()
    assert told[0].startswith("/link ")
    code = told[0].removeprefix("/link ")
    assert shelf.principal_of(code) is None

    assert ask("telegram-link")["code"] != code

    assert len(shelf.list_keys()) == 1


def test_the_bot_needs_a_token(rem: Run) -> None:
    assert "telegram.token" in rem("telegram", code=2).stderr


def test_the_bot_runs_until_it_is_told_to_stop(home: dict[str, str]) -> None:
    with TelegramServer() as telegram:
        env = home | {
            "REMEMBRANCER_TELEGRAM__TOKEN": TOKEN,
            "REMEMBRANCER_TELEGRAM__URL": telegram.url,
            "NO_PROXY": "*",
        }
        bot = subprocess.Popen([*REM, "telegram"], env=env, stderr=subprocess.PIPE, text=True)
        try:
            telegram.write(42, "Hello")
            assert telegram.wait_for(1, seconds=60) == [HOW_TO_LINK]
            bot.send_signal(signal.SIGTERM)
            assert bot.wait(40) == 0
        finally:
            bot.kill()
            told = bot.communicate()[1]
    assert TOKEN not in told


def test_telegram_is_told_where_to_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "*")
    with TelegramServer() as telegram:
        settings = {"telegram": {"token": TOKEN, "url": telegram.url, "webhook_secret": "s" * 20}}
        store = open_store(chosen := Settings.model_validate(settings), None, in_memory=True)
        with Remembrancer(chosen, store, LocalEmbedder()) as engine:
            asked = ["telegram", "--webhook", "https://memory.example.org/telegram"]
            done = CliRunner().invoke(app, asked, obj=engine, catch_exceptions=False)

    assert done.exit_code == 0
    method, sent = telegram.calls[0]
    assert (method, sent["secret_token"]) == ("setWebhook", "s" * 20)


class Terminal:
    """`rem chat` in a terminal of its own."""

    def __init__(self, env: dict[str, str]) -> None:
        self._ours, theirs = pty.openpty()
        self.process = subprocess.Popen(
            [*REM, "chat"],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env=env,
            start_new_session=True,
        )
        os.close(theirs)
        self._seen = ""

    def __enter__(self) -> Terminal:
        os.set_blocking(self._ours, False)
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self._ours)

    def type(self, text: str) -> None:
        os.write(self._ours, text.encode())

    def interrupt(self) -> None:
        self.process.send_signal(signal.SIGINT)

    def see(self, text: str, seconds: float = 60) -> None:
        """Wait until something new is shown."""
        until = time.monotonic() + seconds
        while text not in self._seen:
            assert time.monotonic() < until, self._seen
            try:
                self._seen += os.read(self._ours, 4096).decode(errors="replace")
            except BlockingIOError:
                time.sleep(0.02)
        self._seen = self._seen.partition(text)[2]
