"""X2 over REST: every route that reads takes both moments or refuses them."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import httpx
import pytest

from remembrancer import Memory
from remembrancer.clock import ManualClock
from remembrancer.types import AsOf
from tests.support.http_server import Served

pytestmark = pytest.mark.feature("X2")

HOUR = timedelta(hours=1)
UNCHECKED = {
    "/healthz": "probes may add parameters against caches",
    "/readyz": "probes may add parameters against caches",
    "/metrics": "scrapers may add parameters of their own",
    "/v1/models": "clients of OpenAI's protocol may add parameters of their own",
}


@pytest.fixture
def served(serve: Callable[..., Served]) -> Served:
    return serve()


@pytest.fixture
def ada(served: Served) -> httpx.Client:
    return served.of("ada", capabilities=["users:view", "users:edit"])


@pytest.fixture
def me(served: Served) -> Memory:
    return served.engine.for_user("ada")


def read(client: httpx.Client, path: str, **params: object) -> Any:
    answer = client.get(path, params={name: str(value) for name, value in params.items()})
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_X2_no_route_that_reads_ignores_a_parameter(ada: httpx.Client) -> None:
    paths = read(ada, "/openapi.json")["paths"]
    ignoring = set()
    for template, methods in paths.items():
        if "get" not in methods:
            continue
        path = re.sub(r"\{\w+\}", "x", template)
        answer = ada.get(path, params={"nonsense": 1}, follow_redirects=False)
        if answer.status_code != 422 or "nonsense" not in answer.json()["detail"]:
            ignoring.add(template)
    assert ignoring == UNCHECKED.keys()


def test_X2_a_write_with_an_unknown_parameter_changes_nothing(
    ada: httpx.Client, me: Memory
) -> None:
    fact = me.remember("Ada lives in Oslo").memory

    refused = ada.delete(f"/api/memory/facts/{fact.id}", params={"dry_run": "1"})

    assert refused.status_code == 422
    assert refused.json()["errors"] == [
        {"where": "query.dry_run", "message": "Extra inputs are not permitted"}
    ]
    assert me.get(fact.id) == fact


@pytest.mark.parametrize("kind", ["fact", "rule", "episode"])
def test_X2_the_detail_of_a_memory_is_that_of_the_moment(
    ada: httpx.Client, me: Memory, clock: ManualClock, kind: str
) -> None:
    other = me.remember("Ada keeps a red bicycle", kind=kind).memory
    first = me.remember("Ada sails to Oslo", kind=kind).memory
    path = f"/api/memory/{kind}s/{first.id}"
    before = clock.now()
    clock.advance(HOUR)
    me.link(first.id, other.id)
    linked = clock.now()
    clock.advance(HOUR)
    second = me.update(first.id, "Ada sails to Lima").memory

    then = read(ada, path, known_at=before)
    assert then["memory"]["status"] == "active"
    assert [one["id"] for one in then["versions"]] == [first.id]
    assert [one["action"] for one in then["events"]] == ["remembered"]
    assert then["links"] == []
    (link,) = read(ada, path, known_at=linked)["links"]
    assert (link["source"], link["target"]) == (first.id, other.id)
    now = read(ada, path)
    assert now["memory"]["status"] == "superseded"
    assert [one["id"] for one in now["versions"]] == [first.id, second.id]
    assert read(ada, path, true_at=clock.now())["memory"]["id"] == second.id
    assert ada.get(path, params={"known_at": str(before - HOUR)}).status_code == 404


def test_X2_a_fact_shows_the_sources_that_were_stored_then(
    ada: httpx.Client, me: Memory, clock: ManualClock
) -> None:
    episode = me.remember("Ada asked for the harbour of Oslo", kind="episode").memory
    fact = me.remember("Ada sails to Oslo").memory
    me.link(fact.id, episode.id, "derived_from")
    before = clock.now()
    clock.advance(HOUR)
    me.forget(episode.id)

    def sources(**params: object) -> list[tuple[str, str]]:
        detail = read(ada, f"/api/memory/facts/{fact.id}", **params)
        return [(one["id"], one["status"]) for one in detail["sources"]]

    assert sources(known_at=before) == [(episode.id, "active")]
    assert sources() == [(episode.id, "forgotten")]


def test_X2_the_memories_and_turns_of_a_session_are_those_of_the_moment(
    ada: httpx.Client, me: Memory, clock: ManualClock
) -> None:
    moments: list[datetime] = []
    for place in ("Oslo", "Lima"):
        me.append([{"role": "user", "content": f"We sail to {place}."}], "trip")
        me.remember(f"Ada went to {place}", kind="episode", session_id="trip")
        moments.append(clock.now())
        clock.advance(HOUR)

    def look(**params: object) -> tuple[int, list[str]]:
        count = read(ada, "/api/sessions/trip/count", **params)["turns"]
        found = read(ada, "/api/sessions/trip/memories", **params)["items"]
        return count, [one["content"] for one in found]

    assert look(known_at=moments[0] - HOUR) == (0, [])
    assert look(known_at=moments[0]) == (1, ["Ada went to Oslo"])
    assert look(true_at=moments[0]) == (1, ["Ada went to Oslo"])
    assert look(known_at=moments[1]) == look() == (2, ["Ada went to Lima", "Ada went to Oslo"])


def test_X2_what_was_concluded_from_a_session_is_in_the_version_of_the_moment(
    me: Memory, clock: ManualClock
) -> None:
    episode = me.remember("Ada went to Oslo", kind="episode", session_id="trip").memory
    fact = me.remember("Ada sails to Oslo").memory
    me.link(fact.id, episode.id, "derived_from")
    before = clock.now()
    clock.advance(HOUR)
    newer = me.update(fact.id, "Ada sails to Oslo", importance=8).memory

    def concluded(as_of: AsOf | None = None) -> list[tuple[str, str]]:
        found = me.session_memories("trip", as_of=as_of)
        return [(one.id, one.status) for one in found if one.kind == "fact"]

    assert concluded() == [(newer.id, "active")]
    assert concluded(AsOf(known=before)) == [(fact.id, "active")]
    clock.advance(HOUR)
    me.update(newer.id, "Ada sails to Lima")
    assert concluded() == []
    assert concluded(AsOf(known=before)) == [(fact.id, "active")]


def test_X2_what_has_no_history_refuses_a_moment(ada: httpx.Client, me: Memory) -> None:
    me.append([{"role": "user", "content": "We sail to Porto."}], "trip")
    for path in ("", "/trip", "/trip/view"):
        answer = ada.get(f"/api/sessions{path}", params={"known_at": "2026-03-02T12:00:00Z"})
        assert answer.status_code == 422, path


@pytest.fixture
def story(me: Memory, clock: ManualClock) -> list[datetime]:
    """A fact that is replaced, linked and told in a conversation; the moments after each step."""
    moments: list[datetime] = []
    key = {"subject": "ada", "predicate": "home"}
    bicycle = me.remember("Ada keeps a red bicycle").memory
    steps: list[Callable[[], object]] = [
        lambda: me.remember("Ada lives in Oslo", **key),
        lambda: me.append([{"role": "user", "content": "We are moving."}], "move"),
        lambda: me.remember("Ada lives in Lima", **key),
        lambda: me.link("Lima", bicycle.id),
        lambda: me.append([{"role": "user", "content": "We have moved."}], "move"),
    ]
    for step in steps:
        clock.advance(HOUR)
        step()
        moments.append(clock.now())
    clock.advance(HOUR)
    return moments


def test_X2_what_is_read_over_rest_is_that_of_the_moment(
    ada: httpx.Client, me: Memory, story: list[datetime]
) -> None:
    lima = me.get("Lima").id

    def look(path: str, *names: str) -> list[object]:
        return [pick(read(ada, path, known_at=one), names) for one in story]

    key = {"subject": "ada", "predicate": "home"}
    homes = [read(ada, "/api/memory/fact", **key, known_at=one)["fact"] for one in story]
    assert [one["content"] for one in homes] == [
        *["Ada lives in Oslo"] * 2,
        *["Ada lives in Lima"] * 3,
    ]
    assert look(f"/api/memory/{lima}/links", "items", "relation") == [
        [],
        [],
        ["supersedes"],
        ["supersedes", "related_to"],
        ["supersedes", "related_to"],
    ]
    assert look(f"/api/memory/{lima}/history", "versions", "status") == [
        *[["active"]] * 2,
        *[["superseded", "active"]] * 3,
    ]
    assert look("/api/sessions/move/turns", "items", "content") == [
        [],
        *[["We are moving."]] * 3,
        ["We are moving.", "We have moved."],
    ]
    counts = [read(ada, "/api/memory/stats", known_at=one)["by_kind"] for one in story]
    assert [one["fact"] for one in counts] == [
        *[{"active": 2}] * 2,
        *[{"active": 2, "superseded": 1}] * 3,
    ]
    assert [one.get("turn", {}).get("active", 0) for one in counts] == [0, 1, 1, 1, 2]


def pick(answer: Any, names: tuple[str, ...]) -> list[object]:
    entries, field = names
    return [one[field] for one in answer[entries]]


def test_X2_the_team_answers_over_rest_as_of_a_moment(
    serve: Callable[..., Served], clock: ManualClock
) -> None:
    served = serve("assistant")
    me, review = served.engine.for_user("ada"), served.engine.review("root")
    ada, words = served.of("ada"), "Which ports does the proxy use?"
    first = "The proxy pool uses ports 9000 to 9999."
    fact_id = str(me.propose(first).fact_id)
    moments = [(clock.now(), [])]
    for step, expected in (
        (lambda: review.approve(fact_id), [first]),
        (lambda: review.edit(fact_id, first.replace("9", "7")), [first.replace("9", "7")]),
        (lambda: review.reject(fact_id), []),
    ):
        clock.advance(HOUR)
        step()
        moments.append((clock.now(), expected))
    clock.advance(HOUR)

    for moment, expected in moments:
        body = {"query": words, "known_at": moment.isoformat()}
        found = ada.post("/api/team/recall", json=body).json()["items"]
        assert [one["content"] for one in found] == expected
        listed = read(ada, "/api/team/facts", known_at=moment)
        assert [one["content"] for one in listed["items"]] == expected
        assert all(one["origin"] == "user" for one in listed["items"])
    assert read(ada, "/api/team/facts") == {"items": [], "cursor": None}


def test_the_facts_of_a_team_are_listed_page_by_page(serve: Callable[..., Served]) -> None:
    served = serve("assistant")
    me, review = served.engine.for_user("ada"), served.engine.review("root")
    contents = ["The build runs every night.", "Releases are cut from the main branch."]
    review.approve(*(str(me.propose(one).fact_id) for one in contents))
    ada, found, cursor = served.of("ada"), [], ""
    for _ in contents:
        page = ada.get(f"/api/team/facts?limit=1&origin=user{cursor}").json()
        found += [one["content"] for one in page["items"]]
        cursor = f"&cursor={page['cursor']}"
    assert sorted(found) == sorted(contents)
    assert page["cursor"] is None
    assert read(ada, "/api/team/facts", origin="agent")["items"] == []
    assert read(ada, "/api/team/facts", kind="howto")["items"] == []


@pytest.mark.parametrize("kind", ["fact", "rule", "episode"])
@pytest.mark.parametrize("q", [None, "sails"])
def test_X2_lists_have_what_was_true_at_a_moment(
    ada: httpx.Client, me: Memory, clock: ManualClock, kind: str, q: str | None
) -> None:
    first = me.remember("Ada sails to Oslo", kind=kind).memory
    said = clock.now()
    clock.advance(24 * HOUR)
    me.update(first.id, "Ada sails to Lima")
    query = {} if q is None else {"q": q}

    for moment, content in (
        (said, "Ada sails to Oslo"),
        (said.date(), "Ada sails to Oslo"),
        (clock.now(), "Ada sails to Lima"),
    ):
        found = read(ada, f"/api/memory/{kind}s", true_at=moment, **query)["items"]
        assert [one["content"] for one in found] == [content]
    assert read(ada, f"/api/memory/{kind}s", true_at=said - HOUR, **query)["items"] == []
