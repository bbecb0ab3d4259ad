"""Browser sessions and signed tokens: cookies cannot be forged, invalid tokens are refused."""

from __future__ import annotations

import base64
import hmac
import json
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from joserfc import jwt
from joserfc.jwk import ECKey, RSAKey

from remembrancer.access.keys import LOGIN_CAPABILITY
from remembrancer.clock import ManualClock
from remembrancer.server.cookies import SESSION_COOKIE
from remembrancer.types import Owner
from tests.support.http_server import Served

pytestmark = pytest.mark.postgres_long

Serve = Callable[..., Served]
TEA = {"content": "Ada drinks tea."}


@pytest.fixture
def served(serve: Serve) -> Served:
    return serve()


def login_token(served: Served) -> str:
    owner = Owner(served.engine.settings.tenant, "ada")
    return served.engine.create_session(owner, [LOGIN_CAPABILITY], hours=1).secret


@pytest.fixture
def browser(served: Served) -> httpx.Client:
    browser = served.client()
    browser.get("/login", params={"token": login_token(served)})
    return browser


def test_the_token_is_exchanged_for_a_cookie_and_leaves_the_address(served: Served) -> None:
    answer = served.client().get("/login", params={"token": login_token(served)})
    assert answer.status_code == 303
    assert answer.headers["location"] == "/memory"
    cookie = answer.headers["set-cookie"].lower()
    for word in ("httponly", "samesite=strict", "path=/", "max-age="):
        assert word in cookie
    assert "secure" not in cookie


def test_over_https_the_cookie_is_for_https_alone(serve: Serve) -> None:
    served = serve(server={"https": True})
    answer = served.client().get("/login", params={"token": login_token(served)})
    assert "secure" in answer.headers["set-cookie"].lower()


def test_only_a_start_up_token_logs_in_and_it_does_nothing_else(served: Served) -> None:
    ordinary = served.engine.create_key("ada").secret
    for token in ("", "rem_" + "0" * 52, ordinary):
        assert served.client().get("/login", params={"token": token}).status_code == 401
    assert served.client(login_token(served)).get("/api/me").status_code == 401


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
    again.get("/login", params={"token": login_token(served)})
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


def signed(changes: dict[str, Any], key: Any = KEY, alg: str = "RS256") -> str:
    return jwt.encode({"alg": alg, "kid": "one"}, claims(**changes), key, algorithms=[alg])


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
        "other curve": signed({}, ECKey.generate_key("P-256", {"kid": "one"}), "ES256"),
        "expired": signed({"exp": int(time.time()) - 600}),
        "no expiry": signed({"exp": None}),
        "not yet": signed({"nbf": int(time.time()) + 600}),
        "other issuer": signed({"iss": "https://evil.example"}),
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
