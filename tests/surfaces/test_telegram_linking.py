"""A4: a chat is linked from the dashboard or over REST, and each chat is its own conversation."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import pytest

from remembrancer.assistant.telegram.bot import HOW_TO_LINK, LINKED
from tests.assistant.bot_api import TOKEN, TelegramServer
from tests.assistant.talk import chat_of, say
from tests.support.http_server import Served
from tests.support.visitor import Visitor

pytestmark = [pytest.mark.feature("A4"), pytest.mark.postgres_long]

SECRET = "a-webhook-secret-of-ours"
PHONE, TABLET = 42, 43


@pytest.fixture
def telegram(monkeypatch: pytest.MonkeyPatch) -> Iterator[TelegramServer]:
    monkeypatch.setenv("NO_PROXY", "*")
    with TelegramServer() as server:
        yield server


@pytest.fixture
def served(serve: Callable[..., Served], telegram: TelegramServer) -> Served:
    settings = {"token": TOKEN, "url": telegram.url, "webhook_secret": SECRET}
    running = serve("assistant", telegram=settings)
    for chat in (PHONE, TABLET):
        running.engine.account_links.unlink("telegram", str(chat))
    return running


@pytest.fixture
def tell(served: Served, telegram: TelegramServer) -> Callable[..., str]:
    """Write to the bot, and return its answer."""
    headers = {"X-Telegram-Bot-Api-Secret-Token": SECRET}

    def write(chat: int, text: str) -> str:
        update = telegram.write(chat, text)
        assert served.client().post("/telegram", json=update, headers=headers).status_code == 200
        return telegram.said(chat)[-1]

    return write


def test_A4_the_dashboard_shows_a_code_and_whom_to_send_it_to(
    served: Served, tell: Callable[..., str]
) -> None:
    assert tell(PHONE, "Hello") == HOW_TO_LINK
    assert "dashboard" in HOW_TO_LINK
    ada = Visitor(served, "ada")
    assert "Get a code" in ada.get("/settings").text

    page = ada.send("/settings/link-code").text

    assert "@some_bot" in page
    assert "ten minutes" in page
    sent = re.search(r"/link [A-Z0-9]{5}-[A-Z0-9]{5}", page)
    assert sent is not None
    assert tell(PHONE, sent[0]) == LINKED
    tell(PHONE, "Remember that I like tea.")
    assert [one.content for one in served.engine.for_user("ada").list().items] == ["Likes tea"]


def test_A4_a_code_over_rest_links_the_callers_account_and_an_agent_gets_none(
    served: Served, tell: Callable[..., str]
) -> None:
    made = served.of("ada").post("/api/me/link-code")

    assert made.status_code == 201
    body = made.json()
    assert (body["send"], body["bot"]) == (f"/link {body['code']}", "@some_bot")
    assert tell(PHONE, body["send"]) == LINKED
    owner = served.engine.for_user("ada").principal.owner
    assert served.engine.account_links.owner_of("telegram", str(PHONE)) == owner
    assert served.of("ada", agent="bot").post("/api/me/link-code").status_code == 403


def test_A4_two_chats_of_one_person_share_the_memory_and_no_conversation(
    served: Served, tell: Callable[..., str]
) -> None:
    me = served.engine.for_user("ada")
    for chat in (PHONE, TABLET):
        tell(chat, f"/link {served.engine.account_links.create_code(me.principal.owner).code}")

    tell(PHONE, "Remember that I like tea.")
    tell(TABLET, "Remember that I live in Hamburg.")
    tell(PHONE, "Hello there")

    sessions = [one.id for one in me.sessions().items]
    talks = [[turn.content for turn in me.turns(one) if turn.is_by_user] for one in sessions]
    assert sorted(talks) == [
        ["Remember that I like tea.", "Hello there"],
        ["Remember that I live in Hamburg."],
    ]
    assert "Likes tea" in tell(TABLET, "/memories")
    assert "Hamburg" in tell(TABLET, "undo")
    assert "Likes tea" in tell(PHONE, "/memories")


def test_A4_help_lists_what_one_can_say_on_every_chat(
    served: Served, tell: Callable[..., str]
) -> None:
    me = served.engine.for_user("ada")
    tell(PHONE, f"/link {served.engine.account_links.create_code(me.principal.owner).code}")

    for words in (tell(PHONE, "/help"), say(chat_of(served.engine), "What can I say?").text):
        for said in ("Remember that", "Correction:", "/memories", "/forget", "/reset", "team"):
            assert said in words
        assert len(words.splitlines()) <= 15
