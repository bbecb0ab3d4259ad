"""A5: secrets that are told in ordinary talk reach no byte of the store, by any surface."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine

from remembrancer.engine import Remembrancer
from remembrancer.errors import InvalidInput
from tests.assistant.talk import chat_of, say
from tests.security.test_secrets_never_stored import _data_directory
from tests.support.http_server import Served
from tests.support.opening import Open

pytestmark = [pytest.mark.feature("A5"), pytest.mark.postgres_long]

HARDEST = (
    ("The master password for 1Password is marble teapot winter lantern", "teapot"),
    ("the password for the NAS was changed, it is now Karamba-19", "Karamba"),
    ("la contraseña del wifi es GatoNegro2021", "GatoNegro"),
    ("le mot de passe de la box, attends, c'est Citrouille31", "Citrouille"),
    ("ehm la password è, aspetta, Girasole15", "Girasole"),
    ("Der Tresorcode lautet 88-12-53", "88-12-53"),
    ("Her new pass is 'Zwetschge 9 Baum'", "Zwetschge"),
    ("log in as maria with Trombone_5", "Trombone"),
    ("recovery codes for the mail: k7m2p-q9x4z t5w8r-n3v6b", "q9x4z"),
    ("seed: 1. ribbon 2. candy 3. vault 4. ocean 5. tiger 6. lamp 7. motor 8. bridge 9. fancy"
     " 10. salute 11. orbit 12. pepper", "salute"),
    ("the setup key is JBSW Y3DP EHPK 3PXQ", "EHPK"),
    ("my mother's maiden name is Quibblethorpe if they ask the security question", "Quibble"),
    ('{"x_auth": {"k": "9f86d081884c7d659a2feaa0c55ad015"}}', "9f86d081"),
)  # fmt: skip
QUESTION, ANSWER = "What's the wifi password?", "GreenGoose2020"


def held(place: str, superuser: Engine | None) -> bytes:
    directory = Path(place) if superuser is None else _data_directory(superuser)
    return b"".join(path.read_bytes() for path in directory.rglob("*") if path.is_file()).lower()


def assert_nothing_is_held(place: str, superuser: Engine | None) -> None:
    everything = held(place, superuser)
    assert b"wolkenkratzer" in everything
    cores = (*(core for _, core in HARDEST), ANSWER)
    assert [core for core in cores if core.lower().encode() in everything] == []


def test_A5_no_byte_holds_a_secret_that_the_library_was_told(
    open_fake: Callable[..., Remembrancer], place: str, superuser: Engine | None
) -> None:
    store = open_fake()
    me = store.for_user("ada")
    me.remember("A canary: Wolkenkratzer.")
    for told, _ in HARDEST:
        with suppress(InvalidInput):
            me.remember(told)
        me.append([{"role": "user", "content": told}])
        me.recall(told)
    me.append([{"role": "assistant", "content": QUESTION}, {"role": "user", "content": ANSWER}])
    me.append([{"role": "assistant", "content": QUESTION}], session="later")
    me.append([{"role": "user", "content": ANSWER}], session="later")
    store.flush()

    assert_nothing_is_held(place, superuser)


def test_A5_no_byte_holds_a_secret_that_a_request_told(
    serve: Callable[..., Served], place: str, superuser: Engine | None
) -> None:
    served = serve()
    ada = served.of("ada")
    assert ada.post("/api/remember", json={"content": "Wolkenkratzer"}).status_code == 200
    for told, _ in HARDEST:
        assert ada.post("/api/remember", json={"content": told}).status_code in (200, 400, 422)
    for role, text in (("assistant", QUESTION), ("user", ANSWER)):
        turns: dict[str, Any] = {"turns": [{"role": role, "content": text}]}
        assert ada.post("/api/sessions/chat/turns", json=turns).status_code == 200
    served.engine.flush()

    assert_nothing_is_held(place, superuser)
    assert ANSWER not in json.dumps(served.logged())


def test_A5_no_byte_holds_a_secret_that_the_chat_was_told(
    open_memory: Open, place: str, superuser: Engine | None
) -> None:
    store = open_memory("assistant")
    chat = chat_of(store)
    say(chat, "Remember that a skyscraper is called Wolkenkratzer in German.")
    for told, _ in HARDEST:
        say(chat, told)
    store.flush()

    assert_nothing_is_held(place, superuser)
