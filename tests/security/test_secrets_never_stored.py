"""A5: tokens, passwords, keys and credentials reach no table, index, file, log or message.

No token stands in this file: each is put together when the test runs, from a seed of its own.
"""

from __future__ import annotations

import json
import logging
import random
import string
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, text

from remembrancer.engine import Remembrancer
from remembrancer.errors import InvalidInput
from remembrancer.memory import Memory
from remembrancer.types import Evidence

pytestmark = pytest.mark.feature("A5")

MIXED = string.ascii_letters + string.digits


class Secret:
    """A sentence with a secret in it, and the part of the secret that must be found nowhere."""

    def __init__(self, sentence: str, core: str) -> None:
        self.sentence = sentence
        self.core = core.lower()


def run(dice: random.Random, length: int, alphabet: str = MIXED) -> str:
    """Random characters of which every fourth is a digit, as one without any would be a word."""
    return "".join(
        dice.choice("23456789" if place % 4 == 3 else alphabet) for place in range(length)
    )


def short_secrets(seed: str) -> list[Secret]:
    dice = random.Random(seed)
    github, stripe, aws, password, bearer = (
        run(dice, 36),
        run(dice, 32),
        run(dice, 16, string.ascii_uppercase),
        run(dice, 14),
        run(dice, 40),
    )
    return [
        Secret(f"use {'gh' + 'p_'}{github} here", github),
        Secret(f"billing is {'sk' + '_li' + 've_'}{stripe} there", stripe),
        Secret(f"bucket {'AK' + 'IA'}{aws} of ours", aws),
        Secret(f"my {'pass' + 'word'} is {password}", password),
        Secret(f"{'Authori' + 'zation'}: {'Bea' + 'rer'} {bearer}", bearer),
        Secret(f"at postgres{'ql:'}//ada:{password}@db.example.org/main", password),
    ]


def long_secrets(seed: str) -> list[Secret]:
    dice = random.Random(f"long {seed}")
    lines = [run(dice, 64) for _ in range(6)]
    head, tail = (
        "-----" + "BEGIN RSA PRIVATE " + "KEY-----",
        "-----" + "END RSA PRIVATE " + "KEY-----",
    )
    key = "\n".join([head, *lines, tail])
    return [Secret(f"the key:\n{key}\nkeep it", line) for line in (lines[0], lines[3], lines[5])]


Way = Callable[[Memory, str, int], Any]


def _update(me: Memory, words: str, number: int, **details: Any) -> None:
    old = me.remember(f"Something harmless, number {number}, to be corrected.")
    me.update(old.memory.id, words, **details)


WAYS: dict[str, Way] = {
    "content": lambda me, words, _: me.remember(f"Note this: {words}, if you please."),
    "bare content": lambda me, words, _: me.remember(words),
    "subject": lambda me, words, n: me.remember(f"Thing {n}", subject=words, predicate="about"),
    "predicate": lambda me, words, n: me.remember(f"Topic {n}", subject="it", predicate=words),
    "tags": lambda me, words, n: me.remember(f"Tagged {n}", tags=("plain", words)),
    "metadata value": lambda me, words, n: me.remember(f"Valued {n}", metadata={"note": words}),
    "metadata key": lambda me, words, n: me.remember(f"Keyed {n}", metadata={words: "note"}),
    "nested metadata": lambda me, words, n: me.remember(
        f"Nested {n}", metadata={"a": [{"b": {"c": [words]}}, {words: 1}]}
    ),
    "summary": lambda me, words, n: me.remember(f"Summed up {n}", summary=words),
    "body": lambda me, words, n: me.remember(f"Told at length {n}", body=f"First. {words} Last."),
    "evidence": lambda me, words, n: me.remember(
        f"Proven {n}", evidence=(Evidence("chat", "turn", words),)
    ),
    "rule": lambda me, words, _: me.remember(f"Always try {words} first.", kind="rule"),
    "episode": lambda me, words, _: me.remember(f"Ada said: {words}.", kind="episode"),
    "turn": lambda me, words, _: me.append([{"role": "user", "content": f"See: {words}."}]),
    "turn's speaker": lambda me, words, n: me.append(
        [{"role": "user", "content": f"Said {n}", "speaker": words}]
    ),
    "turn's metadata": lambda me, words, n: me.append(
        [{"role": "tool", "content": f"Called {n}", "metadata": {"result": [words]}}]
    ),
    "conversation's title": lambda me, words, n: me.append(
        [{"role": "user", "content": f"Titled {n}"}], title=words
    ),
    "update": lambda me, words, n: _update(me, f"Corrected: {words}", n),
    "update's tags": lambda me, words, n: _update(me, f"New tags {n}", n, tags=(words,)),
    "update's metadata": lambda me, words, n: _update(me, f"New m. {n}", n, metadata={"x": words}),
    "update's body": lambda me, words, n: _update(me, f"New body {n}", n, body=words),
}
NARROW = ("subject", "predicate", "tags", "update's tags", "turn's speaker")
"""Fields too short for a private key."""


def write_all(
    me: Memory, seed: str, ways: dict[str, Way], *, recalling: bool = True, sampled: bool = False
) -> Iterator[tuple[str, str]]:
    """Send secrets every way, or two of them; yields what must be found nowhere, and its way."""
    for place, (name, way) in enumerate(ways.items()):
        chosen = short_secrets(f"{seed} {name}")
        if name not in NARROW:
            chosen += long_secrets(f"{seed} {name}")
        if sampled:
            chosen = [chosen[place % 6], chosen[-1]]
        for number, secret in enumerate(chosen):
            refusal = _try(lambda way=way, secret=secret, n=number: way(me, secret.sentence, n))
            assert secret.core not in refusal.lower()
            if recalling:
                me.recall(secret.sentence)
            yield secret.core, f"{name} {number}"


@pytest.fixture
def store(open_fake: Callable[..., Remembrancer]) -> Remembrancer:
    """A store whose embedder is quick: these tests are about words, not about their sense."""
    return open_fake()


@pytest.mark.parametrize("name", WAYS)
def test_A5_no_table_holds_a_secret_whichever_field_it_came_by(
    name: str, me: Memory, store: Remembrancer, tenant: str, stored: Callable[[], Any]
) -> None:
    sent = dict(write_all(me, tenant, {name: WAYS[name]}))
    store.flush()

    everything = _as_text(stored())
    leaked = [way for core, way in sent.items() if core in everything]
    assert not leaked


def test_A5_no_byte_of_the_files_holds_a_secret(
    me: Memory, store: Remembrancer, place: str, tenant: str, superuser: Engine | None
) -> None:
    sent = dict(write_all(me, tenant, WAYS, sampled=True))
    me.remember("A canary: the searched bytes do hold the word Wolkenkratzer.")
    store.flush()

    directory = Path(place) if superuser is None else _data_directory(superuser)
    held = b"".join(path.read_bytes() for path in directory.rglob("*") if path.is_file()).lower()
    assert b"wolkenkratzer" in held
    leaked = [way for core, way in sent.items() if core.encode() in held]
    assert not leaked


def test_A5_no_line_of_the_log_holds_a_secret_that_was_written(
    open_fake: Callable[..., Remembrancer], tenant: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    caplog.set_level(logging.DEBUG, "sqlalchemy.engine")
    me = open_fake().for_user("ada")

    sent = dict(write_all(me, tenant, WAYS, recalling=False, sampled=True))

    log = caplog.text.lower()
    assert "insert into facts" in log
    leaked = [way for core, way in sent.items() if core in log]
    assert not leaked


def test_A5_no_line_of_the_log_holds_a_secret_that_was_asked_for(
    open_fake: Callable[..., Remembrancer], tenant: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    caplog.set_level(logging.DEBUG, "sqlalchemy.engine")
    me = open_fake().for_user("ada")
    me.remember("Something to look through.")
    secret = short_secrets(tenant)[0]

    me.recall(secret.sentence)

    log = caplog.text.lower()
    assert "select facts" in log
    assert secret.core not in log


def test_A5_a_secret_alone_is_refused_and_the_message_does_not_repeat_it(me: Memory) -> None:
    token = "gh" + "p_" + run(random.Random("alone"), 36)

    with pytest.raises(InvalidInput) as refused:
        me.remember(token)

    assert token not in str(refused.value)
    assert me.list().items == ()


def test_A5_the_caller_is_told_what_kind_of_secret_was_left_out(me: Memory) -> None:
    token = "gh" + "p_" + run(random.Random("told"), 36)

    written = me.remember(f"The build uses {token} to publish.")

    assert written.secrets == ("github-token",)
    assert written.memory.content == "The build uses [secret: github-token] to publish."


def test_A5_a_fact_about_a_password_cannot_be_corrected_into_the_password(
    me: Memory, stored: Callable[[], Any], tenant: str
) -> None:
    password = "Tulpen" + run(random.Random(tenant), 8)
    fact = me.remember("changed in May", subject="home", predicate="wifi_" + "password")

    _try(lambda: me.update(fact.memory.id, password))

    assert password.lower() not in _as_text(stored())


def test_A5_a_subject_that_names_a_secret_guards_the_content_too(
    me: Memory, stored: Callable[[], Any], tenant: str
) -> None:
    password = "Tulpen" + run(random.Random(tenant), 8)

    _try(lambda: me.remember(password, subject="wifi " + "password", predicate="value"))

    assert password.lower() not in _as_text(stored())


@pytest.mark.parametrize("name", ["pin", "password"])
def test_A5_a_secret_that_is_a_number_is_left_out_of_metadata_too(
    name: str, me: Memory, stored: Callable[[], Any], tenant: str
) -> None:
    number = random.Random(tenant).randrange(10**11, 10**12)

    _try(lambda: me.remember("The door opens with a number.", metadata={name: number}))

    assert str(number) not in _as_text(stored())


def test_A5_a_name_guards_everything_below_it_in_metadata(
    me: Memory, stored: Callable[[], Any], tenant: str
) -> None:
    password = "Tulpen" + run(random.Random(tenant), 8)

    _try(lambda: me.remember("Wifi works.", metadata={"password": {"value": password}}))

    assert password.lower() not in _as_text(stored())


@pytest.mark.parametrize("field", ["scope", "session_id", "evidence session", "evidence turn"])
def test_A5_names_and_references_carry_no_secret_either(
    field: str, me: Memory, stored: Callable[[], Any], tenant: str
) -> None:
    core = run(random.Random(f"{tenant} {field}"), 36)
    token = "gh" + "p_" + core
    details: dict[str, Any] = {
        "scope": {"scope": token},
        "session_id": {"session_id": token},
        "evidence session": {"evidence": (Evidence(token, "turn"),)},
        "evidence turn": {"evidence": (Evidence("chat", token),)},
    }[field]

    _try(lambda: me.remember("A harmless sentence.", **details))

    assert core.lower() not in _as_text(stored())


@pytest.mark.parametrize("field", ["scope", "session"])
def test_A5_where_a_conversation_belongs_carries_no_secret_either(
    field: str, me: Memory, stored: Callable[[], Any], tenant: str
) -> None:
    core = run(random.Random(f"{tenant} {field}"), 36)
    place: dict[str, Any] = {field: "gh" + "p_" + core}

    _try(lambda: me.append([{"role": "user", "content": "A harmless sentence."}], **place))

    assert core.lower() not in _as_text(stored())


@pytest.mark.parametrize("role", ["agent", "surface"])
def test_A5_who_calls_and_from_where_carry_no_secret_either(
    role: str, store: Remembrancer, stored: Callable[[], Any], tenant: str
) -> None:
    core = run(random.Random(f"{tenant} {role}"), 36)

    _try(lambda: store.for_user("ada", **{role: "gh" + "p_" + core}).remember("A sentence."))

    assert core.lower() not in _as_text(stored())


def _try(write: Callable[[], Any]) -> str:
    """Write, or be refused, and say how: both keep the secret out."""
    try:
        write()
    except InvalidInput as refused:
        return str(refused)
    return ""


def _as_text(rows: dict[str, list[dict[str, Any]]]) -> str:
    return json.dumps(rows, default=str, ensure_ascii=False).lower()


def _data_directory(engine: Engine) -> Path:
    """The server's files, with all it holds in memory written to them."""
    with engine.connect() as connection:
        connection.execute(text("CHECKPOINT"))
        return Path(connection.execute(text("SHOW data_directory")).scalar_one())
