"""Hostile memories stay text, and every page can be used by everyone."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.support.axe import findings
from tests.support.http_server import Served
from tests.support.visitor import DESK, HOSTILE, PAGES, fill, fill_with_payloads

Serve = Callable[..., Served]
Look = Callable[..., Page]


@pytest.fixture
def served(serve: Serve) -> Served:
    return serve(profile="agents", profile_overrides={"team": {"enabled": True}})


def everything(served: Served) -> Iterator[str]:
    """The address of every page."""
    yield from (*PAGES, *DESK, "/settings/checks", "/nowhere")
    memories = served.engine.for_user("ada").list().items
    for kind in ("fact", "rule", "episode"):
        yield f"/memory/{next(one.id for one in memories if one.kind == kind)}"


def test_hostile_memories_do_nothing_on_any_page(served: Served, look: Look) -> None:
    fill_with_payloads(served)
    page = look(served, "/memory")
    dialogs: list[str] = []
    page.on("dialog", lambda one: (dialogs.append(one.message), one.dismiss()))
    for path in everything(served):
        page.goto(served.address + path)
        assert page.locator("main script, main img, main [onload], main [onerror]").count() == 0
    page.goto(f"{served.address}/facts")
    page.locator("a[data-open]").first.click()
    expect(page.locator("#drawer .detail")).to_be_visible()
    page.keyboard.press("Control+k")
    page.locator("#palette-words").fill(HOSTILE)
    expect(page.locator("#palette-list li").last).to_contain_text("<script>")
    page.wait_for_timeout(300)
    assert dialogs == []


def test_every_page_can_be_used_by_everyone(served: Served, look: Look) -> None:
    fill(served, "The garden gate is green, and opens at nine.")
    served.engine.for_user("bob").propose("Deploys are frozen on Fridays.")
    page = look(served, "/memory")
    for path in everything(served):
        page.goto(served.address + path)
        assert findings(page) == [], path
    page.goto(f"{served.address}/facts")
    page.locator("a[data-open]").first.click()
    expect(page.locator("#drawer .detail")).to_be_visible()
    assert findings(page) == []
    page.keyboard.press("Control+k")
    expect(page.locator("#palette-list li").first).to_be_visible()
    assert findings(page) == []


def test_on_a_phone_nothing_is_wider_than_the_screen(
    served: Served, serve: Serve, look: Look
) -> None:
    long = "Donaudampfschifffahrt" * 15
    fill(served, long)
    served.engine.for_user("bob").propose(f"The manual is called {long}.")
    page = look(served, "/memory", width=360)
    for path in everything(served):
        page.goto(served.address + path)
        assert _overflow(page) <= 0, path
    apart = serve(profile="instances")
    apart.engine.for_user("ada", agent=long[:60]).remember(long, category="decision")
    page = look(apart, f"/instances?instance={long[:60]}", width=360)
    assert _overflow(page) <= 0
    page.goto(f"{apart.address}/instances")
    assert _overflow(page) <= 0


def _overflow(page: Page) -> int:
    """By how much the page is wider than the screen."""
    wider: int = page.evaluate("document.documentElement.scrollWidth - innerWidth")
    return wider
