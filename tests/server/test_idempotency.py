"""Idempotency keys run a retried request once; entity tags guard reads and writes."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import httpx
import pytest

from remembrancer.clock import ManualClock
from remembrancer.types import Owner
from tests.support.http_server import Served, served
from tests.support.opening import Open

Serve = Callable[..., Served]
TEA = {"content": "Ada drinks tea."}
ONE = {"Idempotency-Key": "one"}


@pytest.fixture
def running(serve: Serve) -> Served:
    return serve("agents")


@pytest.fixture
def ada(running: Served) -> httpx.Client:
    return running.of("ada")


def events(client: httpx.Client) -> int:
    return len(client.get("/api/memory/activity").json()["items"])


def test_the_same_request_gets_the_same_answer(ada: httpx.Client) -> None:
    first = ada.post("/api/remember", json=TEA, headers=ONE)
    again = ada.post("/api/remember", json=TEA, headers=ONE)
    assert (first.status_code, first.json()) == (again.status_code, again.json())
    assert again.headers["idempotency-replayed"] == "true"
    assert events(ada) == 1


def test_errors_are_answered_again_too(ada: httpx.Client) -> None:
    wrong = {"content": "x", "importance": 99}
    first = ada.post("/api/remember", json=wrong, headers=ONE)
    again = ada.post("/api/remember", json=wrong, headers=ONE)
    assert (first.status_code, again.status_code) == (400, 400)
    assert first.json() == again.json()


def test_the_same_key_for_another_request_is_refused(ada: httpx.Client) -> None:
    ada.post("/api/remember", json=TEA, headers=ONE)
    for path, body in (("/api/remember", {"content": "x"}), ("/api/undo", TEA)):
        answer = ada.post(path, json=body, headers=ONE)
        assert (answer.status_code, answer.json()["code"]) == (422, "idempotency_mismatch")


def test_keys_of_different_people_and_agents_have_nothing_to_do_with_each_other(
    running: Served, ada: httpx.Client
) -> None:
    ada.post("/api/remember", json=TEA, headers=ONE)
    for other in (running.of("bob"), running.of("ada", agent="bot")):
        answer = other.post("/api/remember", json={"content": "Tea is hot."}, headers=ONE)
        assert answer.status_code == 200


def test_of_many_at_once_one_is_carried_out_across_processes(open_memory: Open) -> None:
    with served(open_memory()) as here, served(open_memory()) as there:
        secret = here.engine.create_key("ada").secret
        clients = [one.client(secret) for one in (here, there) for _ in range(4)]
        body = {"turns": [{"role": "user", "content": "My sister plays the cello."}]}

        def ask(client: httpx.Client) -> httpx.Response:
            return client.post("/api/sessions/monday/turns", json=body, headers=ONE)

        with ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(ask, clients))
        late = [one for one in answers if one.status_code == 409]
        done = [one for one in answers if one.status_code == 200]

        assert len(done) + len(late) == 8
        assert len({one.text for one in done}) == 1
        assert all(one.headers["retry-after"] == "1" for one in late)
        assert len(clients[0].get("/api/sessions/monday/turns").json()["items"]) == 1


def test_a_request_at_work_is_told_to_wait_until_whoever_is_at_it_must_have_died(
    running: Served, ada: httpx.Client, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    finish = running.engine.idempotency.finish
    monkeypatch.setattr(
        running.engine.idempotency, "finish", lambda *_: None
    )  # as if killed before
    ada.post("/api/remember", json=TEA, headers=ONE)
    monkeypatch.setattr(running.engine.idempotency, "finish", finish)

    waiting = ada.post("/api/remember", json=TEA, headers=ONE)
    clock.advance(timedelta(minutes=6))
    done = ada.post("/api/remember", json=TEA, headers=ONE)

    assert (waiting.status_code, waiting.json()["code"]) == (409, "still_at_work")
    assert done.status_code == 200


def test_answers_are_dropped_after_a_day(
    running: Served, ada: httpx.Client, clock: ManualClock
) -> None:
    ada.post("/api/remember", json=TEA, headers=ONE)
    clock.advance(timedelta(hours=25))
    running.engine.run_job("trash_purge")
    again = ada.post("/api/remember", json={"content": "Tea is hot."}, headers=ONE)
    assert again.status_code == 200


def test_a_secret_is_never_kept_for_an_answer(running: Served, ada: httpx.Client) -> None:
    first = ada.post("/api/keys", json={"label": "a"}, headers=ONE)
    second = ada.post("/api/keys", json={"label": "b"}, headers=ONE)
    assert first.json()["secret"] != second.json()["secret"]


def test_what_is_purged_is_in_no_answer_and_answers_are_in_no_backup(serve: Serve) -> None:
    running = serve("instances")
    ada = running.of("ada")
    tenant = running.engine.settings.tenant
    owners = (Owner(tenant, "ada"), Owner.of_instance(tenant, "bot"))
    body = {"instanceId": "bot", "content": "Wednesday is for zeppelins."}
    made = ada.post("/memories", json=body, headers=ONE).json()
    assert ada.post("/memories", json=body, headers=ONE).json() == made
    for owner in owners:
        with running.engine._store.dump(owner) as rows:
            assert "answers" not in {table for table, _ in rows}
    assert "zeppelins" in _all_answers(running, owners)

    ada.delete(f"/memories/{made['id']}", params={"instanceId": "bot"})

    assert "zeppelins" not in _all_answers(running, owners)


def _all_answers(running: Served, owners: tuple[Owner, ...]) -> str:
    found = []
    for owner in owners:
        with running.engine._store.open_writer(owner) as writer:
            found += _answers(writer)
    return str(found)


def _answers(writer: Any) -> list[Any]:
    from sqlalchemy import text

    return list(writer._connection.execute(text("SELECT * FROM answers")))


def test_what_has_not_changed_is_not_told_again(ada: httpx.Client, clock: ManualClock) -> None:
    fact = ada.post("/api/remember", json=TEA).json()["memory"]["id"]
    for path in (
        f"/api/memory/{fact}",
        f"/api/memory/facts/{fact}",
        "/api/memory/facts",
        "/api/memory/stats",
        "/api/memory/activity",
        "/api/sessions",
        "/api/trash",
    ):
        first = ada.get(path)
        tag = first.headers["etag"]
        clock.advance(timedelta(minutes=5))
        again = ada.get(path, headers={"If-None-Match": f'"other", {tag}'})
        assert (again.status_code, again.content) == (304, b""), path
        assert again.headers["etag"] == tag
    ada.post(f"/api/memory/{fact}/confirm")
    changed = ada.get(f"/api/memory/{fact}", headers={"If-None-Match": tag})
    assert changed.status_code == 200


@pytest.mark.parametrize("method", ["PUT", "DELETE"])
def test_what_has_changed_since_is_not_overwritten(ada: httpx.Client, method: str) -> None:
    fact = ada.post("/api/remember", json=TEA).json()["memory"]["id"]
    path, other = f"/api/memory/facts/{fact}", {"content": "Ada drinks mate."}
    body = other if method == "PUT" else None
    tag = ada.get(path).headers["etag"]
    ada.post("/api/recall", json={"query": "tea"})
    ada.post(f"/api/memory/{fact}/links", json={"target": fact})
    ada.post(f"/api/memory/{fact}/forget")
    ada.post(f"/api/memory/{fact}/restore")

    stale = ada.request(method, path, json=body, headers={"If-Match": '"stale"'})
    assert (stale.status_code, stale.json()["code"]) == (412, "precondition_failed")
    fresh = ada.get(path).headers["etag"]
    assert fresh == tag or stale.status_code == 412
    assert ada.request(method, path, json=body, headers={"If-Match": fresh}).status_code == 200
