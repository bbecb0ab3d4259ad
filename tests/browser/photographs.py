"""Pictures of every page, light and dark, wide and narrow; `make screenshots` takes them."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from playwright.sync_api import Browser, BrowserContext, sync_playwright

from remembrancer import demo
from remembrancer.clock import ManualClock
from remembrancer.memory import Memory
from tests.browser.browsing import CHROMIUM, log_in
from tests.support.http_server import served

SIZES = {"wide": (1280, 860), "phone": (390, 844)}
NOW = datetime(2026, 6, 14, 16, 20, tzinfo=UTC)


def pages(me: Memory) -> Iterator[tuple[str, str]]:
    """Each page by a name."""
    facts = me.list(kinds=["fact"], subject="ada").items
    moved = next(one for one in facts if "Ockham" in one.content)
    rule = next(one for one in me.list(kinds=["rule"]).items if "Answer first" in one.content)
    learned = next((one for one in me.list(kinds=["fact"]).items if one.evidence), moved)
    yield from (
        ("overview", "/memory"),
        ("search", "/memory?q=what+does+she+eat"),
        ("facts", "/facts"),
        ("facts-replaced", "/facts?status=superseded"),
        ("playbook", "/playbook"),
        ("episodes", "/episodes"),
        ("agents", "/agents"),
        ("agent", "/agents/gardener/memory"),
        ("fact", f"/memory/{moved.id}"),
        ("fact-learned", f"/memory/{learned.id}"),
        ("fact-edit", f"/memory/{moved.id}?edit=1"),
        ("rule", f"/memory/{rule.id}"),
        ("chat", "/chat/the-visit"),
        ("chat-new", "/chat"),
        ("chat-about", f"/chat?about={moved.id}"),
        ("chat-list", "/chat/the-visit?list=1"),
        ("chat-search", "/chat/the-visit?q=train"),
        ("conversations", "/conversations"),
        ("conversation", "/conversations/planning-the-week"),
        ("journal", "/journal/memory"),
        ("activity", "/activity"),
        ("trash", "/trash"),
        ("team", "/team"),
        ("review", "/team/review"),
        ("manage", "/team/manage"),
        ("people", "/team/people"),
        ("person", "/team/people/charles"),
        ("how", "/how-it-works"),
        ("settings", "/settings"),
        ("keys", "/settings/keys"),
        ("checks", "/settings/checks"),
        ("erase", "/settings/erase"),
        ("missing", "/memory/fact_01kjq3v4rxe8fy0zkb5t5f3m2a"),
        ("empty", "/episodes?q=&since=2020-01-01&until=2020-01-02"),
    )


def photograph(
    context: BrowserContext, address: str, shots: list[tuple[str, str]], into: Path
) -> None:
    """Take one picture of each page."""
    page = context.new_page()
    for name, path in shots:
        page.goto(address + path)
        page.locator("[data-counting]").wait_for(state="detached")
        # What sticks to the edges of the screen would stand in the middle of a longer picture.
        page.screenshot(path=into / f"{name}.png", full_page=not path.startswith("/chat"))


def interactions(context: BrowserContext, address: str, into: Path) -> None:
    """What only a script shows: the drawer, the palette, the list of keys, a toast."""
    page = context.new_page()
    page.goto(f"{address}/facts")
    page.locator("a[data-open]").first.click()
    page.locator(".drawer .detail, main .detail").first.wait_for()
    page.screenshot(path=into / "drawer.png")
    page.goto(f"{address}/facts")
    page.keyboard.press("Control+k")
    page.locator("#palette-words").fill("engine")
    page.wait_for_timeout(700)
    page.screenshot(path=into / "palette.png")
    page.keyboard.press("Escape")
    page.locator("#palette").wait_for(state="hidden")
    page.keyboard.press("?")
    page.locator("#keys").wait_for()
    page.screenshot(path=into / "list-of-keys.png")
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    page.keyboard.press("c")
    page.locator(".toast").wait_for()
    page.screenshot(path=into / "toast.png")


def schemes(browser: Browser, into: Path) -> Iterator[tuple[BrowserContext, Path]]:
    """A browser for each size and each colour scheme."""
    for scheme in ("light", "dark"):
        for name, (width, height) in SIZES.items():
            place = into / f"{name}-{scheme}"
            place.mkdir(parents=True, exist_ok=True)
            context = browser.new_context(
                viewport={"width": width, "height": height},
                color_scheme=scheme,  # type: ignore[arg-type]
                has_touch=name == "phone",
                is_mobile=name == "phone",
            )
            yield context, place
            context.close()


def take(browser: Browser, into: Path, directory: Path) -> None:
    """Fill a store, serve it, and take all pictures."""
    clock = ManualClock(NOW)
    with demo.open_demo_store(clock, directory=directory / "agents") as store:
        demo.fill(store, clock, NOW)
        shots = list(pages(store.for_user(surface="web")))
        with served(store) as running:
            for context, place in schemes(browser, into):
                photograph(context, running.address, [("login", "/memory")], place)
                log_in(context, running)
                photograph(context, running.address, shots, place)
                interactions(context, running.address, place)
    with demo.open_demo_store(clock, "instances", directory=directory / "instances") as store:
        demo.fill(store, clock, NOW)
        shots = [("instances", "/instances"), ("instance", "/instances?instance=support-bot")]
        with served(store) as running:
            for context, place in schemes(browser, into):
                log_in(context, running)
                photograph(context, running.address, shots, place)


def main() -> None:
    """Take the pictures into the folder that is named."""
    into = Path(sys.argv[1] if len(sys.argv) > 1 else "docs/screenshots")
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as directory:
        take(playwright.chromium.launch(executable_path=CHROMIUM), into, Path(directory))


if __name__ == "__main__":
    main()
