"""A preference is said in a chat, listed in the journal, edited in a chat, and the edit undone.

The server and the command are processes; only the language model is a stand-in.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from remembrancer.testing import ModelEndpoint, ScriptedCall, ScriptedReply, says, streams
from tests.support.opening import ENGINES, place_on
from tests.support.plans import asks_for
from tests.support.rem_serve import address_of, complete, free_port, running

pytestmark = [pytest.mark.feature("P1", "P2", "P6", "P8"), pytest.mark.postgres_long]

SAID = "Actually I prefer funds only."
SAVED = "No individual stocks, only funds"
EDITED = "Only index funds"


@pytest.fixture(params=ENGINES)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The processes meet in the store, so both engines matter."""
    return place_on(request.param, request, tmp_path)


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelEndpoint]:
    monkeypatch.setenv("NO_PROXY", "*")
    with ModelEndpoint() as endpoint:
        yield endpoint


@pytest.fixture
def options(place: str, tenant: str, tmp_path: Path, model: ModelEndpoint) -> tuple[str, ...]:
    """The root options of each process: whose memory, and which configuration."""
    file = tmp_path / "own.toml"
    chat = {"url": model.openai, "model": "scripted"}
    lines = [f"{name} = {json.dumps(value)}" for name, value in chat.items()]
    file.write_text("\n".join(['profile = "advisor"', "[models.chat]", *lines]), "utf-8")
    return ("--config", str(file), "--store", place, "--tenant", tenant, "--user", "ada")


def calling(name: str, **arguments: str) -> Callable[[dict[str, Any]], ScriptedReply]:
    """A model that calls a tool in the chat, and learns and titles nothing."""
    replies = iter([streams(ScriptedCall(name, arguments)), streams("Done.")])
    nothing = says({"title": "", "operations": []})
    return lambda request: nothing if asks_for(request) else next(replies)


def say(page: Page, words: str) -> Locator:
    """Send a message; returns the status line below the latest answer."""
    page.locator("#words").fill(words)
    page.keyboard.press("Enter")
    expect(page.locator("#say:not(.busy)")).to_be_visible()
    return page.locator(".messages .other").last.locator(".change")


def journal_card(page: Page) -> Locator:
    page.goto(re.sub("(://[^/]+).*", r"\1/journal/memory", page.url))
    card = page.locator("[data-card]")
    expect(card).to_have_count(1)
    return card


def test_a_preference_goes_from_chat_to_journal_to_edit_to_undo(
    options: tuple[str, ...], model: ModelEndpoint, browser: Browser
) -> None:
    with running(*options, "serve", "--port", str(free_port())) as server:
        address, entrance = address_of(server)
        page = browser.new_context().new_page()
        page.goto(entrance)
        page.goto(f"{address}/chat")
        model.script = calling("save_preference", category="finance_context", content=SAVED)
        status = say(page, SAID)
        expect(status).to_contain_text(SAVED)
        expect(status.get_by_role("button", name="Undo")).to_be_visible()
        first_chat = page.url

        card = journal_card(page)
        expect(page.locator(".group h2").first).to_contain_text("Finance context")
        expect(card.locator(".sentence")).to_have_text(SAVED)
        expect(card).to_contain_text("saved by the assistant")
        expect(card).to_contain_text("loaded")
        card.get_by_role("link", name="from a conversation").click()
        expect(page.locator(".turns")).to_contain_text(SAID)
        assert page.url.rpartition("/")[2] == first_chat.rpartition("/")[2]

        card = journal_card(page)
        card.hover()
        card.get_by_role("link", name="Edit").click()
        expect(page.locator(".topic")).to_contain_text(SAVED)
        model.script = calling("update_preference", id_or_substring=SAVED, new_content=EDITED)
        status = say(page, "Make that index funds only.")
        expect(status).to_contain_text(EDITED)
        edit_chat = page.url
        expect(journal_card(page).locator(".sentence")).to_have_text(EDITED)
        assert EDITED in complete(*options, "context")

        page.goto(edit_chat)
        page.get_by_role("button", name="Undo").click()
        expect(page.locator(".change")).to_contain_text("Undone")
        expect(journal_card(page).locator(".sentence")).to_have_text(SAVED)
        page.context.close()
    told = complete(*options, "context")
    assert SAVED in told
    assert EDITED not in told
