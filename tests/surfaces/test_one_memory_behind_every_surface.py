"""A4: taught on one surface, recalled and corrected on another; a Telegram chat is linked first."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from remembrancer.assistant.telegram.api import BotApi
from remembrancer.assistant.telegram.bot import HOW_TO_LINK, LINKED, Bot
from remembrancer.engine import Remembrancer
from remembrancer.memory import Memory
from tests.assistant.bot_api import TOKEN, TelegramServer
from tests.assistant.talk import chat_of, say
from tests.support.opening import Open

pytestmark = pytest.mark.feature("A4")

CHAT = 42


@pytest.fixture
def store(open_memory: Open) -> Remembrancer:
    opened = open_memory("assistant")
    for chat in (CHAT, 43):  # other tests may have linked them: all share one database
        opened.account_links.unlink("telegram", str(chat))
    return opened


@pytest.fixture
def telegram(monkeypatch: pytest.MonkeyPatch) -> Iterator[TelegramServer]:
    monkeypatch.setenv("NO_PROXY", "*")
    with TelegramServer() as server:
        yield server


@pytest.fixture
def bot(store: Remembrancer, telegram: TelegramServer) -> Iterator[Bot]:
    api = BotApi(TOKEN, telegram.url)
    yield Bot(store, api)
    api.close()


def test_A4_taught_on_the_web_and_corrected_on_telegram(
    store: Remembrancer, me: Memory, bot: Bot, telegram: TelegramServer
) -> None:
    say(chat_of(store), "Remember that I work on the iOS app.")
    bot.answer(telegram.write(CHAT, "What do you remember about me?"))
    assert telegram.said() == [HOW_TO_LINK]

    code = store.account_links.create_code(me.principal.owner).code
    bot.answer(telegram.write(CHAT, f"/link {code}"))
    bot.answer(telegram.write(CHAT, "What do you remember about me?"))
    bot.answer(telegram.write(CHAT, "Correction: I work on the dashboard, not on the iOS app."))

    assert telegram.said()[1] == LINKED
    assert "Works on the iOS app" in telegram.said()[2]
    (left,) = me.list().items
    assert left.content == "Works on the dashboard, not on the iOS app"
    assert left.surface == "telegram"
    assert "dashboard" in say(chat_of(store), "What do you remember about me?").text
    assert store.for_user("ada", surface="rest").recall("dashboard")[0].memory.id == left.id


def test_A4_another_chat_sees_nothing_of_it(
    store: Remembrancer, me: Memory, bot: Bot, telegram: TelegramServer
) -> None:
    bob = store.for_user("bob")
    for chat, memory in ((CHAT, me), (43, bob)):
        code = store.account_links.create_code(memory.principal.owner).code
        bot.answer(telegram.write(chat, f"/link {code}"))
    bot.answer(telegram.write(CHAT, "Remember that the safe is behind the painting."))

    bot.answer(telegram.write(43, "/memories"))
    bot.answer(telegram.write(43, "Where is the safe?"))

    assert not [one for one in telegram.said(43) if "painting" in one]
    assert len(me.list().items) == 1
    assert bob.list().items == ()
