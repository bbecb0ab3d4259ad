"""Over HTTP each request needs a key, and is answered for whoever the key belongs to."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from remembrancer.engine import Remembrancer
from remembrancer.mcp.http import MAX_BODY_BYTES
from remembrancer.types import Principal
from tests.mcp.talk import contents, over_http, principal, serving

pytestmark = pytest.mark.postgres_long

Open = Callable[..., Remembrancer]
Post = Callable[..., httpx.Response]

CALL = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "tools/call",
    "params": {"name": "recall", "arguments": {"query": "tea"}},
}
URL = "https://memory.example/mcp"


@pytest.fixture
def engine(open_memory: Open) -> Remembrancer:
    return open_memory()


@pytest.fixture
def keys(engine: Remembrancer) -> dict[str, Principal]:
    return {
        "ada": principal(engine, "ada"),
        "bob": principal(engine, "bob"),
        "namesake": principal(engine, "ada", tenant=f"{engine.settings.tenant}-other"),
    }


@pytest.fixture
def address(engine: Remembrancer, keys: dict[str, Principal]) -> Iterator[str]:
    with serving(engine, keys, origins=["https://desk.example"]) as address:
        yield address


@pytest.fixture
def post(address: str) -> Iterator[Post]:
    """Send one message as Ada, with other headers if wanted."""
    with httpx.Client(trust_env=False) as web:

        def send(
            message: Any = CALL, method: str = "POST", **headers: str | bytes
        ) -> httpx.Response:
            usual = {
                "Authorization": "Bearer ada",
                "Accept": "application/json, text/event-stream",
                "Content-Type": "application/json",
            }
            given = {name.replace("_", "-"): value for name, value in headers.items()}
            body = message if isinstance(message, bytes) else json.dumps(message)
            chosen = {name: value for name, value in (usual | given).items() if value}
            return web.request(method, address, content=body, headers=chosen)

        yield send


def test_a_key_opens(post: Post) -> None:
    answer = post()
    assert answer.status_code == 200
    assert answer.json()["result"]["structuredContent"]["items"] == []
    assert "mcp-session-id" not in answer.headers


def test_without_a_key_nothing_is_told(post: Post) -> None:
    refused = post(Authorization="")
    assert refused.status_code == 401
    assert refused.headers["www-authenticate"] == "Bearer"


@pytest.mark.parametrize("said", ["Bearer wrong", "Bearer ada x", "bearer ADA", "Bearer ädä"])
def test_a_wrong_key_is_none(post: Post, said: str) -> None:
    refused = post(Authorization=said.encode())
    assert refused.status_code == 401
    assert refused.headers["www-authenticate"] == 'Bearer error="invalid_token"'


@pytest.mark.parametrize("said", ["Bearer", "Basic YWRhOmFkYQ==", "ada"])
def test_what_is_no_key_is_none(post: Post, said: str) -> None:
    assert post(Authorization=said).status_code == 401


def test_people_and_tenants_never_meet(engine: Remembrancer, address: str) -> None:
    with over_http(address, "ada") as ada:
        kept = ada.call("remember", content="Ada's locker has the number 12.")
    for stranger in ("bob", "namesake"):
        with over_http(address, stranger) as talk:
            assert talk.call("recall", query="locker number")["items"] == []
            missing = talk.fails("forget", memory="fact_" + "0" * 26)
            foreign = talk.fails("forget", memory=kept["id"])
            assert foreign["code"] == missing["code"] == "not_found"
            assert foreign["message"].replace(kept["id"], "") == missing["message"].replace(
                "fact_" + "0" * 26, ""
            )
            for uri in (f"memory://{kept['id']}", "memory://fact_" + "0" * 26):
                with pytest.raises(Exception, match="There is no memory"):
                    talk.read(uri)
    with over_http(address, "ada") as ada:
        assert contents(ada.call("recall", query="locker")) == ["Ada's locker has the number 12."]


def test_a_key_that_is_taken_back_opens_nothing_more(
    post: Post, keys: dict[str, Principal]
) -> None:
    assert post().status_code == 200
    del keys["ada"]
    assert post().status_code == 401


def test_people_who_call_at_once_are_not_mixed_up(post: Post, engine: Remembrancer) -> None:
    def remember(number: int) -> str:
        who = ("ada", "bob", "namesake")[number % 3]
        arguments = {"content": f"{who} {number}", "subject": who, "predicate": str(number)}
        params = {"name": "remember", "arguments": arguments}
        answer = post({**CALL, "params": params}, Authorization=f"Bearer {who}").json()
        return str(answer["result"]["structuredContent"]["content"])

    with ThreadPoolExecutor(6) as threads:
        told = list(threads.map(remember, range(30)))
    tenant = engine.settings.tenant
    for who, user, where in (
        ("ada", "ada", tenant),
        ("bob", "bob", tenant),
        ("namesake", "ada", f"{tenant}-other"),
    ):
        kept = {one.content for one in engine.for_user(user, tenant=where).list().items}
        assert kept == {one for one in told if one.startswith(who)}
        assert len(kept) == 10


@pytest.mark.parametrize("who", ["Bearer ada", "Bearer bob"])
def test_a_session_id_is_always_a_missing_one(post: Post, who: str) -> None:
    refused = post(Authorization=who, mcp_session_id="0123456789abcdef")
    assert refused.status_code == 404


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT", "PATCH"])
def test_nothing_is_left_open(post: Post, method: str) -> None:
    refused = post(b"", method)
    assert (refused.status_code, refused.headers["allow"]) == (405, "POST")
    assert post(b"", method, Authorization="").status_code == 401


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "localhost.evil:80"])
def test_other_names_of_this_machine_are_refused(post: Post, host: str) -> None:
    assert post(Host=host).status_code == 421


def test_only_pages_that_are_trusted_may_call(post: Post) -> None:
    assert post(Origin="https://desk.example").status_code == 200
    for origin in ("https://evil.example", "null", "https://desk.example.evil", "http://127.0.0.1"):
        assert post(Origin=origin).status_code == 403


def test_too_much_is_refused_before_it_is_read(post: Post) -> None:
    assert post(b" " * (MAX_BODY_BYTES + 1)).status_code == 413
    assert post(b" " * (MAX_BODY_BYTES + 1), Authorization="").status_code == 401


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b"null", b'"\xff"', b'{"jsonrpc":"2.0"}', b"[" * 100_000]
)
def test_garbage_is_refused(post: Post, body: bytes) -> None:
    assert post(body).status_code == 400
    assert post().status_code == 200


def test_half_a_character_is_refused_and_changes_nothing(post: Post, engine: Remembrancer) -> None:
    half = json.dumps(CALL).replace("recall", "remember").replace("query", "content")
    refused = post(half.replace("tea", "\\ud800").encode())
    assert refused.status_code == 400
    assert engine.for_user("ada").list().items == ()


def test_secrets_reach_no_log(post: Post, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    secret = "-".join(["sk", "proj", "Zx9" * 16])
    call = json.dumps(CALL)
    kept = call.replace("recall", "remember").replace("query", "content")
    for body in (
        call.replace("tea", secret),
        kept.replace("tea", f"The key is {secret}."),
        call.replace("query", secret),
        call.replace('"tea"', f'["{secret}"]'),
        call.replace('"recall"', f'"{secret}"'),
        call.replace('"tools/call"', f'"{secret}"'),
        call.replace('"arguments": {', f'"arguments": ["{secret}"], "x": {{'),
        f'{{"key": "{secret}"',
    ):
        post(body.encode())
        post(body.encode(), MCP_Protocol_Version="2026-07-28")
    post(Authorization=f"Bearer {secret}")
    assert secret not in caplog.text


def test_clients_are_told_where_to_get_a_token(engine: Remembrancer) -> None:
    options = {"url": URL, "authorization_servers": ["https://login.example"]}
    with serving(engine, {}, **options) as address:
        refused = httpx.post(address, trust_env=False)
        root = address.removesuffix("/mcp")
        place = "/.well-known/oauth-protected-resource/mcp"
        metadata = httpx.get(root + place, trust_env=False).json()
    told = f'Bearer resource_metadata="https://memory.example{place}"'
    assert refused.headers["www-authenticate"] == told
    assert metadata["resource"] == URL
    assert metadata["authorization_servers"] == ["https://login.example"]
    assert metadata["bearer_methods_supported"] == ["header"]


def test_two_people_make_a_team_know(open_memory: Open) -> None:
    engine = open_memory("assistant")
    keys = {name: principal(engine, name) for name in ("ada", "bob")}
    known = "The staging database is rebuilt every night."
    with serving(engine, keys) as address:
        with over_http(address, "ada") as ada:
            assert ada.call("propose_to_team", content=known)["verdict"] == "pending"
            assert ada.call("ask_team", query="staging database")["facts"] == []
        with over_http(address, "bob") as bob:
            assert bob.call("propose_to_team", content=known)["verdict"] == "approved"
            (fact,) = bob.call("ask_team", query="staging database")["facts"]
            assert fact["content"] == known
            assert "ada" not in str(fact)


@pytest.mark.feature("A19")
def test_A19_the_origin_of_each_team_fact_is_listed_and_filtered(open_memory: Open) -> None:
    engine = open_memory("assistant")
    keys = {name: principal(engine, name) for name in ("ada", "bob")}
    people = {name: engine.for_user(name, surface="web") for name in keys}
    by_agent, by_user = "Releases are cut from main.", "The proxy pool uses ports 9000 to 9999."
    with serving(engine, keys) as address:
        for name, person in people.items():
            with over_http(address, name) as model:
                model.call("propose_to_team", content=by_agent)
            person.propose(by_user)
        people["ada"].propose("Builds run every night.")  # pending, so never listed
        with over_http(address, "ada") as model:
            (fact,) = model.call("list_team_memories", origins="agent")["items"]
            assert (fact["content"], fact["origin"]) == (by_agent, "agent")
            assert not model.call("list_team_memories", origins=["assistant"])["items"]

            first = model.call("list_team_memories", origins=["agent", "user"], limit=1)
            rest = model.call("list_team_memories", limit=1, cursor=first["cursor"])
            listed = [one["content"] for one in (*first["items"], *rest["items"])]
            assert listed == [by_user, by_agent]
            assert "cursor" not in rest

            engine.review().change_settings(team_recall={"mcp": False})
            assert not model.call("list_team_memories")["items"]
