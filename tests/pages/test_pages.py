"""The pages as a browser gets them: who may see what, forged forms, headers, hostile text."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from datetime import timedelta
from html.parser import HTMLParser

import pytest

from remembrancer.access.keys import CAPABILITIES
from remembrancer.clock import ManualClock
from remembrancer.server import pages
from remembrancer.server.pages.static import read_asset
from tests.support.http_server import Served
from tests.support.visitor import DESK, PAGES, PAYLOADS, Visitor, fill, fill_with_payloads

pytestmark = pytest.mark.postgres_long

Serve = Callable[..., Served]

LISTINGS = (
    "/memory",
    "/memory?q=number",
    "/facts",
    "/facts?status=fading",
    "/playbook",
    "/episodes",
    "/agents",
    "/agents/kitchen/memory",
    "/conversations",
    "/journal/memory",
    "/activity",
    "/trash",
)


@pytest.fixture
def served(serve: Serve) -> Served:
    return serve(profile="agents", profile_overrides={"team": {"enabled": True}})


@pytest.fixture
def ada(served: Served) -> Visitor:
    return Visitor(served, "ada", CAPABILITIES)


class Seen(HTMLParser):
    """A page as a browser reads it: what is text in it, and what could do anything."""

    DANGEROUS = frozenset({"img", "iframe", "object", "embed", "style", "base", "video", "audio"})

    def __init__(self, page: str) -> None:
        super().__init__()
        self.said = ""
        self.dangers: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        ours = tag != "script" or (given.get("src") or "").startswith("/static/")
        links = [given.get(name) or "/" for name in ("href", "src", "action", "formaction")]
        if (
            tag in self.DANGEROUS
            or not ours
            or any(name.startswith("on") or name in ("style", "srcdoc") for name in given)
            or any(not link.startswith(("/", "#", "?")) or link.startswith("//") for link in links)
            or given.get("http-equiv")
        ):
            self.dangers.append(self.get_starttag_text() or tag)

    def handle_data(self, data: str) -> None:
        self.said += data


def test_every_page_shows_hostile_text_as_text(served: Served, ada: Visitor) -> None:
    fill_with_payloads(served)
    memories = served.engine.for_user("ada").list().items
    for path in (*PAGES, *DESK, *(f"/memory/{one.id}" for one in memories)):
        answer = ada.get(path)
        assert answer.status_code == 200, (path, answer.text[:300])
        assert Seen(answer.text).dangers == [], path
    listed = Seen(ada.get("/facts").text).said
    assert [one for one in PAYLOADS if one not in listed] == []


def test_every_page_has_a_policy_that_lets_nothing_in(served: Served, ada: Visitor) -> None:
    for path in (*PAGES, *DESK, "/nowhere"):
        answer = ada.get(path)
        policy = answer.headers["content-security-policy"]
        assert policy.startswith("default-src 'none'"), path
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert answer.headers["x-frame-options"] == "DENY"
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["cache-control"] == "no-store"
        assert not re.search(r"<script(?! src=\"/static/)|<style|\sstyle=|\son\w+=", answer.text)
        outside = re.findall(r'(?:src|href|action)="(?!/|#|\?)([^"]*)"', answer.text)
        assert outside == [], path


def forms() -> set[str]:
    """Wherever a page of a session sends something."""
    routers = [one.original_router for one in pages.routes() if hasattr(one, "original_router")]
    paths = {one.path for router in routers for one in router.routes if "POST" in one.methods}
    return paths - {"/login"}


def test_forms_that_are_not_ours_change_nothing(served: Served, ada: Visitor) -> None:
    me = served.engine.for_user("ada")
    kept = me.remember("Ada drinks tea.").memory
    other = Visitor(served, "bob").token()
    assert len(forms()) >= 20
    fields = {"content": "Ada drinks gin.", "name": "ada", "user": "ada", "do": "approve"}
    for path in (re.sub(r"{\w+(:path)?}", kept.id, form) for form in forms()):
        for token in ("", "0" * 64, other):
            answer = ada.client.post(path, data={**fields, "token": token})
            assert answer.status_code == 403, path
            assert "Not allowed" in answer.text
        foreign = ada.client.post(
            path, data={**fields, "token": ada.token()}, headers={"Origin": "https://evil.test"}
        )
        assert foreign.status_code == 403
        silent = ada.client.post(
            path, data={**fields, "token": ada.token()}, headers={"Origin": "null"}
        )
        assert silent.status_code == 403
    assert [one.content for one in me.list().items] == ["Ada drinks tea."]
    assert len(me.activity().items) == 1


def test_a_form_never_leads_to_another_site(served: Served, ada: Visitor) -> None:
    for place in ("https://evil.test", "//evil.test", "/\\evil.test", "javascript:alert(1)"):
        answer = ada.send("/remember", content="Ada drinks tea.", back=place)
        assert answer.headers["location"] == "/memory"


def test_without_the_capability_the_team_is_invisible_and_forbidden(
    served: Served, ada: Visitor
) -> None:
    bob = Visitor(served, "bob")
    viewer = Visitor(served, "eve", ("users:view",))
    me = served.engine.for_user("ada")
    me.remember("Ada drinks tea.")
    fact = me.propose("Deploys are frozen on Fridays.").fact_id
    assert 'href="/team"' not in bob.get("/memory").text
    assert 'href="/team"' in viewer.get("/memory").text
    for path in (*DESK, "/settings/checks"):
        assert bob.get(path).status_code == 403, path
    for who, allowed in ((bob, ()), (viewer, DESK)):
        for path in allowed:
            assert who.get(path).status_code == 200
        switching = {"dedup_threshold": "0.5", "recall_confidence": "0.5", "limit": "5"}
        forms = [
            ("/team/decide", {"do": "approve", "id": fact}),
            ("/team/decide", {"do": "delete", "id": fact}),
            (f"/team/facts/{fact}", {"content": "Other words for it.", "importance": "5"}),
            ("/team/propose", {"content": "Builds run at night.", "approve": "1"}),
            ("/team/people/ada/withdraw", {"name": "ada"}),
            ("/team/people/ada/erase", {"name": "ada"}),
            ("/settings/switches", switching),
            ("/settings/jobs/tidy", {}),
        ]
        for path, fields in forms:
            assert who.send(path, **fields).status_code == 403, path
    assert "Approve selected" not in viewer.get("/team/review").text
    assert "1 contributor" in viewer.get("/team/review").text


def test_a_reviewer_never_sees_who_said_something(served: Served) -> None:
    eve = Visitor(served, "eve", ("users:view",))
    served.engine.for_user("zebediah").propose("Deploys are frozen on Fridays.")
    for path in ("/team", "/team/review", "/team/manage"):
        assert "zebediah" not in eve.get(path).text


def test_another_persons_memories_and_conversations_are_missing(
    served: Served, ada: Visitor
) -> None:
    fill(served, "The garden gate is green.")
    bob = Visitor(served, "bob")
    for one in served.engine.for_user("ada").list().items:
        assert bob.get(f"/memory/{one.id}").status_code == 404
        assert bob.send(f"/memory/{one.id}/forget").status_code == 404
    assert bob.get("/conversations/monday").status_code == 404
    for path in PAGES:
        assert "garden gate" not in bob.get(path).text, path


def test_a_browser_without_a_session_is_told_how_to_get_in(served: Served) -> None:
    stranger = served.client(Accept="text/html")
    for path in ("/", "/memory", "/facts", "/team"):
        answer = stranger.get(path)
        assert answer.status_code == 401
        assert "rem login" in answer.text
    assert "rem login" in stranger.get("/login").text
    used_up = stranger.post("/login", data={"code": "rem_" + "0" * 52})
    assert used_up.status_code == 401
    assert "rem login" in used_up.text
    assert stranger.get("/static/page.css").status_code == 200
    assert stranger.get("/static/../app.py").status_code in (401, 404)
    assert served.client().get("/memory").headers["content-type"] == "application/problem+json"


def test_the_pages_show_what_was_known_on_a_day(
    served: Served, ada: Visitor, clock: ManualClock
) -> None:
    me = served.engine.for_user("ada")
    me.remember("Ada lives in London.", subject="ada", predicate="lives_in")
    day = clock.now().date().isoformat()
    clock.advance(timedelta(days=3))
    me.remember("Ada lives in Ockham.", subject="ada", predicate="lives_in")
    assert "Ada lives in London." in ada.get(f"/facts?as_of={day}").text
    assert "Ada lives in Ockham." not in ada.get(f"/facts?as_of={day}").text
    assert ada.get("/facts?as_of=yesterday").status_code == 400


def test_filters_narrow_what_a_page_shows(served: Served, ada: Visitor, clock: ManualClock) -> None:
    me = served.engine.for_user("ada")
    me.remember("Ada reads Dune.", permanence="volatile", subject="ada", predicate="reads")
    me.remember("Byron is a cat.", permanence="permanent", subject="byron", predicate="is")
    clock.advance(timedelta(days=60))
    for query, shown, hidden in (
        ("subject=byron", "Byron", "Dune"),
        ("permanence=volatile", "Dune", "Byron"),
        ("confidence=80", "Byron", "Dune"),
        ("status=fading", "Dune", "Byron"),
        ("scope=global", "Byron", "nothing"),
        ("q=cat", "Byron is a cat", "nothing"),
    ):
        page = ada.get(f"/facts?{query}").text
        assert shown in page, query
        assert hidden not in page, query
    assert ada.get("/facts?permanence=eternal").status_code == 400


def test_looking_at_pages_recalls_nothing_and_changes_nothing(served: Served, ada: Visitor) -> None:
    me = served.engine.for_user("ada")
    kept = me.remember("Ada drinks tea.").memory
    for path in ("/memory?q=tea", "/palette.json?q=tea", f"/memory/{kept.id}", "/facts?q=tea"):
        ada.get(path)
    served.engine.flush()
    assert me.get(kept.id).recall_count == 0
    assert len(me.activity().items) == 1


def test_the_files_of_the_pages_stay_small(ada: Visitor) -> None:
    assert len(read_asset("page.css")) <= 30_000
    assert len(read_asset("page.js")) <= 25_000
    page = ada.get("/memory").text
    assets = re.findall(r'"(/static/[^"]+)"', page)
    for asset in assets:
        assert "immutable" in ada.get(asset).headers["cache-control"]


def test_a_page_takes_as_many_queries_for_many_memories_as_for_few(
    served: Served, ada: Visitor, queries: Callable[[], int]
) -> None:
    me = served.engine.for_user("ada")

    def asked(path: str) -> int:
        ada.counted(path)
        before = queries()
        ada.get(path)
        return queries() - before

    def all_asked() -> dict[str, int]:
        before = queries()
        me.survey()
        counting = queries() - before
        me.recall("number", used=False)  # the index is read when it is first needed
        return {"counting": counting, **{path: asked(path) for path in LISTINGS}}

    for number in range(45):
        me.remember(f"Number {number} is {number * 7 % 11}.", subject=f"n{number}", predicate="is")
    all_asked()  # notes that the key was used
    few = all_asked()
    for number in range(45, 120):
        me.remember(f"Number {number} is {number * 7 % 11}.", subject=f"n{number}", predicate="is")
    assert all_asked() == few


@pytest.fixture
def queries() -> Iterator[Callable[[], int]]:
    """How many statements were executed so far, but for those that count behind the pages."""
    from sqlalchemy import Engine, event

    counted = [0]

    def count(*_: object) -> None:
        counted[0] += not threading.current_thread().name.startswith("remembrancer-survey")

    event.listen(Engine, "before_cursor_execute", count)
    yield lambda: counted[0]
    event.remove(Engine, "before_cursor_execute", count)
