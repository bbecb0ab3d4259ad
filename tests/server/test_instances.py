"""I1, I5, I6, I9: `/memories` is of one instance, paged, added to by hand, and deleted for good."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import httpx
import pytest

from tests.support.files import bytes_of
from tests.support.http_server import Served

pytestmark = [pytest.mark.feature("I1", "I5", "I6", "I9"), pytest.mark.postgres_long]

Serve = Callable[..., Served]
Rows = dict[str, list[dict[str, Any]]]


@pytest.fixture
def served(serve: Serve) -> Served:
    return serve("instances")


@pytest.fixture
def ada(served: Served) -> httpx.Client:
    return served.of("ada")


def listed(client: httpx.Client, instance: str, **asked: object) -> list[dict[str, Any]]:
    params: dict[str, Any] = {"instanceId": instance, **asked}
    answer = client.get("/memories", params=params)
    assert answer.status_code == 200, answer.text
    found: list[dict[str, Any]] = answer.json()["items"]
    return found


def made(client: httpx.Client, instance: str, content: str, **more: object) -> dict[str, Any]:
    answer = client.post("/memories", json={"instanceId": instance, "content": content, **more})
    assert answer.status_code == 201, answer.text
    row: dict[str, Any] = answer.json()
    return row


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "/memories", None),
        ("GET", "/memories?instanceId=", None),
        ("GET", "/memories?instanceId=%20", None),
        ("POST", "/memories", {"content": "Ada drinks tea."}),
        ("DELETE", "/memories/fact_01kjq3v4rxe8fy0zkb5t5f3m2a", None),
        ("POST", "/memories/delete", {"ids": ["fact_01kjq3v4rxe8fy0zkb5t5f3m2a"]}),
    ],
)
def test_I1_without_an_instance_nothing_is_told(
    served: Served, ada: httpx.Client, method: str, path: str, body: object
) -> None:
    pinned = served.of("ada", agent="support-bot")
    for client in (ada, pinned):
        answer = client.request(method, path, json=body)
        assert answer.status_code == 400
        assert answer.json()["detail"] == "instanceId is required"


def test_I1_what_one_instance_wrote_is_invisible_to_another(
    served: Served, ada: httpx.Client
) -> None:
    row = made(ada, "support-bot", "Acme uses Slack.")

    assert [one["content"] for one in listed(ada, "support-bot")] == ["Acme uses Slack."]
    assert listed(ada, "sales-bot") == []
    assert listed(ada, "sales-bot", q="Slack") == []
    stolen = ada.delete(f"/memories/{row['id']}", params={"instanceId": "sales-bot"})
    assert stolen.status_code == 404
    sales = served.of("ada", agent="sales-bot")
    assert sales.get("/memories", params={"instanceId": "support-bot"}).status_code == 403
    assert sales.get(f"/api/memory/{row['id']}").status_code == 404
    assert sales.post("/api/recall", json={"query": "Slack"}).json()["items"] == []
    assert sales.get("/api/memory/stats").json()["by_scope"] == {}


def test_I1_no_view_shows_all_instances_at_once(ada: httpx.Client) -> None:
    made(ada, "support-bot", "Acme uses Slack.")
    for path in ("facts", "rules", "episodes", "stats"):
        answer = ada.get(f"/api/memory/{path}")
        assert (answer.status_code, answer.json()["code"]) == (400, "scope_required"), path
    assert ada.post("/api/recall", json={"query": "Slack"}).status_code == 400
    assert ada.get("/api/agents/support-bot/memory/stats").json()["by_category"] == {"general": 1}


def test_I5_the_list_is_paged_and_tells_what_a_table_shows(
    served: Served, ada: httpx.Client
) -> None:
    said = [{"role": "user", "content": "We decided to use Postgres."}]
    ada.post("/api/agents/bot/sessions/monday/turns", json={"turns": said})
    for number in range(5):
        made(ada, "bot", f"Room {number} has {number + 3} chairs.", category="fact", importance=7)
    made(ada, "bot", "Decided to use Postgres.", category="decision", sourceConversationId="monday")

    first = ada.get("/memories", params={"instanceId": "bot", "limit": 4}).json()
    second = ada.get("/memories", params={"instanceId": "bot", "limit": 4, "page": 2}).json()

    assert (len(first["items"]), first["more"]) == (4, True)
    assert (len(second["items"]), second["more"]) == (2, False)
    assert not {one["id"] for one in first["items"]} & {one["id"] for one in second["items"]}
    newest = first["items"][0]
    assert (newest["content"], newest["category"]) == ("Decided to use Postgres.", "decision")
    assert newest["createdAt"].endswith("Z")
    assert ada.get(newest["sourceConversation"]).json()["id"] == "monday"
    assert len(listed(ada, "bot", category="fact")) == 5
    assert [one["importance"] for one in listed(ada, "bot", category="fact")] == [7.0] * 5
    assert ada.get("/memories?instanceId=bot&category=nonsense").status_code == 400


def test_I6_what_is_made_by_hand_is_known_on_the_next_turn(ada: httpx.Client) -> None:
    made(ada, "bot", "Bob's office is in Munich.", category="fact", importance=8)

    asked = {"prompt": "Where is Bob's office?"}
    text = ada.post("/api/agents/bot/context", json=asked).json()["text"]

    assert "Bob's office is in Munich." in text


@pytest.mark.parametrize(
    "wrong", [{"importance": 11}, {"importance": 0}, {"category": "nonsense"}, {"content": ""}]
)
def test_I6_a_mistake_makes_nothing(ada: httpx.Client, wrong: dict[str, object]) -> None:
    body = {"instanceId": "bot", "content": "Ada drinks tea.", **wrong}
    assert ada.post("/memories", json=body).status_code in (400, 422)
    assert listed(ada, "bot") == []


def test_I9_what_is_deleted_is_gone_from_every_table(
    ada: httpx.Client, tenant: str, stored: Callable[[], Rows]
) -> None:
    one = made(ada, "bot", "Wednesday is for zeppelins.")
    others = [made(ada, "bot", f"Quokka {n} eats leaf {n}.")["id"] for n in range(3)]

    single = ada.delete(f"/memories/{one['id']}", params={"instanceId": "bot"})
    several = ada.post("/memories/delete", json={"instanceId": "bot", "ids": others[:2]})

    assert single.json()["deleted"] == [one["id"]]
    assert sorted(several.json()["deleted"]) == sorted(others[:2])
    assert [row["id"] for row in listed(ada, "bot")] == others[2:]
    everything = str(stored())
    assert "zeppelins" not in everything
    assert "Quokka 0" not in everything
    assert "Quokka 2" in everything


def test_I9_the_first_id_deletes_what_it_became_with_all_that_it_was(
    ada: httpx.Client, served: Served, place: str, stored: Callable[[], Rows]
) -> None:
    first = made(ada, "support-bot", "Bob's officina is in Munich.")["id"]
    assert made(ada, "support-bot", "Bob's officina is in Munich now.")["id"] == first
    api, before = "/api/agents/support-bot", served.engine.now().isoformat()
    assert [row["id"] for row in listed(ada, "support-bot")] == [first]
    history = ada.get(f"{api}/memory/{first}/history").json()["versions"]
    versions = [one["id"] for one in history]
    assert ada.get(f"{api}/memory/{first}").json()["status"] == "superseded"

    gone = ada.delete(f"/memories/{first}", params={"instanceId": "support-bot"})

    assert gone.json() == {"deleted": [first]}
    assert listed(ada, "support-bot") == []
    assert len(versions) == 2
    for id in versions:
        for path in (f"{api}/memory/{id}", f"{api}/memory/{id}/history"):
            assert ada.get(path).status_code == 404, path
    for params in ({"status": "superseded"}, {"known_at": before}, {"true_at": before}):
        assert ada.get(f"{api}/memory/facts", params=params).json()["items"] == [], params
    past = ada.post(f"{api}/recall", json={"query": "Bob's officina", "known_at": before})
    assert past.json()["items"] == []
    assert "officina" not in str(stored())
    if not place.startswith("postgresql"):
        assert b"officina" not in bytes_of(place)


def test_I9_of_several_all_are_deleted_or_none(ada: httpx.Client) -> None:
    mine = made(ada, "bot", "Ada drinks tea.")["id"]
    missing = "fact_01kjq3v4rxe8fy0zkb5t5f3m2a"

    answer = ada.post("/memories/delete", json={"instanceId": "bot", "ids": [mine, missing]})

    assert answer.status_code == 404
    assert [row["id"] for row in listed(ada, "bot")] == [mine]
