"""Whether hostile strings do anything on a page: `python -m bench.hostile_pages FILE`.

Each string is kept as a fact with its subject, as a rule, as an episode, in a conversation with its
title, and as what a team is told. Then a real browser opens every page that shows them.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from urllib.parse import quote

from playwright.sync_api import (
    BrowserContext,
    ConsoleMessage,
    Dialog,
    Page,
    Request,
    sync_playwright,
)

import remembrancer
from bench.hostile import ROOMY, serving, strings
from remembrancer.access.keys import CAPABILITIES
from remembrancer.config import Settings
from remembrancer.errors import RemembrancerError
from remembrancer.memory import Memory
from remembrancer.server.cookies import SESSION_COOKIE
from remembrancer.types import Owner
from tests.browser.browsing import CHROMIUM

LISTINGS = (
    *("/memory", "/facts", "/playbook", "/episodes", "/journal/memory", "/activity", "/trash"),
    *("/conversations", "/chat", "/agents", "/team", "/team/review", "/team/manage"),
    *("/team/people", "/settings", "/settings/keys", "/settings/erase", "/how-it-works"),
)
ACTIVE = "main script, main img, main iframe, main object, main embed, main style, main base"
MOST_PAGES = 200


def keep(me: Memory, number: int, text: str) -> int:
    """Put a string wherever a page may show it; in how many places it was refused."""
    about = text[:200]
    ways: tuple[Callable[[], object], ...] = (
        lambda: me.remember(text, subject=about, predicate=about),
        lambda: me.remember(f"Rule {number}: {text}", kind="rule"),
        lambda: me.remember(f"Day {number}: {text}", kind="episode"),
        lambda: me.append([{"role": "user", "content": text}], f"talk-{number}", title=text[:900]),
        lambda: me.propose(f"The manual number {number} shows {text}"),
        lambda: me.delete(me.remember(f"Given up {number}: {text}").memory.id),
    )
    refused = 0
    for way in ways:
        try:
            way()
        except RemembrancerError:
            refused += 1
    return refused


def addresses(me: Memory) -> Iterator[str]:
    """The page of every fact, and of every conversation."""
    for read, path in ((partial(me.list, kinds=["fact"]), "/memory"), (me.sessions, "/chat")):
        cursor: str | None = ""
        while cursor is not None:
            page = read(limit=200, cursor=cursor or None)
            yield from (f"{path}/{quote(one.id, safe='')}" for one in page.items)
            cursor = page.cursor


def look(page: Page, address: str, path: str) -> list[str]:
    """Open a page, and those that follow it; what is active in them that is not ours."""
    found: list[str] = []
    following: str | None = address + path
    for _ in range(MOST_PAGES):
        if following is None:
            break
        page.goto(following, wait_until="domcontentloaded")
        page.locator("main").wait_for()
        if page.locator(ACTIVE).count():
            found.append(following)
        more = page.locator(".more a")
        following = f"{address}{more.first.get_attribute('href')}" if more.count() else None
    return found


def watched(context: BrowserContext, address: str, happened: list[str]) -> Page:
    """A page on which nothing happens unnoticed."""

    def asked(request: Request) -> None:
        if not request.url.startswith(address):
            happened.append(request.url)

    def said(message: ConsoleMessage) -> None:
        if message.type == "error":
            happened.append(message.text)

    def popped_up(dialog: Dialog) -> None:
        happened.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    context.on("request", asked)
    context.on("console", said)
    context.on("weberror", lambda one: happened.append(str(one.error)))
    page = context.new_page()
    page.on("dialog", popped_up)
    return page


def main() -> None:
    """Keep all strings, look at all pages, and tell what happened."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("file", type=Path)
    options = parser.parse_args()
    settings = Settings.model_validate(
        {"server": ROOMY, "profile": "agents", "profile_overrides": {"team": {"enabled": True}}}
    )
    texts = strings(options.file)
    happened: list[str] = []
    with (
        tempfile.TemporaryDirectory() as home,
        remembrancer.open(home, settings=settings) as engine,
        serving(engine) as client,
        sync_playwright() as playwright,
    ):
        me = engine.for_user("ada")
        refused = sum(keep(me, number, text) for number, text in enumerate(texts))
        address = str(client.base_url).rstrip("/")
        browser = playwright.chromium.launch(executable_path=CHROMIUM)
        context = browser.new_context()
        owner = Owner(engine.settings.tenant, "ada")
        session = engine.create_session(owner, CAPABILITIES, hours=24)
        context.add_cookies([{"name": SESSION_COOKIE, "value": session.secret, "url": address}])
        page = watched(context, address, happened)
        paths = [*LISTINGS, *addresses(me)]
        for number, path in enumerate(paths):
            if number % 100 == 0:
                print(f"{number} of {len(paths)}", flush=True)
            happened += look(page, address, path)
        browser.close()
    print(
        f"{len(texts)} strings, {refused} refused in a place, {len(paths)} pages and what follows"
    )
    print(f"{len(happened)} things happened", *happened[:20], sep="\n")


if __name__ == "__main__":
    main()
