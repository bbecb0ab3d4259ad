"""One memory behind every surface: taught on one, corrected, recalled, seen and undone on others.

Each surface is a process of its own over one store; only Telegram's server is a stand-in.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.assistant.bot_api import TOKEN, TelegramServer
from tests.mcp.talk import over_stdio
from tests.support.opening import ENGINES, place_on
from tests.support.rem_serve import address_of, complete, free_port, running

pytestmark = pytest.mark.postgres_long

CHAT = 4711
TAUGHT = "The spare key is under the blue pot."
RIGHT = "The spare key is under the red pot."


@pytest.fixture(params=ENGINES)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where processes meet matters to them: on each engine in turn."""
    return place_on(request.param, request, tmp_path)


@pytest.fixture
def whose(place: str) -> tuple[str, ...]:
    """Which memory each process is told to open: someone's who is in no other test."""
    return (
        "--store",
        place,
        "--tenant",
        f"of-{os.getpid()}-{time.monotonic_ns()}",
        "--user",
        "eve",
    )


@pytest.fixture
def telegram(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[TelegramServer]:
    with TelegramServer() as server:
        monkeypatch.setenv("NO_PROXY", "*")
        monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
        monkeypatch.setenv("REMEMBRANCER_TELEGRAM__TOKEN", TOKEN)
        monkeypatch.setenv("REMEMBRANCER_TELEGRAM__URL", server.url)
        yield server


def test_what_is_taught_on_the_web_is_corrected_recalled_seen_and_undone_elsewhere(
    whose: tuple[str, ...], telegram: TelegramServer, browser: Browser, tmp_path: Path
) -> None:
    with ExitStack() as stack:
        server = stack.enter_context(running(*whose, "serve", "--port", str(free_port())))
        stack.enter_context(running(*whose, "telegram"))
        address, entrance = address_of(server)
        page = stack.enter_context(browser.new_context()).new_page()

        page.goto(entrance)
        page.goto(f"{address}/chat")
        page.keyboard.type(f"Remember that {TAUGHT[0].lower()}{TAUGHT[1:]}")
        page.keyboard.press("Enter")
        expect(page.locator(".messages .other")).to_contain_text("Remembered: “The spare key is")

        telegram.write(CHAT, complete(*whose, "telegram-link").splitlines()[0])
        telegram.wait_for(1)
        telegram.write(CHAT, f"Correction: {RIGHT}")
        answer = telegram.wait_for(2)[1]
        assert "red pot" in answer
        assert "blue pot" in answer, "it says what it took the place of"

        with over_stdio(*whose, "mcp", errors=tmp_path / "errors") as client:
            recalled = client.says("recall", query="Where is the spare key?")
        assert "red pot" in recalled
        assert "blue pot" not in recalled

        page.goto(f"{address}/facts")
        card = page.locator("[data-card]").filter(has_text="spare key")
        expect(card).to_have_count(1)
        expect(card.locator(".sentence")).to_contain_text("red pot")
        expect(card.locator(".old")).to_contain_text("blue pot")

        complete(*whose, "undo")
        page.reload()
        expect(card.locator(".sentence")).to_contain_text("blue pot")
        expect(card.locator(".old")).to_have_count(0)
        assert "red pot" not in complete(*whose, "recall", "Where is the spare key?")
