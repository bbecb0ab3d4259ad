"""A4, A20, A21, N7 over REST: one store behind every surface, the team's desk, live switches."""

from __future__ import annotations

import time
from collections.abc import Callable

import httpx
import pytest

from tests.support.http_server import Served, served
from tests.support.opening import Open

pytestmark = pytest.mark.feature("A4", "A20", "A21", "N7")

Serve = Callable[..., Served]
PORTS = "The proxy pool uses ports 9000 to 9999."


@pytest.fixture
def team(serve: Serve) -> Served:
    return serve("assistant")


@pytest.fixture
def desk(team: Served) -> httpx.Client:
    return team.of("root", capabilities=["users:view", "users:edit"])


def proposed(team: Served, content: str = PORTS, *people: str) -> str:
    fact = ""
    for name in people or ("ada",):
        answer = team.of(name).post("/api/team/propose", json={"content": content})
        fact = answer.json()["fact_id"]
    return fact


def test_A4_taught_on_one_surface_and_corrected_on_another(serve: Serve) -> None:
    running = serve()
    library = running.engine.for_user("ada", surface="telegram")
    taught = library.remember("Ada lives in Bonn.").memory.id
    rest = running.of("ada")

    found = rest.post("/api/recall", json={"query": "where does Ada live?"}).json()["items"]
    assert (found[0]["memory"]["id"], found[0]["memory"]["surface"]) == (taught, "telegram")
    rest.put(f"/api/memory/{taught}", json={"content": "Ada lives in Oslo."})

    (now,) = library.recall("where does Ada live?", limit=1)
    assert (now.memory.content, now.memory.surface) == ("Ada lives in Oslo.", "rest")


def test_A4_two_servers_over_one_store_know_the_same(open_memory: Open) -> None:
    with served(open_memory()) as here, served(open_memory()) as there:
        secret = here.engine.create_key("ada").secret
        here.client(secret).post("/api/remember", json={"content": "Ada drinks tea."})
        found = there.client(secret).post("/api/recall", json={"query": "tea"}).json()
        assert [one["memory"]["content"] for one in found["items"]] == ["Ada drinks tea."]


def test_A20_what_is_proposed_is_told_when_it_is_approved(team: Served, desk: httpx.Client) -> None:
    fact = proposed(team)
    bob = team.of("bob")
    ask = {"query": "which ports?"}
    assert bob.post("/api/team/recall", json=ask).json()["items"] == []
    single = desk.get("/api/team/review/facts", params={"status": "pending", "single": True})
    (entry,) = single.json()["items"]
    assert (entry["fact"]["id"], entry["contributors"]) == (fact, 1)
    assert '"ada' not in single.text

    assert desk.post("/api/team/review/approve", json={"ids": [fact]}).status_code == 200

    (told,) = bob.post("/api/team/recall", json=ask).json()["items"]
    assert told.keys() == {"kind", "content", "importance", "confidence"}
    team.engine.flush()
    stats = desk.get("/api/team/review/stats").json()
    assert stats["by_status"] == {"approved": 1}
    assert (stats["said"], stats["merged"], stats["weeks"][-1]) == (1, 0, 1)
    (most,) = stats["most_recalled"]
    assert (most["id"], most["recall_count"]) == (fact, 1)


def test_A20_bulk_edit_reopen_and_delete(team: Served, desk: httpx.Client) -> None:
    facts = [proposed(team), proposed(team, "The build cache lives for 14 days.")]
    assert desk.post("/api/team/review/reject", json={"ids": facts}).status_code == 200
    reopened = desk.post("/api/team/review/reopen", json={"ids": facts}).json()["items"]
    assert {one["status"] for one in reopened} == {"pending"}
    edit = {"content": "The build cache lives for 30 days.", "importance": 5}
    edited = desk.patch(f"/api/team/review/facts/{facts[1]}", json=edit).json()
    assert (edited["content"], edited["importance"]) == (edit["content"], 5)
    person = {"content": "Call Peter Miller on +49 170 1234567."}
    assert desk.patch(f"/api/team/review/facts/{facts[1]}", json=person).status_code == 400
    missing = desk.post("/api/team/review/approve", json={"ids": [facts[0], "team_x"]})
    assert missing.status_code == 404
    assert desk.post("/api/team/review/delete", json={"ids": facts}).json() == {"deleted": 2}


def test_A20_another_tenants_desk_sees_nothing(team: Served) -> None:
    proposed(team)
    other = team.engine.create_key(
        "root", tenant=f"{team.engine.settings.tenant}-other", capabilities=["users:edit"]
    )
    assert team.client(other.secret).get("/api/team/review/facts").json()["items"] == []


def test_A21_switches_are_changed_over_rest_and_seen_by_every_process(open_memory: Open) -> None:
    with served(open_memory("assistant")) as here, served(open_memory("assistant")) as there:
        secret = here.engine.create_key("root", capabilities=["users:edit"]).secret
        one, other = here.client(secret), there.client(secret)
        assert other.get("/api/team/switches").json()["promote_at"] == 2
        assert one.patch("/api/team/switches", json={"promote_at": None, "limit": 7}).json() == {
            **other.get("/api/team/switches").json(),
            "promote_at": None,
            "limit": 7,
        }
        time.sleep(1)
        seen = other.get("/api/team/switches").json()
        assert (seen["promote_at"], seen["limit"]) == (None, 7)
        assert one.patch("/api/team/switches", json={"limit": 0}).status_code == 422
        assert one.patch("/api/team/switches", json={"limit": None}).status_code == 400


def test_A21_anyone_may_ask_the_team_only_while_that_is_switched_on(
    team: Served, desk: httpx.Client
) -> None:
    proposed(team, PORTS, "ada", "bob")
    nobody, ask = team.client(), {"query": "proxy ports"}
    assert nobody.post("/api/team/recall", json=ask).status_code == 401
    desk.patch("/api/team/switches", json={"team_recall": {"anonymous": True}})
    told = nobody.post("/api/team/recall", json=ask)
    assert [one["content"] for one in told.json()["items"]] == [PORTS]
    assert nobody.post("/api/recall", json=ask).status_code == 401
    assert nobody.post("/api/team/propose", json={"content": PORTS}).status_code == 401
    desk.patch("/api/team/switches", json={"team_recall": {"anonymous": False}})
    assert nobody.post("/api/team/recall", json=ask).status_code == 401


def test_N7_every_call_needs_a_valid_session_or_key(serve: Serve) -> None:
    running = serve()
    nobody = running.client()
    for path in ("/api/me", "/api/memory/facts", "/api/sessions", "/memories?instanceId=x"):
        assert nobody.get(path).status_code == 401
        assert running.of("ada").get(path).status_code == 200


@pytest.mark.feature("A19")
def test_A19_the_queue_is_filtered_by_one_or_several_origins(
    team: Served, desk: httpx.Client
) -> None:
    proposed(team)
    agent = team.of("bob", agent="coder")
    agent.post("/api/team/propose", json={"content": "Releases are cut from main."})

    def origins(*wanted: str) -> list[str]:
        answer = desk.get("/api/team/review/facts", params={"origin": list(wanted)})
        return [one["fact"]["origin"] for one in answer.json()["items"]]

    assert origins("agent") == ["agent"]
    assert origins("assistant") == []
    assert origins("assistant", "user") == ["user"]
    assert origins("agent", "user") == origins() == ["agent", "user"]
