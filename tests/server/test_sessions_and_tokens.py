"""Browser sessions and signed tokens: cookies cannot be forged, invalid tokens are refused."""

from __future__ import annotations

import base64
import hmac
import json
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from joserfc import jwt
from joserfc.jwk import ECKey, RSAKey

from remembrancer.clock import ManualClock
from remembrancer.server.cookies import SESSION_COOKIE
from tests.support.http_server import Served
from tests.support.http_server import served as serve_engine

pytestmark = pytest.mark.postgres_long

Serve = Callable[..., Served]
TEA = {"content": "Ada drinks tea."}


@pytest.fixture
def served(serve: Serve) -> Served:
    return serve()


def sign_in(client: httpx.Client, code: str) -> httpx.Response:
    return client.post("/login", data={"code": code})


@pytest.fixture
def browser(served: Served) -> httpx.Client:
    browser = served.client()
    sign_in(browser, served.login_code("ada"))
    return browser


def test_the_code_is_exchanged_for_a_cookie(served: Served) -> None:
    answer = sign_in(served.client(), served.login_code("ada"))
    assert answer.status_code == 303
    assert answer.headers["location"] == "/memory"
    cookie = answer.headers["set-cookie"].lower()
    for word in ("httponly", "samesite=strict", "path=/", "max-age="):
        assert word in cookie
    assert "secure" not in cookie


def test_over_https_the_cookie_is_for_https_alone(serve: Serve) -> None:
    served = serve(server={"https": True})
    answer = sign_in(served.client(), served.login_code("ada"))
    assert "secure" in answer.headers["set-cookie"].lower()


def test_only_a_login_code_logs_in_and_it_does_nothing_else(served: Served) -> None:
    ordinary = served.engine.create_key("ada").secret
    for code in ("", "rem_" + "0" * 52, ordinary, "x" * 10_000, "ü"):
        answer = sign_in(served.client(), code)
        assert (answer.status_code, answer.json()["code"]) == (401, "invalid_login")
    assert served.client(served.login_code("ada")).get("/api/me").status_code == 401


def test_fetching_a_login_link_does_not_use_it_up(served: Served) -> None:
    code = served.login_code("ada")
    for method in ("GET", "HEAD", "OPTIONS"):
        fetched = served.client().request(method, f"/login?code={code}")
        assert "set-cookie" not in fetched.headers
    page = served.client().get("/login")
    assert page.headers["cache-control"] == "no-store"
    assert "script-src 'self'" in page.headers["content-security-policy"]
    assert "<script>" not in page.text
    assert sign_in(served.client(), code).status_code == 303


def test_a_login_code_works_once_even_for_many_at_once(served: Served) -> None:
    code = served.login_code("ada")
    clients = [served.client() for _ in range(8)]
    with ThreadPoolExecutor(len(clients)) as pool:
        answers = list(pool.map(lambda one: sign_in(one, code), clients))
    assert sorted(one.status_code for one in answers) == [303, *[401] * 7]
    sessions = [one for one in served.engine.list_keys() if one.label == "browser session"]
    assert len(sessions) == 1


def test_a_login_code_expires_within_minutes(served: Served, clock: ManualClock) -> None:
    early, late = served.login_code("ada"), served.login_code("ada")
    clock.advance(timedelta(minutes=9))
    assert sign_in(served.client(), early).status_code == 303
    clock.advance(timedelta(minutes=2))
    assert sign_in(served.client(), late).status_code == 401


def test_a_login_code_is_for_one_start_of_the_server(served: Served) -> None:
    code = served.login_code("ada")
    with serve_engine(served.engine) as restarted:
        assert sign_in(restarted.client(), code).status_code == 401
        assert sign_in(restarted.client(), restarted.login_code("ada")).status_code == 303


def test_another_site_cannot_sign_a_browser_in(served: Served) -> None:
    code = served.login_code("mallory")
    for origin in ("http://evil.example", "null"):
        foreign = served.client(Origin=origin).post("/login", data={"code": code})
        assert (foreign.status_code, foreign.json()["code"]) == (403, "foreign_origin")


def test_a_session_reads_and_writes_from_our_own_pages(
    served: Served, browser: httpx.Client
) -> None:
    me = browser.get("/api/me").json()
    assert (me["user"], me["surface"]) == ("ada", "web")
    own = {"Origin": served.address}
    assert browser.post("/api/remember", json=TEA, headers=own).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [{}, {"Origin": "http://evil.example"}, {"Origin": "null"}, {"Referer": "http://evil.example"}],
)
def test_a_forged_request_changes_nothing(browser: httpx.Client, headers: dict[str, str]) -> None:
    answer = browser.post("/api/remember", json=TEA, headers=headers)
    assert (answer.status_code, answer.json()["code"]) == (403, "foreign_origin")
    assert browser.get("/api/memory/facts").json()["items"] == []


def test_a_session_ends_by_itself_and_by_logout(
    served: Served, browser: httpx.Client, clock: ManualClock
) -> None:
    secret = browser.cookies[SESSION_COOKIE]
    assert browser.post("/logout", headers={"Origin": served.address}).status_code == 204
    assert served.client(Cookie=f"{SESSION_COOKIE}={secret}").get("/api/me").status_code == 401
    again = served.client()
    sign_in(again, served.login_code("ada"))
    assert again.get("/api/me").status_code == 200
    clock.advance(timedelta(hours=13))
    assert again.get("/api/me").status_code == 401


def test_a_page_that_is_left_closes_its_conversation_by_a_beacon(
    served: Served, browser: httpx.Client
) -> None:
    said = {"turns": [{"role": "user", "content": "My sister plays the cello."}]}
    own = {"Origin": served.address}
    browser.post("/api/sessions/monday/turns", json=said, headers=own)
    for body in (b"", b"bye"):
        plain = {**own, "Content-Type": "text/plain;charset=UTF-8"}
        answer = browser.post("/api/sessions/monday/close", content=body, headers=plain)
        assert (answer.status_code, answer.json()["status"]) == (202, "idle")


KEY = RSAKey.generate_key(2048, {"kid": "one"}, private=True)
OTHER = RSAKey.generate_key(2048, {"kid": "one"}, private=True)


@pytest.fixture
def issued(serve: Serve, tmp_path: Path) -> Served:
    jwks = tmp_path / "jwks.json"
    jwks.write_text(json.dumps({"keys": [KEY.as_dict(private=False)]}))
    trusted = {
        "issuer": "https://id.example.org",
        "audience": "remembrancer",
        "jwks": str(jwks),
        "tenant_claim": "org",
        "capabilities_claim": "rights",
    }
    return serve(server={"jwt": trusted})


def claims(**changes: Any) -> dict[str, Any]:
    return {
        "iss": "https://id.example.org",
        "aud": "remembrancer",
        "sub": "ada",
        "org": "acme",
        "rights": "users:view everything login",
        "exp": int(time.time()) + 600,
        **changes,
    }


def signed(changes: dict[str, Any], key: Any = KEY, alg: str = "RS256", **header: Any) -> str:
    head = {"alg": alg, "kid": "one", **header}
    return jwt.encode(head, claims(**changes), key, algorithms=[alg])


def test_a_good_token_names_a_person(issued: Served) -> None:
    me = issued.client(signed({})).get("/api/me").json()
    assert (me["tenant"], me["user"], me["capabilities"]) == ("acme", "ada", ["users:view"])


def written(value: bytes) -> str:
    return base64.urlsafe_b64encode(value).decode().rstrip("=")


def part(value: object) -> str:
    return written(json.dumps(value).encode())


def with_the_public_key_as_a_secret(body: str) -> str:
    """A token that is only valid if the server lets the token choose the algorithm."""
    text = f"{part({'alg': 'HS256', 'kid': 'one'})}.{body}"
    mac = hmac.digest(KEY.as_pem(private=False), text.encode(), "sha256")
    return f"{text}.{written(mac)}"


def forged() -> dict[str, str]:
    body = part(claims())
    good = signed({})
    return {
        "alg none": f"{part({'alg': 'none'})}.{body}.",
        "alg None": f"{part({'alg': 'None', 'kid': 'one'})}.{body}.x",
        "public key as hmac": with_the_public_key_as_a_secret(body),
        "other key": signed({}, OTHER),
        "other key within the token": signed({}, OTHER, jwk=OTHER.as_dict(private=False)),
        "other key at an address": signed({}, OTHER, jku="https://evil.example/jwks.json"),
        "other certificate": signed({}, OTHER, x5u="https://evil.example/cert.pem"),
        "key id that is a path": signed({}, OTHER, kid="../../../../dev/null"),
        "key id that is a query": signed({}, OTHER, kid="one' OR '1'='1"),
        "key id of nobody": signed({}, kid="two"),
        "other curve": signed({}, ECKey.generate_key("P-256", {"kid": "one"}), "ES256"),
        "expired": signed({"exp": int(time.time()) - 600}),
        "no expiry": signed({"exp": None}),
        "expiry is text": signed({"exp": "tomorrow"}),
        "expiry is a list": signed({"exp": []}),
        "not yet": signed({"nbf": int(time.time()) + 600}),
        "other issuer": signed({"iss": "https://evil.example"}),
        "audience of others": signed({"aud": ["other", "remembrancer.evil.example"]}),
        "no audience": signed({"aud": None}),
        "no issuer": signed({"iss": None}),
        "issuer is a list": signed({"iss": ["https://id.example.org"]}),
        "other audience": signed({"aud": "other"}),
        "no subject": signed({"sub": None}),
        "empty subject": signed({"sub": ""}),
        "subject is a list": signed({"sub": ["ada"]}),
        "no tenant": signed({"org": None}),
        "other body": f"{good.split('.')[0]}.{part(claims(sub='root'))}.{good.split('.')[2]}",
        "garbage": "a.b.c",
        "empty": "..",
        "long": "x" * 20_000,
    }


def test_a_bad_token_is_nobody(issued: Served) -> None:
    for what, token in forged().items():
        answer = issued.client(token).get("/api/me")
        assert (answer.status_code, answer.json()["code"]) == (401, "unauthenticated"), what


def test_keys_work_beside_tokens(issued: Served) -> None:
    assert issued.of("bob").get("/api/me").json()["user"] == "bob"
