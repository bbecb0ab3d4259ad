"""Wrong keys are limited by address before they are looked up; valid ones always pass."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from remembrancer.server.middleware.rate_limit import MAX_TRACKED_CALLERS, TokenBuckets
from tests.support.http_server import Served

pytestmark = pytest.mark.postgres_long

Serve = Callable[..., Served]
PROXY = {"trusted_proxies": ["127.0.0.1"], "wrong_keys_per_minute": 5}


def wrong(number: int) -> str:
    return f"rem_{number:052}"


def statuses(served: Served, count: int, **headers: str) -> list[int]:
    """Try wrong keys one after another."""
    client = served.client(**headers)
    answers = [
        client.get("/api/me", headers={"Authorization": f"Bearer {wrong(number)}"})
        for number in range(count)
    ]
    return [one.status_code for one in answers]


def test_wrong_keys_are_refused_without_looking_them_up(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    served = serve(server={"wrong_keys_per_minute": 5})
    look_up, looked_up = type(served.engine).principal_of, []

    def count(engine: object, secret: str, **more: object) -> object:
        looked_up.append(secret)
        return look_up(served.engine, secret, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(type(served.engine), "principal_of", count)
    assert statuses(served, 40) == [401] * 5 + [429] * 35
    assert len(looked_up) == 5
    refused = served.client(wrong(1)).get("/api/me")
    assert refused.json()["code"] == "too_many_requests"
    assert 1 <= int(refused.headers["retry-after"]) <= 60


def test_valid_keys_pass_behind_an_address_that_is_limited(serve: Serve) -> None:
    served = serve(server={"wrong_keys_per_minute": 5})
    used, unused = served.of("ada"), served.of("bob")
    assert used.get("/api/me").status_code == 200
    assert statuses(served, 10)[-1] == 429
    assert used.get("/api/me").status_code == 200
    assert unused.get("/api/me").status_code == 200, "nobody has used this key before"
    session = served.client()
    assert session.post("/login", data={"code": served.login_code()}).status_code in (303, 429)


def test_a_key_made_meanwhile_passes_within_seconds(serve: Serve) -> None:
    served = serve(server={"wrong_keys_per_minute": 2})
    assert statuses(served, 10)[-1] == 429
    new = served.of("ada")
    for _ in range(300):
        if new.get("/api/me").status_code == 200:
            return
        statuses(served, 1)
        time.sleep(0.1)
    pytest.fail("a valid key stays locked out")


def test_a_revoked_key_is_a_wrong_one(serve: Serve) -> None:
    served = serve(server={"wrong_keys_per_minute": 2})
    made = served.engine.create_key("ada")
    client = served.client(made.secret)
    assert client.get("/api/me").status_code == 200
    served.engine.revoke_key(made.key.id)
    assert {client.get("/api/me").status_code for _ in range(10)} == {401, 429}


@pytest.mark.parametrize("kind", ["cookie", "login", "token"])
def test_every_way_in_is_limited(serve: Serve, kind: str) -> None:
    served = serve(server={"wrong_keys_per_minute": 5})
    client = served.client()
    attempts = {
        "cookie": lambda: client.get("/api/me", headers={"Cookie": f"rem_session={wrong(1)}"}),
        "login": lambda: client.post("/login", data={"code": wrong(1)}),
        "token": lambda: client.get("/api/me", headers={"Authorization": "Bearer a.b.c"}),
    }
    assert [attempts[kind]().status_code for _ in range(8)] == [401] * 5 + [429] * 3
    assert client.get("/healthz").status_code == 200


def test_addresses_are_counted_apart_if_a_trusted_proxy_names_them(serve: Serve) -> None:
    served = serve(server=PROXY)
    assert statuses(served, 7, **{"X-Forwarded-For": "192.0.2.1"})[-1] == 429
    assert statuses(served, 1, **{"X-Forwarded-For": "192.0.2.2"}) == [401]
    assert statuses(served, 7, **{"X-Forwarded-For": "2001:db8::1"})[-1] == 429
    assert statuses(served, 1, **{"X-Forwarded-For": "2001:db8::2"}) == [429], "the same network"
    assert statuses(served, 1, **{"X-Forwarded-For": "2001:db8:0:1::1"}) == [401]


def test_nobody_else_can_choose_their_address(serve: Serve) -> None:
    served = serve(server={"wrong_keys_per_minute": 5})
    told = [statuses(served, 1, **{"X-Forwarded-For": f"192.0.2.{n}"})[0] for n in range(8)]
    assert told == [401] * 5 + [429] * 3


def test_all_addresses_together_are_limited(serve: Serve) -> None:
    served = serve(server=PROXY)
    ada = served.of("ada")
    told = [statuses(served, 5, **{"X-Forwarded-For": f"192.0.2.{n}"}) for n in range(12)]
    assert told[0] == [401] * 5
    assert told[11] == [429] * 5
    assert ada.get("/api/me", headers={"X-Forwarded-For": "198.51.100.1"}).status_code == 200


def test_many_at_once_get_hardly_more(serve: Serve) -> None:
    served = serve(server={"wrong_keys_per_minute": 5})
    with ThreadPoolExecutor(8) as pool:
        told = [
            status
            for tries in pool.map(lambda _: statuses(served, 20), range(8))
            for status in tries
        ]
    assert 5 <= told.count(401) <= 20
    assert set(told) == {401, 429}


def test_the_limiter_remembers_a_bounded_number_of_addresses() -> None:
    buckets = TokenBuckets(60, 60)
    for number in range(MAX_TRACKED_CALLERS + 500):
        buckets.seconds_until_token(f"seen {number}")
        buckets.take_token(f"tried {number}")
    assert len(buckets._levels) == MAX_TRACKED_CALLERS
