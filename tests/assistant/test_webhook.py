"""Telegram calls the server: with the secret it gets through to the bot, and nowhere else."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest

from remembrancer.assistant.telegram.bot import HOW_TO_LINK
from remembrancer.errors import InvalidSetting
from tests.assistant.bot_api import TOKEN, TelegramServer
from tests.support.http_server import Served

pytestmark = pytest.mark.postgres_long

CHAT = 42
SECRET = "a-webhook-secret-of-ours"
KNOWN = {"X-Telegram-Bot-Api-Secret-Token": SECRET}


@pytest.fixture
def telegram(monkeypatch: pytest.MonkeyPatch) -> Iterator[TelegramServer]:
    monkeypatch.setenv("NO_PROXY", "*")
    with TelegramServer() as server:
        yield server


@pytest.fixture
def served(serve: Callable[..., Served], telegram: TelegramServer) -> Served:
    settings = {"token": TOKEN, "url": telegram.url, "webhook_secret": SECRET}
    running = serve("assistant", telegram=settings)
    running.engine.account_links.unlink("telegram", str(CHAT))  # all tests share one database
    return running


@pytest.fixture
def call(served: Served) -> Callable[..., int]:
    """Call as Telegram does, and return the status."""
    client = served.client()

    def post(update: Any, headers: dict[str, str] = KNOWN, path: str = "/telegram") -> int:
        return client.post(path, json=update, headers=headers).status_code

    return post


def link(served: Served) -> None:
    owner = served.engine.for_user("ada").principal.owner
    code = served.engine.account_links.create_code(owner).code
    assert served.engine.account_links.redeem(code, "telegram", str(CHAT)) == owner


def test_what_a_person_writes_is_answered_once(
    served: Served, call: Callable[..., int], telegram: TelegramServer
) -> None:
    link(served)
    update = telegram.write(CHAT, "Remember that I like tea.")

    assert [call(update), call(update)] == [200, 200]

    assert len(telegram.said(CHAT)) == 1
    assert [one.content for one in served.engine.for_user("ada").list().items] == ["Likes tea"]


def test_a_chat_that_is_not_linked_learns_nothing(
    served: Served, call: Callable[..., int], telegram: TelegramServer
) -> None:
    served.engine.for_user("ada").remember("Ada dives.")

    assert call(telegram.write(CHAT, "/memories")) == 200

    assert telegram.said() == [HOW_TO_LINK]


def test_who_does_not_know_the_secret_gets_nowhere(
    served: Served, call: Callable[..., int], telegram: TelegramServer
) -> None:
    link(served)
    update = telegram.write(CHAT, "/memories")
    wrong = {"X-Telegram-Bot-Api-Secret-Token": SECRET[:-1]}
    bearer = {"Authorization": f"Bearer {SECRET}"}

    assert [call(update, one) for one in ({}, wrong, bearer)] == [403, 403, 403]
    assert served.client().get("/telegram").status_code == 403
    assert telegram.said() == []


def test_the_secret_opens_nothing_else(call: Callable[..., int]) -> None:
    for path in ("/api/remember", "/mcp", "/telegram/", "/telegram/x", "/telegram/../api/me"):
        assert call({"content": "x"}, path=path) == 401


@pytest.mark.parametrize("body", [b"", b"{", b"\xff", b"[" * 100_000, b'"' + b"x" * 1_000_001])
def test_what_cannot_be_read_is_refused(served: Served, body: bytes) -> None:
    assert served.client().post("/telegram", content=body, headers=KNOWN).status_code == 400


@pytest.mark.parametrize("update", [{}, [], 1, {"update_id": "x"}, {"update_id": 2, "message": 1}])
def test_what_is_no_update_of_ours_is_passed_over(
    call: Callable[..., int], update: Any, telegram: TelegramServer
) -> None:
    assert call(update) == 200
    assert telegram.said() == []


def test_more_than_the_server_takes_is_refused(served: Served) -> None:
    most = served.engine.settings.server.max_body_bytes
    sent = served.client().post("/telegram", content=b"x" * (most + 1), headers=KNOWN)
    assert sent.status_code == 413


def test_calls_at_the_same_time_do_not_mix_within_a_chat(
    served: Served, telegram: TelegramServer
) -> None:
    link(served)
    updates = [telegram.write(CHAT, f"Remember that {word} is red.") for word in WORDS]
    with httpx.Client(base_url=served.address, trust_env=False, timeout=60) as client:
        threads = [
            threading.Thread(target=client.post, args=("/telegram",), kwargs=_call(update))
            for update in updates
        ]
        for one in threads:
            one.start()
        for one in threads:
            one.join()

    me = served.engine.for_user("ada")
    (session,) = me.sessions().items
    assert [one.role for one in me.turns(session.id)] == ["user", "assistant"] * len(WORDS)


WORDS = ("the boat", "the barn", "the kite", "the door")


def _call(update: Any) -> dict[str, Any]:
    return {"json": update, "headers": KNOWN}


def test_without_a_secret_telegram_has_no_way_in(
    serve: Callable[..., Served], telegram: TelegramServer
) -> None:
    running = serve(telegram={"token": TOKEN, "url": telegram.url})
    assert running.client().post("/telegram", json={}, headers=KNOWN).status_code == 401


def test_a_secret_that_telegram_would_not_take_is_told(
    serve: Callable[..., Served], telegram: TelegramServer
) -> None:
    with pytest.raises(InvalidSetting, match="webhook_secret"):
        serve(telegram={"token": TOKEN, "url": telegram.url, "webhook_secret": "short"})
