"""PostgreSQL's write-ahead log is overwritten after an erasure, or the receipt says why not."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import text
from typer.testing import CliRunner

from remembrancer.cli.app import app
from remembrancer.clock import ManualClock
from remembrancer.embed import Embedder
from remembrancer.engine import Remembrancer
from remembrancer.store.pg_wal import MAX_OVERWRITTEN_BYTES
from tests.support.opening import open_at_place
from tests.support.postgres import as_administrator

pytestmark = pytest.mark.feature("X4")


def read_log(place: str) -> bytes:
    with as_administrator(place) as connection:
        data = Path(connection.execute(text("SHOW data_directory")).scalar_one())
    return b"".join(one.read_bytes() for one in sorted((data / "pg_wal").glob("0*")))


@pytest.fixture
def database(next_database: Callable[[], str]) -> str:
    return next_database()


@pytest.fixture
def login(database: str) -> str:
    """The database for a login that is no more than a member of the application's role."""
    name = f"plain_{secrets.token_hex(6)}"
    with as_administrator(database) as connection:
        connection.execute(text(f"CREATE ROLE {name} LOGIN"))
        connection.execute(text(f"GRANT remembrancer_app TO {name}"))
    return database.replace("//postgres:@", f"//{name}:@")


@pytest.fixture
def user() -> str:
    """Somebody whom no other test on this server knows."""
    return f"ada-{secrets.token_hex(4)}"


def open_store(place: str, clock: ManualClock, embedder: Embedder, user: str) -> Remembrancer:
    return open_at_place(place, clock, embedder, user=user, tenant=f"of-{user}")


def test_every_segment_is_overwritten(
    database: str, clock: ManualClock, embedder: Embedder, user: str
) -> None:
    word = f"Quagg{secrets.token_hex(4)}"
    with open_store(database, clock, embedder, user) as store:
        store.for_user(user).remember(f"The parrot is called {word}.")
        with as_administrator(database) as connection:  # Some segments lie between.
            for _ in range(3):
                filler = "SELECT pg_logical_emit_message(false, 'filler', repeat('x', 17000000))"
                connection.execute(text(filler))
        assert word.encode() in read_log(database)

        receipt = store.erase(user)

    assert receipt.clean
    assert receipt.left == ()
    assert {one.place for one in receipt.searched} >= {"tables and indexes", "write-ahead log"}
    assert word.encode() not in read_log(database)
    assert sum(one.bytes for one in receipt.searched) < MAX_OVERWRITTEN_BYTES


def test_without_the_right_the_receipt_says_what_remains_and_whom_to_ask(
    login: str, database: str, clock: ManualClock, embedder: Embedder, user: str
) -> None:
    with open_store(login, clock, embedder, user) as store:
        store.for_user(user).remember("The parrot is called Kakadoodle.")

        receipt = store.erase(user)

        assert not receipt.clean
        assert any("write-ahead log" in why and "administrator" in why for why in receipt.left)
        assert not any(one.found for one in receipt.searched), "the rows are gone"
        assert store.verify_receipt(receipt)


def test_the_command_names_what_is_left(
    login: str, clock: ManualClock, embedder: Embedder, user: str
) -> None:
    with open_store(login, clock, embedder, user) as store:
        store.for_user(user).remember("The parrot is called Kakadoodle.")

        done = CliRunner().invoke(app, ["erase", user, "--yes"], obj=store)

    assert done.exit_code == 1
    assert "Nothing is left." not in done.stdout
    assert "Left: PostgreSQL's write-ahead log" in done.stdout


def test_the_rights_can_be_granted(
    login: str, database: str, clock: ManualClock, embedder: Embedder, user: str
) -> None:
    name = login.split("//")[1].split(":", maxsplit=1)[0]
    with as_administrator(database) as connection:
        connection.execute(text(f"GRANT pg_checkpoint TO {name}"))
        for function in ("pg_switch_wal()", "pg_ls_waldir()"):
            connection.execute(text(f"GRANT EXECUTE ON FUNCTION {function} TO {name}"))
    with open_store(login, clock, embedder, user) as store:
        store.for_user(user).remember("The parrot is called Kakadoodle.")

        assert store.erase(user).left == ()


def test_a_replication_slot_that_keeps_the_log_is_named(
    database: str, clock: ManualClock, embedder: Embedder, user: str
) -> None:
    slot = f"standby_{secrets.token_hex(4)}"
    with (
        as_administrator(database) as connection,
        open_store(database, clock, embedder, user) as store,
    ):
        store.for_user(user).remember("The parrot is called Kakadoodle.")
        create = "SELECT pg_create_physical_replication_slot(:slot, true)"
        connection.execute(text(create), {"slot": slot})
        try:
            receipt = store.erase(user)
        finally:
            connection.execute(text("SELECT pg_drop_replication_slot(:slot)"), {"slot": slot})

    assert not receipt.clean
    assert any("replication slots" in why for why in receipt.left)
    assert any("keeps" in why for why in receipt.left)
    assert json.loads(receipt.to_json())["left"]
