"""Memories that were learned in doubt over REST: listed by status, kept, corrected or forgotten."""

from __future__ import annotations

from collections.abc import Callable

import httpx
import pytest

from remembrancer.memory import Memory
from tests.support.http_server import Served
from tests.support.unconfirmed import learn_in_doubt

HOME = {"subject": "user", "predicate": "home"}


@pytest.fixture
def served(serve: Callable[..., Served]) -> Served:
    return serve()


@pytest.fixture
def me(served: Served) -> Memory:
    return served.engine.for_user("ada")


@pytest.fixture
def ada(served: Served) -> httpx.Client:
    return served.of("ada")


def contents(client: httpx.Client, **params: str) -> list[str]:
    answer = client.get("/api/memory", params=params)
    assert answer.status_code == 200, answer.text
    return sorted(one["content"] for one in answer.json()["items"])


def test_they_are_listed_by_status_with_the_reason_and_the_quote(
    me: Memory, ada: httpx.Client
) -> None:
    learn_in_doubt(me, "Lives in Lisbon", "ironic", said="Of course I live in Lisbon.")

    assert contents(ada) == []
    for path in ("/api/memory", "/api/memory/facts"):
        (listed,) = ada.get(path, params={"status": "unconfirmed"}).json()["items"]
        assert (listed["status"], listed["metadata"]) == ("unconfirmed", {"doubt": "ironic"})
        assert listed["evidence"][0]["quote"] == "Of course I live in Lisbon."
    assert ada.get("/api/memory/stats").json()["by_kind"]["fact"] == {"unconfirmed": 1}
    told = ada.post("/api/context", json={"prompt": "Lisbon"}).json()["text"]
    assert "Lives in Lisbon" not in told


def test_one_is_kept_one_corrected_and_two_dismissed(me: Memory, ada: httpx.Client) -> None:
    me.remember("Lives in Bergen", **HOME)
    home = learn_in_doubt(me, "Lives in Lisbon", **HOME)
    bike, boat, dog = (
        learn_in_doubt(me, words) for words in ("Owns a bike", "Owns a boat", "Has a dog")
    )

    kept = ada.post(f"/api/memory/{home.id}/confirm").json()
    ada.put(f"/api/memory/{bike.id}", json={"content": "Owns a tricycle"}).raise_for_status()
    ada.post(f"/api/memory/{boat.id}/forget").raise_for_status()
    ada.delete(f"/api/memory/facts/{dog.id}").raise_for_status()

    assert (kept["memory"]["status"], kept["replaced"]["status"]) == ("active", "superseded")
    assert contents(ada) == ["Lives in Lisbon", "Owns a tricycle"]
    assert contents(ada, status="unconfirmed") == []

    ada.post("/api/undo", json={"event": kept["event"]["id"]}).raise_for_status()
    assert contents(ada, status="unconfirmed") == ["Lives in Lisbon"]
    assert contents(ada) == ["Lives in Bergen", "Owns a tricycle"]


def test_words_name_one_for_confirming(me: Memory, ada: httpx.Client) -> None:
    learn_in_doubt(me, "Lives in Lisbon")

    assert ada.post("/api/memory/in lisbon/confirm").json()["memory"]["status"] == "active"


def test_the_time_of_a_prompt_is_a_moment_as_in_recall(me: Memory, ada: httpx.Client) -> None:
    me.remember("Lives in Bergen")

    def ask(verb: str, **body: str) -> httpx.Response:
        return ada.post(f"/api/{verb}", json=body)

    assert "Bergen" in ask("context", prompt="home").json()["text"]
    earlier = ask("context", prompt="home", now="2020-05-01T00:00:00Z").json()
    assert "Bergen (from " in earlier["text"]
    wrong = [
        ask(verb, now="yesterday", **given).json()
        for verb, given in (("recall", {"query": "home"}), ("context", {"prompt": "home"}))
    ]
    assert wrong[0]["detail"] == wrong[1]["detail"]
