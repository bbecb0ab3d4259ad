"""M14: the listed REST endpoints; editing a fact supersedes, editing a rule starts it anew."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import httpx
import pytest

from remembrancer.clock import ManualClock
from remembrancer.types import Relation
from tests.support.http_server import Served

pytestmark = [pytest.mark.feature("M14"), pytest.mark.postgres_long]

Serve = Callable[..., Served]

LISTED = """
GET /api/memory/stats
GET /api/memory/facts
GET /api/memory/facts/{id}
PUT /api/memory/facts/{id}
DELETE /api/memory/facts/{id}
GET /api/memory/rules
GET /api/memory/rules/{id}
PUT /api/memory/rules/{id}
DELETE /api/memory/rules/{id}
GET /api/memory/episodes
GET /api/memory/episodes/{id}
GET /api/memory/activity
GET /api/butlers/{agent}/memory/stats
GET /api/butlers/{agent}/memory/facts
GET /api/butlers/{agent}/memory/rules
GET /api/butlers/{agent}/memory/episodes
GET /api/agents/{agent}/memory/stats
GET /api/agents/{agent}/memory/facts
GET /api/agents/{agent}/memory/rules
GET /api/agents/{agent}/memory/episodes
""".split("\n")[1:-1]


@pytest.fixture
def served(serve: Serve) -> Served:
    return serve("agents")


@pytest.fixture
def ada(served: Served) -> httpx.Client:
    return served.of("ada")


def remembered(client: httpx.Client, content: str, **details: object) -> str:
    answer = client.post("/api/remember", json={"content": content, **details})
    assert answer.status_code == 200, answer.text
    return str(answer.json()["memory"]["id"])


def contents(answer: httpx.Response) -> set[str]:
    assert answer.status_code == 200, answer.text
    return {one["content"] for one in answer.json()["items"]}


def test_M14_every_listed_endpoint_is_there(ada: httpx.Client) -> None:
    paths = ada.get("/openapi.json").json()["paths"]
    there = {f"{method.upper()} {path}" for path, one in paths.items() for method in one}
    assert set(LISTED) <= there


def test_M14_facts_are_browsed_by_scope_subject_words_and_confidence(
    ada: httpx.Client, clock: ManualClock
) -> None:
    remembered(ada, "Ada drinks tea.", subject="ada", predicate="drinks", scope="health")
    remembered(ada, "Ada plays chess.", subject="chess", predicate="player", permanence="stable")
    remembered(ada, "Deploys run on Fridays.", scope="devops", permanence="ephemeral")

    facts = "/api/memory/facts"
    assert len(contents(ada.get(facts))) == 3
    assert contents(ada.get(facts, params={"subject": "chess"})) == {"Ada plays chess."}
    assert contents(ada.get(facts, params={"scope": "health"})) == {
        "Ada drinks tea.",
        "Ada plays chess.",
    }
    best = ada.get(facts, params={"q": "which hot drink?", "limit": 1}).json()
    assert best["items"][0]["content"] == "Ada drinks tea."
    clock.advance(timedelta(days=10))
    sure = contents(ada.get(facts, params={"min_confidence": 0.9}))
    assert sure == {"Ada drinks tea.", "Ada plays chess."}


@pytest.mark.feature("M15")
def test_memories_are_browsed_and_searched_by_agent_and_session(ada: httpx.Client) -> None:
    remembered(ada, "Ada drinks tea.", session_id="monday")
    body = {"content": "Ada drinks mate.", "session_id": "monday"}
    ada.post("/api/agents/health/remember", json=body)

    for place in ("/api/memory/facts", "/api/memory", "/api/agents/finance/memory/facts"):
        for found in ({}, {"q": "hot drinks"}):
            by_health = contents(ada.get(place, params={"agent": "health", **found}))
            assert by_health == {"Ada drinks mate."}
            assert len(contents(ada.get(place, params={"session": "monday", **found}))) == 2
            assert not contents(ada.get(place, params={"session": "sunday", **found}))
    asked = ada.post("/api/recall", json={"query": "hot drinks", "agent": "health"}).json()
    assert [one["memory"]["content"] for one in asked["items"]] == ["Ada drinks mate."]


def test_M14_pages_follow_each_other_by_cursor(ada: httpx.Client) -> None:
    told = {remembered(ada, f"Number {n} is {n * n}.", importance=3) for n in range(7)}
    for words in ({}, {"q": "number"}):
        seen: list[str] = []
        cursor: str | None = None
        while True:
            asked = {"limit": "3", **words, **({"cursor": cursor} if cursor else {})}
            page = ada.get("/api/memory/facts", params=asked).json()
            seen += [one["id"] for one in page["items"]]
            cursor = page["cursor"]
            if cursor is None:
                break
        assert sorted(seen) == sorted(told)


def test_M14_editing_a_fact_supersedes_it(ada: httpx.Client) -> None:
    first = remembered(ada, "Ada lives in Bonn.", subject="ada", predicate="home")

    edited = ada.put(f"/api/memory/facts/{first}", json={"content": "Ada lives in Oslo."}).json()

    second = edited["memory"]["id"]
    assert edited["memory"]["supersedes"] == first
    assert edited["replaced"]["status"] == "superseded"
    detail = ada.get(f"/api/memory/facts/{second}").json()
    assert [one["id"] for one in detail["versions"]] == [first, second]
    assert {"supersedes"} == {one["relation"] for one in detail["links"]}
    assert detail["events"][0]["action"] == "remembered"
    assert contents(ada.get("/api/memory/facts")) == {"Ada lives in Oslo."}


def test_M14_every_relation_that_is_offered_can_be_made_and_no_other(ada: httpx.Client) -> None:
    first, second = remembered(ada, "Ada has a cat."), remembered(ada, "The cat is called Mila.")
    schema = ada.get("/openapi.json").json()["components"]["schemas"]["LinkRequest"]
    offered = schema["properties"]["relation"]["enum"]

    for relation in offered:
        body = {"target": second, "relation": relation}
        answer = ada.post(f"/api/memory/{first}/links", json=body)
        assert answer.status_code == 200, answer.text

    made = ada.get(f"/api/memory/{first}/links").json()["items"]
    assert {one["relation"] for one in made} == set(offered)
    assert {*Relation} - set(offered) == {Relation.SUPERSEDES}
    body = {"target": second, "relation": "supersedes"}
    assert ada.post(f"/api/memory/{first}/links", json=body).status_code == 422


def test_M14_a_relation_is_accepted_by_its_other_name(ada: httpx.Client) -> None:
    first, second = remembered(ada, "Ada has a cat."), remembered(ada, "The cat is called Mila.")
    body = {"target": second, "relation": "relates_to"}

    assert ada.post(f"/api/memory/{first}/links", json=body).status_code == 200
    (made,) = ada.get(f"/api/memory/{first}/links").json()["items"]
    assert made["relation"] == "related_to"
    assert ada.delete(f"/api/memory/{first}/links", params=body).status_code == 200
    assert ada.get(f"/api/memory/{first}/links").json()["items"] == []


def test_M14_a_deleted_fact_can_be_restored(ada: httpx.Client) -> None:
    fact = remembered(ada, "Ada has a cat.")

    deleted = ada.delete(f"/api/memory/facts/{fact}").json()

    assert deleted["memory"]["status"] == "trashed"
    assert contents(ada.get("/api/memory/facts")) == set()
    assert contents(ada.get("/api/trash")) == {"Ada has a cat."}
    assert ada.post(f"/api/memory/{fact}/restore").json()["memory"]["status"] == "active"


def test_M14_a_fact_tells_the_turn_it_comes_from(served: Served, ada: httpx.Client) -> None:
    said = [{"role": "user", "content": "Please remember that my sister plays the cello."}]
    ada.post("/api/learn", json={"turns": said})
    served.engine.flush()

    (fact,) = ada.get("/api/memory/facts").json()["items"]
    detail = ada.get(f"/api/memory/facts/{fact['id']}").json()

    assert [one["content"] for one in detail["sources"]] == [said[0]["content"]]


def test_M14_editing_a_rule_makes_it_a_candidate_again(
    ada: httpx.Client, clock: ManualClock
) -> None:
    rule = remembered(ada, "Confirm before sending.", kind="rule")
    for _ in range(5):
        clock.advance(timedelta(minutes=1))
        ada.post("/api/feedback", json={"rule": rule, "verdict": "helpful"})
    before = ada.get(f"/api/memory/rules/{rule}").json()
    assert before["memory"]["maturity"] == "established"
    assert len(before["applications"]) == 5
    assert contents(ada.get("/api/memory/rules", params={"maturity": "established"}))

    edited = ada.put(f"/api/memory/rules/{rule}", json={"content": "Always confirm first."})

    assert edited.json()["memory"]["maturity"] == "candidate"
    assert not contents(ada.get("/api/memory/rules", params={"maturity": "established"}))
    assert contents(ada.get("/api/memory/rules", params={"maturity": "candidate"}))


def test_M14_episodes_are_browsed_by_butler_and_time(ada: httpx.Client, clock: ManualClock) -> None:
    first = remembered(ada, "Logged a weight of 75 kg.", kind="episode", scope="health")
    clock.advance(timedelta(hours=1))
    noon = clock.now()
    second = remembered(ada, "Deployed the site.", kind="episode", scope="devops")

    episodes = "/api/memory/episodes"
    assert len(contents(ada.get(episodes))) == 2
    assert contents(ada.get(episodes, params={"butler": "health"})) == {"Logged a weight of 75 kg."}
    later = ada.get(episodes, params={"from": noon.isoformat()}).json()["items"]
    earlier = ada.get(episodes, params={"to": noon.isoformat()}).json()["items"]
    assert [one["id"] for one in later] == [second]
    assert [one["id"] for one in earlier] == [first]
    assert ada.get(f"{episodes}/{first}").json()["memory"]["backlog"] == "pending"


def test_M14_a_butler_sees_its_own_and_what_is_global(ada: httpx.Client) -> None:
    remembered(ada, "Ada drinks tea.", scope="health")
    remembered(ada, "Deploys run on Fridays.", scope="devops")
    remembered(ada, "Ada lives in Oslo.")
    remembered(ada, "Be brief.", kind="rule", scope="devops")
    remembered(ada, "Deployed the site.", kind="episode", scope="devops")

    for place in ("/api/butlers/health/memory", "/api/agents/health/memory"):
        assert contents(ada.get(f"{place}/facts")) == {"Ada drinks tea.", "Ada lives in Oslo."}
        assert contents(ada.get(f"{place}/rules")) == set()
        assert contents(ada.get(f"{place}/episodes")) == set()
        stats = ada.get(f"{place}/stats").json()
        assert stats["by_scope"] == {"global": 1, "health": 1}
        assert stats["by_kind"] == {"fact": {"active": 2}}


def test_M14_activity_tells_what_happened(ada: httpx.Client) -> None:
    remembered(ada, "Ada drinks tea.")
    page = ada.get("/api/memory/activity").json()
    assert [one["action"] for one in page["items"]] == ["remembered"]
    assert "tea" not in str(page)


def test_M14_one_kind_is_not_found_among_another(ada: httpx.Client) -> None:
    fact = remembered(ada, "Ada drinks tea.")
    for answer in (
        ada.get(f"/api/memory/rules/{fact}"),
        ada.get(f"/api/memory/episodes/{fact}"),
        ada.put(f"/api/memory/rules/{fact}", json={"content": "x"}),
        ada.delete(f"/api/memory/rules/{fact}"),
    ):
        assert (answer.status_code, answer.json()["code"]) == (404, "not_found")


@pytest.mark.feature("A5")
def test_A5_a_secret_sent_over_rest_is_refused_and_leaves_no_memory(ada: httpx.Client) -> None:
    for content in ("My password is hunter2", "the passphrase is correct horse battery staple"):
        refused = ada.post("/api/remember", json={"content": content})
        assert refused.status_code == 400
        assert "Secrets are never stored" in refused.json()["detail"]
        assert content not in refused.text
    assert ada.get("/api/memory/facts").json()["items"] == []


def test_M14_searching_a_listing_counts_no_use(
    served: Served, ada: httpx.Client, clock: ManualClock
) -> None:
    fact = remembered(ada, "Ada drinks green tea.")
    remembered(ada, "Pour tea at four.", kind="rule")
    remembered(ada, "Ada asked for tea.", kind="episode")

    for kind in ("facts", "rules", "episodes"):
        assert len(contents(ada.get(f"/api/memory/{kind}?q=tea"))) == 1
    served.engine.flush()

    shown = ada.get(f"/api/memory/{fact}").json()
    assert (shown["recall_count"], shown["recalled_at"]) == (0, None)


def test_M14_stats_tell_maturity_confidence_effectiveness_and_the_last_consolidation(
    served: Served, ada: httpx.Client, clock: ManualClock
) -> None:
    rule = remembered(ada, "Pour tea at four.", kind="rule")
    for _ in range(5):
        ada.post("/api/feedback", json={"rule": rule, "verdict": "helpful"})
    remembered(ada, "Ada drinks green tea.", permanence="ephemeral")
    clock.advance(timedelta(days=10))
    remembered(ada, "Ada lives in Bern.")

    stats = ada.get("/api/memory/stats").json()

    assert stats["by_maturity"] == {"established": 1}
    assert stats["by_confidence"] == {"0.2-0.4": 1, "0.4-0.6": 1, "0.8-1": 1}
    assert stats["effectiveness"] == pytest.approx(5 / 5.01, abs=0.001)
    assert stats["consolidated_at"] is None


@pytest.mark.parametrize("path", ["/api/memory", "/api/memory/facts"])
def test_delete_for_good_skips_the_trash(ada: httpx.Client, path: str) -> None:
    kept = remembered(ada, "The boat is red.")
    deleted = ada.delete(f"{path}/{kept}")
    assert deleted.is_success, deleted.text
    assert contents(ada.get("/api/trash")) == {"The boat is red."}

    gone = ada.delete(f"{path}/{kept}", params={"for_good": True})

    assert gone.json()["event"]["action"] == "deleted"
    assert contents(ada.get("/api/trash")) == set()
    assert ada.get(f"/api/memory/{kept}").status_code == 404
    assert ada.post("/api/undo", json={"event": gone.json()["event"]["id"]}).status_code == 409


def test_an_export_takes_the_trash_along_only_if_asked(ada: httpx.Client) -> None:
    ada.delete(f"/api/memory/{remembered(ada, 'The boat is red.')}")

    assert "boat" not in ada.get("/api/export").text
    assert "boat" in ada.get("/api/export", params={"include_trash": True}).text
