"""A real browser for each test; whatever it looks at, it must not complain and not go elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.browser.browsing import CHROMIUM, log_in
from tests.support.http_server import Served

Look = Callable[..., Page]

TIMEOUT_MS = 60_000
expect.set_options(timeout=TIMEOUT_MS / 2)


@pytest.fixture
def place(tmp_path: Path) -> str:
    """On one engine: what differs between the engines is tested below the pages."""
    return str(tmp_path / "memory")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium, started once for a module: while it runs, other tests have no loop of their own."""
    with sync_playwright() as playwright:
        if not (CHROMIUM or Path(playwright.chromium.executable_path).exists()):
            pytest.skip("There is no browser here: see tests/browser/fetch.py.")
        started = playwright.chromium.launch(executable_path=CHROMIUM)
        yield started
        started.close()


@pytest.fixture
def look(browser: Browser) -> Iterator[Look]:
    """Open a page of a server as someone who is let in: `look(served, "/facts")`."""
    complaints: list[str] = []
    with ExitStack() as opened:

        def start(served: Served, path: str, *, width: int = 1280, script: bool = True) -> Page:
            context = browser.new_context(
                viewport={"width": width, "height": 860}, java_script_enabled=script
            )
            opened.callback(context.close)
            context.on("request", lambda one: _note_foreign(complaints, served, one.url))
            context.on("console", lambda one: _note_error(complaints, one.type, one.text))
            context.on("weberror", lambda one: complaints.append(str(one.error)))
            log_in(context, served)
            page = context.new_page()
            page.set_default_timeout(TIMEOUT_MS)
            page.goto(served.address + path)
            return page

        yield start
    assert complaints == []


def _note_foreign(complaints: list[str], served: Served, url: str) -> None:
    if not url.startswith(served.address):
        complaints.append(f"asked another server: {url}")


def _note_error(complaints: list[str], kind: str, text: str) -> None:
    # A page that is missing on purpose is no complaint; a broken policy is.
    if kind in ("error", "warning") and "the server responded with a status of 4" not in text:
        complaints.append(text)
