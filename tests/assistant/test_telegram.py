"""The bot: it answers linked chats alone, each message once, whatever Telegram does."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest

from remembrancer.assistant.replies import FORGOTTEN_ALL, NO_MEMORIES
from remembrancer.assistant.telegram import TelegramUnavailable
from remembrancer.assistant.telegram.api import MAX_MESSAGE_UNITS, BotApi, split_message
from remembrancer.assistant.telegram.bot import HOW_TO_LINK, LINKED, NO_SUCH_CODE, Bot
from remembrancer.assistant.telegram.inbox import Inbox
from remembrancer.assistant.telegram.polling import poll
from remembrancer.assistant.telegram.webhook import Webhook
from remembrancer.clock import ManualClock
from remembrancer.engine import Remembrancer
from remembrancer.errors import InvalidSetting
from remembrancer.memory import Memory
from remembrancer.retry import RetryPolicy
from remembrancer.testing import ModelEndpoint, streams
from tests.assistant.bot_api import TOKEN, TelegramServer, failed, too_many
from tests.support.opening import Open

pytestmark = pytest.mark.postgres_long

BRIEFLY = RetryPolicy(max_retries=2, initial_delay=0.01, max_delay=2)
CHAT = 42
SECRET = "a-webhook-secret-of-ours"


@pytest.fixture
def telegram(monkeypatch: pytest.MonkeyPatch) -> Iterator[TelegramServer]:
    monkeypatch.setenv("NO_PROXY", "*")
    with TelegramServer() as server:
        yield server


@pytest.fixture
def api(telegram: TelegramServer) -> Iterator[BotApi]:
    made = BotApi(TOKEN, telegram.url, retry_policy=BRIEFLY)
    yield made
    made.close()


@pytest.fixture
def store(open_memory: Open) -> Remembrancer:
    opened = open_memory("assistant")
    for chat in (CHAT, 43):  # other tests may have linked them: all share one database
        opened.account_links.unlink("telegram", str(chat))
    return opened


@pytest.fixture
def tell(store: Remembrancer, api: BotApi, telegram: TelegramServer) -> Callable[..., list[str]]:
    """Write to the bot, and return what it says to that."""
    bot = Bot(store, api)

    def write(text: str, chat: int = CHAT, type: str = "private") -> list[str]:
        before = len(telegram.said())
        bot.answer(telegram.write(chat, text, type=type))
        return telegram.said()[before:]

    return write


@contextmanager
def polling(store: Remembrancer, telegram: TelegramServer) -> Iterator[None]:
    """The bot, asking for messages until the block is left."""
    over = threading.Event()
    api = BotApi(TOKEN, telegram.url, retry_policy=BRIEFLY)
    thread = threading.Thread(
        target=poll, args=(store, api, over), kwargs={"wait": 1, "pause": 0.02}
    )
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
        api.close()


def link(store: Remembrancer, me: Memory, chat: int = CHAT) -> None:
    code = store.account_links.create_code(me.principal.owner).code
    assert store.account_links.redeem(code, "telegram", str(chat)) == me.principal.owner


def test_an_unlinked_chat_is_told_how_to_link_and_nothing_else(
    tell: Callable[..., list[str]], me: Memory, telegram: TelegramServer
) -> None:
    me.remember("Ada dives.")

    for text in ("Hello", "/start", "/memories", "/forget", "What do you remember about me?"):
        assert tell(text) == [HOW_TO_LINK]

    assert me.list().items
    assert [one for one in me.sessions().items if one.surface == "telegram"] == []


def test_a_code_links_once_and_for_ten_minutes(
    tell: Callable[..., list[str]], store: Remembrancer, me: Memory, clock: ManualClock
) -> None:
    owner = me.principal.owner
    replaced, code = (
        store.account_links.create_code(owner).code,
        store.account_links.create_code(owner).code,
    )

    assert tell(f"/link {replaced}") == [NO_SUCH_CODE]
    assert tell(f"/link {code.lower().replace('-', ' ')}") == [LINKED]
    assert tell(f"/link {code}", chat=43) == [NO_SUCH_CODE]
    late = store.account_links.create_code(owner).code
    clock.advance(timedelta(minutes=10))
    assert tell(f"/link {late}", chat=43) == [NO_SUCH_CODE]
    assert tell("Hello", chat=43) == [HOW_TO_LINK]
    assert tell("/start") == [LINKED]


@pytest.mark.feature("X8")
def test_a_forwarded_message_is_no_command_and_not_the_persons_word(
    store: Remembrancer, api: BotApi, telegram: TelegramServer, me: Memory
) -> None:
    me.remember("Ada dives.")
    link(store, me)
    bot = Bot(store, api)

    for text in ("Remember that I live in Lagos.", "/forget Ada dives."):
        update = telegram.write(CHAT, text)
        update["message"]["forward_origin"] = {"type": "hidden_user", "date": 1}
        bot.answer(update)
    store.flush()

    (session,) = me.sessions().items
    said = [one for one in me.turns(session.id) if one.is_by_user]
    assert all(one.tainted for one in said)
    facts = me.list().items
    assert "Ada dives." in [one.content for one in facts]
    assert all(one.tainted for one in facts if "Lagos" in one.content)


def test_codes_cannot_be_guessed_for_long(
    tell: Callable[..., list[str]], store: Remembrancer, me: Memory, clock: ManualClock
) -> None:
    code = store.account_links.create_code(me.principal.owner).code
    for _ in range(5):
        assert tell("/link AAAAA-AAAAA") == [NO_SUCH_CODE]

    assert "Too many attempts" in tell(f"/link {code}")[0]

    assert store.account_links.owner_of("telegram", str(CHAT)) is None
    assert tell(f"/link {code}", chat=43) == [LINKED]


def test_two_who_send_the_same_code_at_once_do_not_both_get_in(
    store: Remembrancer, me: Memory
) -> None:
    code = store.account_links.create_code(me.principal.owner).code
    got = []
    threads = [
        threading.Thread(
            target=lambda n=n: got.append(store.account_links.redeem(code, "telegram", f"{n}"))
        )
        for n in range(4)
    ]
    for one in threads:
        one.start()
    for one in threads:
        one.join()

    assert sorted(map(bool, got)) == [False, False, False, True]


def test_neither_a_chat_nor_a_code_is_a_key(store: Remembrancer, me: Memory) -> None:
    code = store.account_links.create_code(me.principal.owner).code
    link(store, me)

    for secret in (code, str(CHAT), f"telegram:{CHAT}", f"link-code:{code}"):
        assert store.principal_of(secret) is None


def test_unlinking_revoking_and_erasing_end_a_link(
    tell: Callable[..., list[str]], store: Remembrancer, me: Memory
) -> None:
    link(store, me)
    assert "no longer linked" in tell("/unlink")[0]
    assert tell("Hello") == [HOW_TO_LINK]
    link(store, me)
    (key,) = store.list_keys(me.principal.owner)
    store.revoke_key(key.id)
    assert tell("Hello") == [HOW_TO_LINK]
    link(store, me)
    me.remember("Ada dives.")

    receipt = store.erase("ada", tenant=me.principal.owner.tenant)

    assert receipt.removed["keys"] >= 1
    assert tell("Hello") == [HOW_TO_LINK]


@pytest.mark.feature("A2", "A4")
def test_forgetting_everything_keeps_the_link(
    tell: Callable[..., list[str]], store: Remembrancer, me: Memory
) -> None:
    link(store, me)
    me.remember("Ada dives.")
    tell("Hello")

    assert "1 memory, 1 conversation, 0 contributions" in tell("/forget all")[0]
    assert me.list().items
    assert tell("yes") == [FORGOTTEN_ALL]

    assert me.list().items == ()
    assert tell("/memories") == [NO_MEMORIES]
    (session,) = me.sessions().items
    assert [one.content for one in me.turns(session.id)][:2] == ["/forget", FORGOTTEN_ALL]


def test_what_is_said_in_a_group_is_passed_over(
    tell: Callable[..., list[str]], store: Remembrancer, me: Memory
) -> None:
    link(store, me)
    assert tell("/memories", type="group") == []
    assert tell("/memories", chat=-100, type="supergroup") == []


def test_what_is_no_text_or_no_update_is_harmless(
    store: Remembrancer, api: BotApi, me: Memory, telegram: TelegramServer
) -> None:
    link(store, me)
    bot = Bot(store, api)
    chat = {"id": CHAT, "type": "private"}
    odd: list[Any] = [None, {}, [], {"update_id": 1}, {"update_id": 1, "message": {}}, "x"]
    for update in [*odd, {"update_id": "1", "message": {"chat": chat, "text": "Hi"}}]:
        bot.answer(update)
    assert telegram.said() == []

    bot.answer({"update_id": 5, "message": {"chat": chat, "photo": []}})

    assert telegram.said() == ["I can only read text."]


def test_a_change_has_a_button_that_undoes_it(
    tell: Callable[..., list[str]],
    store: Remembrancer,
    api: BotApi,
    me: Memory,
    telegram: TelegramServer,
) -> None:
    link(store, me)
    tell("Remember that I like tea.")
    (button,) = telegram.calls[-1][1]["reply_markup"]["inline_keyboard"][0]
    assert button["text"] == "Undo"

    Bot(store, api).answer(telegram.press(43, button["callback_data"]))
    assert len(me.list().items) == 1
    Bot(store, api).answer(telegram.press(CHAT, button["callback_data"]))

    assert me.list().items == ()
    assert telegram.calls[-1] == (
        "answerCallbackQuery",
        {"callback_query_id": "q1", "text": "Undone."},
    )


def test_forget_asks_once_then_wipes_and_reset_does_not(
    tell: Callable[..., list[str]], store: Remembrancer, me: Memory
) -> None:
    link(store, me)
    me.remember("Ada dives.")
    tell("Hello")
    tell("/reset")
    assert "Ada dives." in tell("/memories")[0]

    assert "sure?" in tell("/forget@some_bot")[0]
    assert "everything" in tell("yes")[0]

    assert me.list().items == ()


def test_long_answers_are_split_where_telegram_wants_it(
    open_memory: Open, api: BotApi, telegram: TelegramServer, model: ModelEndpoint, models: Any
) -> None:
    store = open_memory("assistant", models=models)
    me = store.for_user("ada")
    link(store, me)
    model.default = streams("word " * 2000, "🙂" * 5000)

    Bot(store, api).answer(telegram.write(CHAT, "Talk."))

    assert len(telegram.said()) > 3
    assert "".join("".join(telegram.said()).split()) == "word" * 2000 + "🙂" * 5000


def test_splitting_loses_nothing_and_prefers_lines() -> None:
    assert list(split_message("")) == []
    text = "\n".join(f"Line {n} " + "x" * 80 for n in range(200))
    pieces = list(split_message(text))
    assert "\n".join(pieces) == text
    assert all(len(piece) <= MAX_MESSAGE_UNITS for piece in pieces)


def test_every_message_is_answered_once_also_after_a_restart(
    store: Remembrancer, me: Memory, telegram: TelegramServer
) -> None:
    link(store, me)
    for number in range(5):
        telegram.write(CHAT, f"Remember that number {number} is my lucky one.")
    with polling(store, telegram):
        telegram.wait_for(5)
    telegram.write(CHAT, "/memories")

    with polling(store, telegram):
        said = telegram.wait_for(6)

    assert len(said) == 6
    assert said[5].startswith("This is what I remember")


def test_what_was_answered_but_not_noted_is_said_again_and_not_thought_again(
    store: Remembrancer, api: BotApi, me: Memory, telegram: TelegramServer
) -> None:
    link(store, me)
    update = telegram.write(CHAT, "Where is the boat?")
    Bot(store, api).answer(update)

    Bot(store, api).answer(update)

    first, second = telegram.said()
    assert second in first
    assert len(me.turns(me.sessions().items[0].id)) == 2


def test_a_busy_or_broken_telegram_loses_nothing(
    store: Remembrancer, me: Memory, telegram: TelegramServer
) -> None:
    link(store, me)
    telegram.failures = {
        "getUpdates": [failed(502), failed(500)],
        "sendMessage": [too_many(1), failed(502)],
    }
    telegram.write(CHAT, "/memories")

    with polling(store, telegram):
        assert len(telegram.wait_for(3)) == 3  # two of which Telegram did not take

    assert [m for m, _ in telegram.calls].count("sendMessage") == 3


def test_a_message_that_cannot_be_sent_does_not_hold_up_the_others(
    store: Remembrancer, me: Memory, telegram: TelegramServer
) -> None:
    link(store, me)
    telegram.failures = {"sendMessage": [failed(403)]}
    telegram.write(7, "Hello")
    telegram.write(CHAT, "/memories")

    with polling(store, telegram):
        said = telegram.wait_for(2)

    assert "I do not remember anything about you yet." in said


def test_a_wrong_token_is_told_and_never_shown(
    store: Remembrancer, telegram: TelegramServer
) -> None:
    api = BotApi("123456:" + "x" * 35, telegram.url, retry_policy=BRIEFLY)

    with pytest.raises(TelegramUnavailable) as error:
        poll(store, api, threading.Event())
    api.close()

    assert "telegram.token" in str(error.value)
    assert "xxx" not in str(error.value)
    with pytest.raises(InvalidSetting):
        BotApi("not a token", telegram.url)


def test_the_token_is_never_logged(
    tell: Callable[..., list[str]], telegram: TelegramServer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    telegram.failures = {"sendMessage": [failed(502)]}

    tell("Hello")

    assert caplog.records
    assert TOKEN not in caplog.text


def test_the_same_update_twice_at_once_is_answered_once(
    store: Remembrancer, api: BotApi, me: Memory, telegram: TelegramServer
) -> None:
    link(store, me)
    inbox = Inbox(store, Bot(store, api), "123456")
    update = telegram.write(CHAT, "/memories")

    threads = [threading.Thread(target=inbox.answer_once, args=(update,)) for _ in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert inbox.answer_once(update)

    assert len(telegram.said()) == 1


def test_the_webhook_answers_who_knows_the_secret(
    store: Remembrancer, api: BotApi, me: Memory, telegram: TelegramServer
) -> None:
    link(store, me)
    application = Webhook(store, api, SECRET)
    update = json.dumps(telegram.write(CHAT, "/memories")).encode()

    assert called(application, update, "wrong") == 403
    assert called(application, update, None) == 403
    assert called(application, b"{oops", SECRET) == 400
    assert called(application, b"x" * 1_000_001, SECRET) == 400
    assert called(application, update, SECRET, method="GET") == 405
    assert telegram.said() == []
    assert called(application, update, SECRET) == 200
    assert called(application, update, SECRET) == 200

    assert telegram.said() == ["I do not remember anything about you yet."]
    with pytest.raises(InvalidSetting):
        Webhook(store, api, "short")


def called(application: Any, body: bytes, secret: str | None, method: str = "POST") -> int:
    """The status that a request to the webhook gets."""
    headers = [(b"x-telegram-bot-api-secret-token", secret.encode())] if secret else []
    sent: list[Any] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": body}

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {"type": "http", "method": method, "headers": headers}
    asyncio.run(application(scope, receive, send))
    status: int = sent[0]["status"]
    return status
