"""A5: what is nothing but a secret is skipped on every surface, and the answer says so."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.assistant.talk import chat_of, say
from tests.support.opening import Open

pytestmark = pytest.mark.feature("A5")

SECRETS_ALONE = (
    "Remember that my password is hunter2.",
    "My password is hunter2.",
    "I log in with hunter2 as my password.",
    "My backup codes are ABCDE-FGHIJ-KLMNO.",
    "Mein Passwort ist hunter2.",
)


def test_A5_a_secret_told_in_the_chat_leaves_no_memory_and_no_mark(
    open_memory: Open, stored: Callable[[], Any]
) -> None:
    store = open_memory("assistant")
    me = store.for_user("ada")
    for words in SECRETS_ALONE:
        heard = say(chat_of(store), words)
        store.flush()
        assert "Secrets are never stored" in heard.text + "".join(heard.notices)

    assert me.list().items == ()
    assert "secret" not in say(chat_of(store), "What is my password?").text
    assert say(chat_of(store), "What do you know about me?").used == []
    assert "hunter2" not in str(stored())
    assert "FGHIJ" not in str(stored())


def test_A5_what_is_told_beside_a_secret_is_learned(open_memory: Open) -> None:
    store = open_memory("assistant")
    me = store.for_user("ada")

    say(chat_of(store), "I live in Oslo and my password is hunter2.")
    say(chat_of(store), "Remember that I use Bitwarden and the master password is hunter2.")
    store.flush()

    assert {one.content for one in me.list().items} == {
        "Lives in Oslo",
        "Uses Bitwarden and the master password is [secret: password]",
    }
