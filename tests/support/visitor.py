"""A browser without a browser: visits pages over HTTP as one user, and fills stores for them."""

from __future__ import annotations

import re
from typing import Any

import httpx

from remembrancer.server.cookies import SESSION_COOKIE
from remembrancer.types import Owner
from tests.support.http_server import Served
from tests.support.unconfirmed import learn_in_doubt

PAYLOADS = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(2)>',
    "'><svg onload=alert(3)>",
    "javascript:alert(4)",
    "<iframe srcdoc='<script>alert(5)</script>'></iframe>",
    "</textarea><script>alert(6)</script>",
    "</title></select><script>alert(7)</script>",
    '<a href="javascript:alert(8)">look</a>',
    '" autofocus onfocus=alert(9) x="',
    "<style>body{display:none}</style>",
    "<base href=//evil.test><object data=//evil.test>",
    "{{ 7*7 }}${7*7}<%= 7*7 %>",
    '<!--<img src="--><img src=x onerror=alert(13)>',
    "&lt;script&gt;alert(14)&lt;/script&gt;",
    "<meta http-equiv=refresh content=0;url=//evil.test>",
)


HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'><svg onload=alert(3)>{{ 7*7 }}"


PAGES = (
    "/memory",
    "/memory?q=alert",
    "/facts",
    "/facts?status=superseded",
    "/facts?status=unconfirmed",
    "/playbook",
    "/playbook?status=disabled",
    "/episodes",
    "/agents",
    "/agents/kitchen/memory",
    "/butlers/kitchen/memory",
    "/agents/kitchen/activity",
    "/chat",
    "/chat/monday",
    "/chat/monday?q=alert",
    "/conversations",
    "/conversations?q=alert",
    "/conversations/monday",
    "/journal/memory",
    "/activity",
    "/trash",
    "/instances",
    "/how-it-works",
    "/settings",
    "/settings/keys",
    "/settings/erase",
)


DESK = ("/team", "/team/review", "/team/manage", "/team/people", "/team/people/ada")


class Visitor:
    """Someone with a browser's session."""

    def __init__(self, served: Served, user: str, capabilities: tuple[str, ...] = ()) -> None:
        owner = Owner(served.engine.settings.tenant, user)
        session = served.engine.create_session(owner, capabilities, hours=24 * 365)
        self.client = served.client(Accept="text/html", Origin=served.address)
        self.client.cookies.set(SESSION_COOKIE, session.secret)

    def get(self, path: str) -> httpx.Response:
        return self.client.get(path, follow_redirects=True)

    def counted(self, path: str) -> str:
        """A page as it is when everything is counted."""
        while "data-counting" in (page := self.get(path).text):
            pass
        return page

    def token(self) -> str:
        found = re.search(r'name="token" value="(\w+)"', self.get("/settings/keys").text)
        assert found is not None
        return found[1]

    def send(self, path: str, **fields: Any) -> httpx.Response:
        return self.client.post(path, data={"token": self.token(), **fields})


def fill(served: Served, words: str) -> None:
    """Put a text wherever a page may show it."""
    me = served.engine.for_user("ada")
    me.append([{"role": "user", "content": words, "speaker": words[:60]}], "monday", title=words)
    me.remember(words, subject=words[:40], predicate=words[:40], session_id="monday")
    old = me.remember(f"{words} once").memory
    me.update(old.id, f"{words} now")
    rule = me.remember(f"Do {words}", kind="rule").memory
    me.harmful(rule.id, words)
    me.link(rule.id, me.list(kinds=["fact"]).items[0].id)
    me.remember(f"It was {words}", kind="episode", scope="kitchen")
    me.forget(me.remember(f"{words} forgotten").memory.id)
    me.delete(me.remember(f"{words} deleted").memory.id)
    learn_in_doubt(me, f"{words} perhaps", said=words)
    served.engine.create_key("ada", label=words[:100])
    served.engine.for_user("ada", agent="kitchen").remember(f"{words} in the kitchen")


def fill_with_payloads(served: Served) -> None:
    """Every payload as a memory, a topic, a conversation and what the team is told."""
    fill(served, HOSTILE)
    me = served.engine.for_user("ada")
    for number, one in enumerate(PAYLOADS):
        me.remember(one, subject=one, predicate=one, category="fact")
        me.append([{"role": "user", "content": one, "speaker": one}], f"s{number}", title=one)
        me.propose(f"The release notes show {one}", kind="fact")
