"""A6: a personal memory is readable by its owner alone, and the database itself sees to that."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, Engine, create_engine, text, true
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import NullPool

from remembrancer.engine import Remembrancer
from remembrancer.errors import NotFound
from remembrancer.memory import Memory
from remembrancer.store import pg_roles, tables
from remembrancer.store.transaction import SqlTransaction
from remembrancer.types import Owner

pytestmark = pytest.mark.feature("A6")

ON_SQLITE = pytest.mark.parametrize("place", ["sqlite"], indirect=True)
ON_POSTGRES = pytest.mark.parametrize("place", ["postgres"], indirect=True)
ADAS = "Ada keeps her savings in a blue biscuit tin."


@pytest.fixture
def bob(store: Remembrancer) -> Memory:
    return store.for_user("bob")


def fill(me: Memory) -> str:
    """A row in every table that a person's own verbs can fill; returns one memory's id."""
    tin = me.remember(ADAS)
    me.remember("Shake the tin before you open it.", kind="rule")
    me.remember("Ada counted the tin's content.", kind="episode")
    other = me.remember("Ada buys biscuits on Fridays.")
    me.link(tin.memory.id, other.memory.id, "supports")
    me.update(other.memory.id, "Ada buys biscuits on Saturdays.")
    return tin.memory.id


@pytest.mark.parametrize(
    "attempt",
    [
        lambda bob, tin: bob.get(tin),
        lambda bob, tin: bob.update(tin, "Bob was here."),
        lambda bob, tin: bob.forget(tin),
        lambda bob, tin: bob.forget("biscuit tin"),
        lambda bob, tin: bob.delete(tin),
        lambda bob, tin: bob.restore(tin),
        lambda bob, tin: bob.confirm(tin),
        lambda bob, tin: bob.history(tin),
        lambda bob, tin: bob.link(tin, tin),
        lambda bob, tin: bob.undo(),
    ],
    ids=[
        "get",
        "update",
        "forget",
        "words",
        "delete",
        "restore",
        "confirm",
        "past",
        "link",
        "undo",
    ],
)
def test_A6_to_everyone_else_a_memory_does_not_exist(
    attempt: Callable[[Memory, str], Any], me: Memory, bob: Memory
) -> None:
    tin = fill(me)

    with pytest.raises(NotFound):
        attempt(bob, tin)

    assert me.get(tin).content == ADAS


def test_A6_another_persons_event_cannot_be_undone(me: Memory, bob: Memory) -> None:
    event = me.remember(ADAS).event
    assert event is not None

    with pytest.raises(NotFound):
        bob.undo(event.id)

    assert [one.content for one in me.list().items] == [ADAS]


def test_A6_searches_lists_and_counts_of_others_show_nothing(me: Memory, bob: Memory) -> None:
    fill(me)

    assert bob.recall("where does Ada keep her savings?") == []
    assert bob.recall("savings biscuit tin", mode="keyword") == []
    assert bob.list().items == ()
    assert bob.stats().by_kind == {}
    assert bob.stats().events == 0


def test_A6_the_same_name_in_another_tenant_is_another_person(
    store: Remembrancer, tenant: str, me: Memory
) -> None:
    fill(me)

    namesake = store.for_user("ada", tenant=f"{tenant}-other")

    assert namesake.list().items == ()


# PostgreSQL: what the database gives to the application's role.


@pytest.fixture
def application(place: str) -> Iterator[Engine]:
    """The database as the application reaches it, without the application."""
    engine = create_engine(
        place.replace("postgresql://", "postgresql+psycopg://"),
        poolclass=NullPool,
        connect_args={"options": f"-c role={pg_roles.APP_ROLE}"},
    )
    yield engine
    engine.dispose()


PERSONAL = sorted(tables.personal.tables)
SET = "SET LOCAL app.owner_id = '{}'"


def counts(connection: Connection) -> dict[str, int]:
    """How many rows each personal table shows when nobody filters."""
    return {
        table: connection.execute(text(f"SELECT count(*) FROM {table}")).scalar_one()
        for table in PERSONAL
    }


@ON_POSTGRES
def test_A6_without_an_owner_the_database_shows_no_row_of_any_table(
    application: Engine, me: Memory
) -> None:
    fill(me)

    with application.begin() as connection:
        assert not any(counts(connection).values())


@ON_POSTGRES
def test_A6_with_an_empty_owner_the_database_shows_no_row(application: Engine, me: Memory) -> None:
    fill(me)

    with application.begin() as connection:
        connection.exec_driver_sql(SET.format(""))
        assert not any(counts(connection).values())


@ON_POSTGRES
def test_A6_after_a_transaction_ends_the_connection_has_forgotten_its_owner(
    application: Engine, me: Memory
) -> None:
    fill(me)

    with application.connect() as connection:
        with connection.begin():
            connection.exec_driver_sql(SET.format(me.principal.owner.id))
            assert counts(connection)["facts"] == 3
        with connection.begin():
            assert not any(counts(connection).values())


@ON_POSTGRES
def test_A6_with_another_owner_set_the_database_shows_only_their_rows(
    application: Engine, me: Memory, bob: Memory
) -> None:
    fill(me)
    bob.remember("Bob likes chess.")

    with application.begin() as connection:
        connection.exec_driver_sql(SET.format(bob.principal.owner.id))
        seen = connection.execute(text("SELECT content FROM facts")).scalars().all()
        owners = {
            owner
            for table in PERSONAL
            for owner in connection.execute(text(f"SELECT owner_id FROM {table}")).scalars()
        }
    assert seen == ["Bob likes chess."]
    assert owners == {bob.principal.owner.id}


@ON_POSTGRES
@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE facts SET content = 'changed' WHERE owner_id = '{ada}'",
        "DELETE FROM embeddings WHERE owner_id = '{ada}'",
        "DELETE FROM links",
        "UPDATE events SET note = 'changed'",
    ],
)
def test_A6_what_cannot_be_seen_cannot_be_changed(
    statement: str, application: Engine, me: Memory, bob: Memory
) -> None:
    fill(me)

    with application.begin() as connection:
        connection.exec_driver_sql(SET.format(bob.principal.owner.id))
        touched = connection.execute(text(statement.format(ada=me.principal.owner.id))).rowcount

    assert touched == 0


@ON_POSTGRES
def test_A6_nobody_can_write_into_another_persons_memory(
    application: Engine, me: Memory, bob: Memory
) -> None:
    fill(me)
    ada = me.principal.owner.id
    forged = text(
        "INSERT INTO documents (owner_id, id, number, kind, codes, marks) "
        f"VALUES ('{ada}', 'fact_forged', 9, 'fact', '', 0)"
    )

    with application.connect() as connection:
        connection.exec_driver_sql(SET.format(bob.principal.owner.id))
        with pytest.raises(DBAPIError, match="row-level security"):
            connection.execute(forged)


@ON_POSTGRES
def test_A6_row_security_is_forced_on_every_table_and_the_role_cannot_escape_it(
    application: Engine, superuser: Engine, me: Memory
) -> None:
    with superuser.connect() as connection:
        unforced = connection.execute(
            text(
                "SELECT relname FROM pg_class WHERE relkind IN ('r', 'p') "
                "AND relname = ANY(:names) AND NOT (relrowsecurity AND relforcerowsecurity)"
            ),
            {"names": [*PERSONAL, *tables.team.tables]},
        ).scalars()
        assert unforced.all() == []
        owned = connection.execute(
            text(f"SELECT count(*) FROM pg_class WHERE relowner = '{pg_roles.APP_ROLE}'::regrole")
        ).scalar_one()
        strong = connection.execute(
            text(
                "SELECT rolsuper OR rolbypassrls FROM pg_roles "
                f"WHERE rolname = '{pg_roles.APP_ROLE}'"
            )
        ).scalar_one()
    assert (owned, strong) == (0, False)
    with application.connect() as connection:
        with pytest.raises(DBAPIError, match="must be owner"):
            connection.execute(text("ALTER TABLE facts NO FORCE ROW LEVEL SECURITY"))


@ON_POSTGRES
def test_A6_an_application_that_forgot_its_filter_still_shows_only_ones_own(
    application: Engine, me: Memory, bob: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    tin = fill(me)
    bob.remember("Bob likes chess.")

    monkeypatch.setattr(SqlTransaction, "_own", lambda self, table: true())

    assert [one.content for one in bob.list().items] == ["Bob likes chess."]
    assert [one.memory.content for one in bob.recall("biscuit tin", mode="semantic")] == [
        "Bob likes chess."
    ]
    with pytest.raises(NotFound):
        bob.get(tin)


# SQLite: one file per person.


class Opened:
    """The files opened while it is watching; an audit hook stays for good, so one serves all."""

    def __init__(self) -> None:
        self.watching = False
        self.paths: list[str] = []
        sys.addaudithook(self._hear)

    def _hear(self, event: str, args: tuple[Any, ...]) -> None:
        if self.watching and event in ("open", "sqlite3.connect"):
            self.paths.append(str(args[0]))


_opened = Opened()


@pytest.fixture
def opened() -> Iterator[Opened]:
    _opened.paths.clear()
    _opened.watching = True
    yield _opened
    _opened.watching = False


def file_of(place: str, owner: Owner) -> Path:
    return Path(place) / "people" / f"{owner.id}.db"


@ON_SQLITE
def test_A6_what_one_person_does_never_opens_another_persons_file(
    open_memory: Callable[..., Remembrancer], place: str, tenant: str, opened: Opened
) -> None:
    adas = file_of(place, Owner(tenant, "ada"))
    bobs = file_of(place, Owner(tenant, "bob"))
    with open_memory() as first:
        fill(first.for_user("ada"))
    opened.paths.clear()

    bob = open_memory().for_user("bob")
    fill(bob)
    bob.recall("where are the savings?")
    bob.list()
    bob.stats()
    bob.undo()

    assert [path for path in opened.paths if str(bobs) in path]
    assert not [path for path in opened.paths if adas.name in path]


@ON_SQLITE
def test_A6_the_files_are_readable_by_their_owner_alone_and_show_no_name(
    store: Remembrancer, place: str
) -> None:
    ada = store.for_user("ada-lovelace")
    ada.remember(ADAS)

    file = file_of(place, ada.principal.owner)
    assert file.stat().st_mode & 0o077 == 0
    assert file.parent.stat().st_mode & 0o077 == 0
    assert not [path for path in Path(place).rglob("*") if "lovelace" in path.name]


@ON_SQLITE
def test_A6_one_persons_file_holds_nothing_of_anothers(
    store: Remembrancer, place: str, me: Memory, bob: Memory
) -> None:
    me.remember(ADAS)
    bob.remember("Bob likes chess.")
    bobs = file_of(place, bob.principal.owner)

    held = b"".join(path.read_bytes() for path in bobs.parent.glob(f"{bobs.name}*"))
    assert b"chess" in held
    assert b"biscuit" not in held
