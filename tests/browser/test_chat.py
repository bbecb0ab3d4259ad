"""Talking in a real browser: by keys alone, on a phone, without a script, and when it is left."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from remembrancer.testing import ModelEndpoint, ScriptedCall, streams
from remembrancer.types import Action, SessionStatus
from tests.support.axe import findings
from tests.support.http_server import Served

Serve = Callable[..., Served]
Look = Callable[..., Page]


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelEndpoint]:
    monkeypatch.setenv("NO_PROXY", "*")
    with ModelEndpoint(default=streams("Good ", "day.")) as endpoint:
        yield endpoint


@pytest.fixture
def models(model: ModelEndpoint) -> dict[str, Any]:
    return {"chat": {"url": model.openai, "model": "scripted", "timeout_seconds": 10}}


def answered(page: Page) -> None:
    expect(page.locator("#say:not(.busy)")).to_be_visible()


def closings(served: Served) -> list[int]:
    """What was answered to those who closed a conversation."""
    return [one["status"] for one in served.logged() if str(one.get("route")).endswith("/close")]


def test_a_chat_is_had_by_keys_alone_with_undo_in_place(
    serve: Serve, look: Look, models: dict[str, Any], model: ModelEndpoint
) -> None:
    served = serve("assistant", models=models)
    me = served.engine.for_user("ada")
    me.remember("The boat in the harbour is called Bluebird.")
    tea = ScriptedCall("remember", {"content": "Ada drinks tea."})
    model.script = [streams("A moment. ", tea), streams("Noted.")]
    page = look(served, "/chat")
    expect(page.locator("#words")).to_be_focused()
    assert findings(page) == []

    page.keyboard.type("Keep that I like tea,")
    page.keyboard.press("Shift+Enter")
    page.keyboard.type("and what is my boat in the harbour called?")
    page.keyboard.press("Enter")
    expect(page.locator(".messages .other .words")).to_have_text("A moment. Noted.")
    expect(page.get_by_role("heading", level=1)).to_have_text(re.compile("^Keep that I like tea"))
    expect(page).to_have_url(re.compile("/chat/session_"))
    expect(page.locator("#talks [aria-current]")).to_contain_text("Keep that I like tea")

    page.get_by_text("Why this answer?").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("link", name="The boat in the harbour")).to_be_visible()
    assert findings(page) == []
    page.get_by_role("button", name="Undo").focus()
    page.keyboard.press("Enter")
    expect(page.locator(".change")).to_contain_text("Undone")
    expect(page.locator("#words")).to_be_focused()
    assert "Ada drinks tea." not in [one.content for one in me.list().items]

    page.get_by_role("button", name="Bookmark").focus()
    page.keyboard.press("Enter")
    expect(page.locator(".after")).to_contain_text("Bookmarked")
    page.reload()
    expect(page.locator(".messages .other .words")).to_have_text("A moment. Noted.")
    expect(page.locator(".change")).to_contain_text("undone")

    page.keyboard.press("Control+k")
    expect(page.locator("#palette-list li").first).to_contain_text("New chat")
    page.keyboard.press("Enter")
    expect(page).to_have_url(f"{served.address}/chat")
    expect(page.get_by_role("heading", name="What is on your mind?")).to_be_visible()


def test_an_answer_is_stopped_and_what_was_said_is_kept(
    serve: Serve, look: Look, models: dict[str, Any], model: ModelEndpoint
) -> None:
    served = serve("assistant", models=models)
    model.default = streams(*(f"{number} " for number in range(400)), pause=0.05)
    page = look(served, "/chat/session_a")
    page.locator("#words").fill("Count, please.")
    page.keyboard.press("Enter")
    expect(page.locator(".messages .other")).to_contain_text("0 1 2")
    page.get_by_role("button", name="Stop").click()
    expect(page.locator(".notice")).to_contain_text("Stopped.")
    answered(page)
    page.wait_for_timeout(500)
    page.reload()
    expect(page.locator(".messages .other .words")).to_contain_text("0 1 2")
    expect(page.locator(".messages .other .words")).not_to_contain_text("399")


def test_P9_N7_leaving_closes_what_is_new_and_the_browser_keeps_only_its_name(
    serve: Serve, look: Look
) -> None:
    served = serve("advisor")
    me = served.engine.for_user("ada")
    page = look(served, "/chat")
    page.locator("#words").fill("I'm allergic to peanuts.")
    page.keyboard.press("Enter")
    answered(page)
    expect(page).to_have_url(re.compile("/chat/session_"))
    session = page.url.rpartition("/")[2]
    kept = page.evaluate("({...localStorage, ...sessionStorage})")
    assert kept == {"rem_session": session, "rem_space": ""}
    assert re.fullmatch(r"rem_zone=[\w/+-]+", page.evaluate("document.cookie"))

    page.get_by_role("link", name="Facts").first.click()
    expect(page.get_by_role("heading", name="Facts", exact=True)).to_be_visible()
    for _ in range(200):  # A beacon is sent when the browser finds the time.
        if closings(served):
            break
        page.wait_for_timeout(50)
    served.engine.flush()
    assert closings(served) == [202]
    assert me.session(session).status is SessionStatus.IDLE
    assert [one.content for one in me.list().items] == ["Is allergic to peanuts"]

    page.get_by_role("link", name="Chat").first.click()
    expect(page).to_have_url(f"{served.address}/chat/{session}")
    page.locator("#words").fill("a draft about something private")
    assert "private" not in page.evaluate("JSON.stringify([localStorage, sessionStorage])")
    page.locator("#words").fill("")
    page.get_by_role("link", name="New chat").click()
    expect(page).to_have_url(f"{served.address}/chat")
    assert page.evaluate("localStorage.rem_session") is None
    assert closings(served) == [202]
    assert sum(one.action is Action.LEARNED for one in me.activity().items) == 1


def test_on_a_phone_conversations_are_a_drawer_and_without_a_script_a_form_will_do(
    serve: Serve, look: Look
) -> None:
    served = serve("assistant")
    me = served.engine.for_user("ada")
    me.append([{"role": "user", "content": "w" * 300}], "monday", title="Monday " * 20)
    page = look(served, "/chat/monday", width=390)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    expect(page.locator("#talks")).to_be_hidden()
    page.get_by_role("link", name="Conversations").first.click()
    expect(page.locator("#talks")).to_be_visible()
    assert findings(page) == []
    page.get_by_role("link", name="Close").click()
    expect(page.locator("#talks")).to_be_hidden()

    plain = look(served, "/chat", width=390, script=False)
    plain.get_by_label("Your message").fill("Remember that I like tea.")
    plain.get_by_role("button", name="Send").click()
    expect(plain.locator(".messages .other .words")).to_contain_text("I will remember that")
    plain.get_by_role("button", name="Undo").first.click()
    expect(plain.locator(".change")).to_contain_text("undone")
    plain.get_by_role("link", name="Conversations").first.click()
    expect(plain.locator("#talks")).to_be_visible()
    plain.locator(".menu summary").first.click()
    plain.get_by_label("Title").first.fill("Tea")
    plain.get_by_role("button", name="Rename").first.click()
    expect(plain.get_by_role("heading", level=1)).to_have_text("Tea")


def test_a_memory_of_the_journal_is_corrected_in_a_chat(serve: Serve, look: Look) -> None:
    served = serve("advisor")
    me = served.engine.for_user("ada")
    me.remember("Wants to retire at 50.", category="profile", body="The long story.")
    page = look(served, "/journal/memory")
    page.keyboard.press("j")
    page.keyboard.press("e")
    expect(page.get_by_text("What would you like to change about this?")).to_be_visible()
    page.keyboard.type("Correction: Wants to retire at 55.")
    page.keyboard.press("Enter")
    expect(page.locator(".messages .other .words")).to_contain_text("I have corrected that")
    assert [one.content for one in me.list().items] == ["Wants to retire at 55."]
    expect(page.locator("main")).not_to_contain_text("The long story.")
