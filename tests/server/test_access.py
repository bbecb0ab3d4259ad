"""Authentication and authorisation: no access without a key, and none beyond a key's owner."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import httpx
import pytest

from remembrancer.clock import ManualClock
from tests.support.http_server import Served

pytestmark = pytest.mark.postgres_long

Serve = Callable[..., Served]

OPEN = {"/healthz", "/readyz"}
MISSING = "fact_01kjq3v4rxe8fy0zkb5t5f3m2a"


@pytest.fixture
def served(serve: Serve) -> Served:
    return serve()


def told(answer: httpx.Response) -> dict[str, Any]:
    """The body without the request id."""
    body: dict[str, Any] = answer.json()
    body.pop("request_id")
    return body


def remembered(client: httpx.Client, content: str = "Ada drinks tea.", **more: object) -> str:
    answer = client.post("/api/remember", json={"content": content, **more})
    assert answer.status_code == 200, answer.text
    return str(answer.json()["memory"]["id"])


def test_no_route_does_anything_without_a_key(serve: Serve, clock: ManualClock) -> None:
    served = serve(server={"wrong_keys_per_minute": 10_000})
    expired = served.engine.create_key("ada", expires_at=clock.now() + timedelta(hours=1)).secret
    revoked = served.engine.create_key("ada")
    served.engine.revoke_key(revoked.key.id)
    clock.advance(timedelta(hours=2))
    nobody = served.client()
    strangers = [
        nobody,
        served.client("rem_" + "0" * 52),
        served.client(expired),
        served.client(revoked.secret),
        served.client(Authorization="Basic YWRhOnRlYQ=="),
        served.client(Cookie="rem_session=rem_" + "0" * 52),
    ]
    paths = nobody.get("/openapi.json").json()["paths"]
    asked = 0
    for path, methods in paths.items():
        for method in methods:
            for stranger in strangers if path not in OPEN else ():
                answer = stranger.request(method, path.replace("{id}", MISSING), json={})
                assert (answer.status_code, answer.json()["code"]) == (401, "unauthenticated")
                assert answer.headers["www-authenticate"].startswith("Bearer")
                asked += 1
    assert asked > 600
    tenant = served.engine.settings.tenant
    ours = [one for one in served.engine.owners() if one.tenant == tenant]
    assert ours == [revoked.key.owner]
    assert served.engine.for_user("ada").activity().items == ()


def test_another_persons_memory_is_as_good_as_missing(served: Served) -> None:
    ada, bob = served.of("ada"), served.of("bob")
    theirs = remembered(ada)
    remembered(bob, "Bob drinks coffee.")
    ways: list[tuple[str, str, object]] = [
        ("GET", f"/api/memory/{theirs}", None),
        ("GET", f"/api/memory/facts/{theirs}", None),
        ("PUT", f"/api/memory/facts/{theirs}", {"content": "x"}),
        ("DELETE", f"/api/memory/facts/{theirs}", None),
        ("DELETE", f"/api/memory/{theirs}", None),
        ("POST", f"/api/memory/{theirs}/confirm", None),
        ("POST", f"/api/memory/{theirs}/forget", None),
        ("POST", f"/api/memory/{theirs}/restore", None),
        ("GET", f"/api/memory/{theirs}/history", None),
        ("GET", f"/api/memory/{theirs}/links", None),
        ("POST", f"/api/memory/{theirs}/links", {"target": theirs}),
        ("DELETE", f"/memories/{theirs}?instanceId=bot", None),
    ]

    foreign = [bob.request(method, path, json=body) for method, path, body in ways]
    assert ada.get(f"/api/memory/{theirs}").json()["status"] == "active"
    missing = [
        bob.request(method, path.replace(theirs, MISSING), json=body) for method, path, body in ways
    ]

    for one, other in zip(foreign, missing, strict=True):
        assert (one.status_code, other.status_code) == (404, 404)
        assert (
            one.text.replace(theirs, MISSING).partition("request_id")[0]
            == (other.text.partition("request_id")[0])
        )
        assert set(one.headers) == set(other.headers)


def test_nobody_can_name_another_user_or_tenant(served: Served) -> None:
    ada, bob = served.of("ada"), served.of("bob")
    remembered(ada, "Ada drinks tea.")
    for name in ("user_id", "user", "tenant", "owner", "owner_id", "tenant_id"):
        for value in ("*", "ada", "%", ["ada"], {"$ne": None}):
            answer = bob.post("/api/recall", json={"query": "tea", name: value})
            assert answer.status_code == 422
            listed = bob.get("/api/memory/facts", params={name: str(value)})
            assert listed.status_code == 422
            stats = bob.get("/api/memory/stats", params={name: str(value)})
            assert stats.status_code == 422


@pytest.mark.parametrize(
    "params",
    [
        {"sort": "content; DROP TABLE facts"},
        {"order_by": "1"},
        {"subject'": "x"},
        {"metadata->>'a'": "1"},
        {"status": "active' OR '1'='1"},
        {"limit": "1; DELETE FROM facts"},
        {"cursor": "' OR 1=1 --"},
        {"min_confidence": "nan"},
        {"scope[]": "global"},
        {"category": "fact') UNION SELECT 1 --"},
    ],
)
def test_keys_and_fields_of_filters_are_no_way_in(served: Served, params: dict[str, str]) -> None:
    ada = served.of("ada")
    remembered(ada)
    answer = ada.get("/api/memory/facts", params=params)
    assert answer.status_code in (400, 422)
    assert answer.headers["content-type"] == "application/problem+json"
    assert len(ada.get("/api/memory/facts").json()["items"]) == 1


@pytest.mark.parametrize("value", ["' OR 1=1 --", "%", "_", "*", "\\", "ada' --", "$(reboot)", "ı"])
def test_values_of_filters_are_nothing_but_values(served: Served, value: str) -> None:
    ada = served.of("ada")
    remembered(ada)
    for name in ("subject", "tag"):
        answer = ada.get("/api/memory/facts", params={name: value})
        assert (answer.status_code, answer.json().get("items")) == (200, [])


def test_a_key_with_an_agent_is_for_no_other_agent(served: Served) -> None:
    ada = served.of("ada")
    own, other = (remembered(ada, f"Tea is for {name}.", scope=name) for name in ("bot", "spy"))
    bot = served.of("ada", agent="bot")
    for method, path, body in (
        ("GET", "/api/agents/spy/memory/facts", None),
        ("GET", "/api/butlers/spy/memory/facts", None),
        ("POST", "/api/agents/spy/recall", {"query": "tea"}),
        ("POST", "/api/agents/spy/remember", {"content": "x"}),
        ("GET", "/api/memory/facts?scope=spy", None),
        ("GET", "/api/memory/episodes?butler=spy", None),
        ("POST", "/api/recall", {"query": "tea", "scope": "spy"}),
        ("POST", "/api/remember", {"content": "x", "scope": "spy"}),
        ("POST", "/api/learn", {"turns": [{"role": "user", "content": "x"}], "scope": "spy"}),
        ("POST", "/api/forget-all", {"sure": True, "scope": "spy"}),
        ("GET", "/memories?instanceId=spy", None),
        ("POST", "/api/keys", {"agent": "spy"}),
    ):
        answer = bot.request(method, path, json=body)
        assert (answer.status_code, answer.json()["code"]) == (403, "not_allowed"), path
    assert bot.get(f"/api/memory/{other}").status_code == 404
    assert bot.get(f"/api/memory/{own}").status_code == 200
    found = bot.post("/api/recall", json={"query": "tea"}).json()["items"]
    assert [one["memory"]["id"] for one in found] == [own]
    assert bot.get("/api/memory/stats").json()["by_scope"] == {"bot": 1}
    assert bot.get("/api/agents/bot/memory/facts").status_code == 200


def test_a_key_without_an_agent_may_act_for_any_of_its_user(served: Served) -> None:
    ada = served.of("ada")
    ada.post("/api/agents/bot/remember", json={"content": "The bot greets in French."})
    (one,) = ada.get("/api/agents/bot/memory/facts").json()["items"]
    assert (one["scope"], one["agent"]) == ("bot", "bot")
    assert ada.get("/api/agents/spy/memory/facts").json()["items"] == []


def test_a_key_cannot_make_one_that_can_do_more(served: Served) -> None:
    ada = served.of("ada", capabilities=["users:view"])
    assert ada.post("/api/keys", json={"capabilities": ["users:edit"]}).status_code == 403
    assert ada.post("/api/keys", json={"capabilities": ["login"]}).status_code == 403
    assert ada.post("/api/keys", json={"user": "bob"}).status_code == 422

    made = ada.post("/api/keys", json={"agent": "bot", "capabilities": ["users:view"]}).json()

    bot = served.client(made["secret"])
    assert bot.get("/api/me").json()["agent"] == "bot"
    again = bot.post("/api/keys", json={"label": "second"}).json()
    assert again["key"]["agent"] == "bot"
    assert again["key"]["capabilities"] == []
    assert served.client(again["secret"]).get("/api/me").json()["user"] == "ada"


def test_keys_are_listed_and_revoked_by_their_owner_alone(served: Served) -> None:
    ada, bob = served.of("ada"), served.of("bob")
    made = ada.post("/api/keys", json={"agent": "bot", "label": "spare"}).json()
    key_id, bot = made["key"]["id"], served.client(made["secret"])
    assert {one["id"] for one in bot.get("/api/keys").json()["items"]} == {key_id}
    others = {one["id"] for one in ada.get("/api/keys").json()["items"]} - {key_id}
    assert bot.delete(f"/api/keys/{others.pop()}").status_code == 404
    assert bob.delete(f"/api/keys/{key_id}").status_code == 404
    assert made["secret"] not in ada.get("/api/keys").text

    assert ada.delete(f"/api/keys/{key_id}").json()["revoked_at"] is not None
    assert bot.get("/api/me").status_code == 401


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "/api/team/review/stats", None),
        ("GET", "/api/team/review/facts", None),
        ("POST", "/api/team/review/approve", {"ids": ["x"]}),
        ("GET", "/api/team/switches", None),
        ("PATCH", "/api/team/switches", {"limit": 3}),
        ("GET", "/api/jobs", None),
        ("POST", "/api/jobs/tidy/run", None),
        ("POST", "/api/jobs/tick", None),
        ("POST", "/api/backup", None),
        ("GET", "/metrics", None),
    ],
)
def test_what_concerns_others_needs_a_capability(
    served: Served, method: str, path: str, body: object
) -> None:
    answer = served.of("ada").request(method, path, json=body)
    assert (answer.status_code, answer.json()["code"]) == (403, "not_allowed")


def test_a_viewer_looks_and_changes_nothing(serve: Serve) -> None:
    served = serve("assistant")
    viewer = served.of("ada", capabilities=["users:view"])
    assert viewer.get("/api/team/review/stats").status_code == 200
    assert viewer.patch("/api/team/switches", json={"limit": 3}).status_code == 403
    assert viewer.post("/api/team/review/approve", json={"ids": ["x"]}).status_code == 403
    assert viewer.get("/api/jobs").status_code == 403
    editor = served.of("ada", capabilities=["users:edit"])
    assert editor.get("/api/jobs").json()["items"]
    assert editor.post("/api/jobs/decay_sweep/run").json()["job"] == "decay_sweep"
    assert editor.post("/api/jobs/nonsense/run").status_code == 400


@pytest.mark.feature("M13")
def test_a_heartbeat_runs_what_is_due_and_only_once(serve: Serve, clock: ManualClock) -> None:
    served = serve("agents")
    remembered(served.of("ada"), permanence="ephemeral")
    clock.advance(timedelta(days=60))
    heart = served.of("root", capabilities=["users:edit"])

    ran = heart.post("/api/jobs/tick").json()["ran"]

    assert {"decay_sweep", "episode_cleanup"} <= set(ran)
    assert heart.post("/api/jobs/tick").json() == {"ran": []}
    expired = served.of("ada").get("/api/memory/facts", params={"status": "expired"}).json()
    assert len(expired["items"]) == 1


def test_a_backup_is_made_where_the_server_keeps_them(serve: Serve) -> None:
    served = serve()
    remembered(served.of("ada"))
    answer = served.of("root", capabilities=["users:edit"]).post("/api/backup")
    assert answer.status_code == 201
    assert answer.json()["name"].startswith("remembrancer-")
    assert "/" not in answer.json()["name"]


def test_a_secret_is_no_name_of_an_agent(served: Served) -> None:
    ada, secret = served.of("ada"), served.engine.create_key("ada").secret
    answer = ada.post(f"/api/agents/{secret}/remember", json={"content": "Ada drinks tea."})
    assert answer.status_code == 400
    assert secret not in answer.text
