"""The schema: what migrations build is what the code describes, from every revision on."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import MetaData, create_engine, text
from sqlalchemy.pool import NullPool

import remembrancer
from remembrancer.config import Settings
from remembrancer.errors import SchemaTooNew
from remembrancer.store import pg_roles, schema, tables
from remembrancer.types import Status
from tests.conformance import samples
from tests.support.processes import forked

REVISIONS = [one.revision for one in ScriptDirectory(str(schema.MIGRATIONS)).walk_revisions()]


@pytest.fixture
def database(request: pytest.FixtureRequest) -> str:
    """The address of an empty PostgreSQL database of this test's own."""
    server: Callable[[str], str] = request.getfixturevalue("postgres_server")
    return server(f"fresh_{secrets.token_hex(6)}")


def test_the_newest_revision_is_the_one_the_code_expects() -> None:
    assert ScriptDirectory(str(schema.MIGRATIONS)).get_heads() == [schema.HEAD]


@pytest.mark.parametrize("family", tables.FAMILIES)
def test_on_sqlite_migrations_build_what_the_tables_say(tmp_path: Path, family: str) -> None:
    with remembrancer.open(tmp_path) as store:
        store.for_user("ada").remember("x")
    engine = create_engine("sqlite://", poolclass=NullPool)
    if family == "team":
        connection = engine.connect()
        schema.ensure_current(connection, family)
    else:
        path = next(tmp_path.glob("people/*.db" if family == "personal" else "system.db"))
        connection = create_engine(f"sqlite:///{path}", poolclass=NullPool).connect()
    with connection:
        assert differences(connection, tables.FAMILIES[family]) == []


@pytest.mark.filterwarnings("ignore:Did not recognize type 'vector'")
def test_on_postgres_migrations_build_what_the_tables_say(database: str) -> None:
    remembrancer.open(database).close()
    engine = create_engine(plain(database), poolclass=NullPool)
    together = MetaData()
    for family in tables.FAMILIES.values():
        for table in family.tables.values():
            table.to_metadata(together)
    with engine.connect() as connection:
        assert differences(connection, together) == []


def differences(connection: object, described: MetaData) -> list[object]:
    """What autogeneration would change, but for what SQLAlchemy cannot describe."""
    context = MigrationContext.configure(
        connection,  # type: ignore[arg-type]
        opts={
            "include_object": lambda _, name, *__: (
                name not in ("migration_lock", "ix_embeddings_minilm")
            )
        },
    )
    return list(compare_metadata(context, described))


@pytest.mark.parametrize("revision", REVISIONS)
def test_a_populated_sqlite_store_of_each_revision_opens_with_everything_in_it(
    tmp_path: Path, revision: str
) -> None:
    samples.build_sqlite(tmp_path / "memory", revision)
    with remembrancer.open(tmp_path / "memory", settings=Settings(user="ada")) as store:
        assert_sample_is_whole(store, revision)
    (path,) = tmp_path.glob("memory/people/*.db")
    assert_numbers_are_dense(f"sqlite:///{path}")


@pytest.mark.parametrize("revision", REVISIONS)
def test_a_populated_postgres_database_of_each_revision_opens_with_everything_in_it(
    database: str, revision: str
) -> None:
    samples.build_postgres(plain(database), revision)
    with remembrancer.open(database, settings=Settings(user="ada")) as store:
        assert_sample_is_whole(store, revision)
    assert_numbers_are_dense(plain(database))


@pytest.mark.parametrize("revision", REVISIONS)
def test_whoever_owns_the_tables_can_migrate_though_row_security_binds_them(
    database: str, revision: str
) -> None:
    owner = f"owner_{secrets.token_hex(6)}"
    engine = create_engine(plain(database), poolclass=NullPool)
    with engine.begin() as connection:
        pg_roles.create_roles(connection.exec_driver_sql)
        connection.exec_driver_sql(f"CREATE ROLE {owner} LOGIN CREATEROLE")
        for role in pg_roles.ROLES:
            connection.exec_driver_sql(f"GRANT {role} TO {owner} WITH ADMIN OPTION")
        name = connection.execute(text("SELECT current_database()")).scalar_one()
        connection.exec_driver_sql(f"ALTER DATABASE {name} OWNER TO {owner}")
        connection.exec_driver_sql(f"GRANT ALL ON SCHEMA public TO {owner}")
    samples.build_postgres(plain(database), revision, owner)

    with remembrancer.open(
        database.replace("//postgres:@", f"//{owner}:@"), settings=Settings(user="ada")
    ) as store:
        assert_sample_is_whole(store, revision)
        assert store.health().warnings == ()

    assert_numbers_are_dense(plain(database))
    with engine.connect() as connection:
        unbound = text(
            "SELECT relname FROM pg_class WHERE relkind = 'r' AND relrowsecurity "
            "AND NOT relforcerowsecurity"
        )
        assert connection.execute(unbound).scalars().all() == []


def test_an_import_of_revision_0007_is_undone_and_redone_as_a_whole_on_sqlite(
    tmp_path: Path,
) -> None:
    samples.build_sqlite(tmp_path / "memory", "0007")
    (path,) = tmp_path.glob("memory/people/*.db")
    assert_old_import_is_undone_as_a_whole(str(tmp_path / "memory"), f"sqlite:///{path}")


def test_an_import_of_revision_0007_is_undone_and_redone_as_a_whole_on_postgres(
    database: str,
) -> None:
    samples.build_postgres(plain(database), "0007")
    assert_old_import_is_undone_as_a_whole(database, plain(database))


def assert_old_import_is_undone_as_a_whole(place: str, address: str) -> None:
    """The rule and the episode become two steps of an import, as 0007 would have noted them."""
    note = "2026-03-02T12:00:00+00:00 mem0: memories.json"
    engine = create_engine(address, poolclass=NullPool)
    with engine.begin() as connection:
        made_imported = text(
            "UPDATE events SET action = 'imported', note = :note WHERE id IN (SELECT event_id "
            "FROM changes WHERE memory_id LIKE 'rule%' OR memory_id LIKE 'episode%')"
        )
        assert connection.execute(made_imported, {"note": note}).rowcount == 2

    with remembrancer.open(place, settings=Settings(user="ada")) as store:
        me = store.for_user("ada")
        step = next(one for one in me.activity().items if one.note == note)
        undone = me.undo(step.id).event
        assert {one.kind for one in me.list().items} == {"fact"}

    with engine.begin() as connection:
        connection.exec_driver_sql("ALTER TABLE events DROP COLUMN batch_id")
        for table in ("team_activity", "team_states"):
            connection.exec_driver_sql(f"DROP TABLE IF EXISTS {table}")
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '0007'")
    with remembrancer.open(place, settings=Settings(user="ada")) as store:
        me = store.for_user("ada")
        me.undo(undone.id)
        assert {one.kind for one in me.list().items} == {"fact", "rule", "episode"}


def assert_sample_is_whole(store: remembrancer.Remembrancer, revision: str) -> None:
    """The sample: a corrected fact, a rule, an episode, a forgotten fact, and their events."""
    me = store.for_user("ada")
    corrected = me.recall("where does Ada work?", limit=1, minimum_confidence=0)[0].memory
    assert corrected.content == "Ada works on the dashboard."
    assert [one.status for one in me.history(corrected.id).versions] == [
        Status.SUPERSEDED,
        Status.ACTIVE,
    ]
    assert {one.kind for one in me.list().items} == {"fact", "rule", "episode"}
    assert me.restore("ramen").memory.status is Status.ACTIVE
    for content, words, sense in FOUND[revision]:
        by_words = me.recall(words, mode="keyword", minimum_confidence=0)
        assert [one.memory.content for one in by_words if one.why.bm25] == [content]
        by_sense = me.recall(sense, mode="semantic", minimum_confidence=0)
        assert by_sense[0].memory.content == content
    new = me.remember("Ada's bicycle is orange.").memory
    assert me.recall("bicycle", limit=1)[0].memory.id == new.id


SINCE_0001 = [
    # what is remembered, words of it, and its sense in other words
    ("Ada works on the dashboard.", "dashboard", "her job is a page full of charts"),
    ("Confirm before sending messages", "confirming", "ask first, then write to people"),
    ("Logged a weight of 75 kg", "weight", "how heavy was she?"),
    ("Had ramen for dinner", "ramen", "Japanese noodle soup in the evening"),
]
SINCE_0002 = [
    *SINCE_0001,
    ("My sister plays the cello.", "sister", "a sibling who makes music"),
]
FOUND = {"0001": SINCE_0001} | dict.fromkeys(
    ("0002", "0003", "0004", "0005", "0006", "0007", "0008", "0009", "0010"), SINCE_0002
)


def test_what_is_expected_of_each_revision_is_said() -> None:
    assert set(FOUND) == set(REVISIONS)


def assert_numbers_are_dense(address: str) -> None:
    """From 1 on without a gap, as far as the owner's counters go."""
    engine = create_engine(address, poolclass=NullPool)
    counted = {"documents": "documents_added", "embeddings": "vectors_added"}
    with engine.connect() as connection:
        for table, counter in counted.items():
            numbers = connection.execute(
                text(f"SELECT number FROM {table} WHERE owner_id = :owner ORDER BY number"),
                {"owner": samples.OWNER.id},
            ).scalars()
            total = connection.execute(
                text(f"SELECT {counter} FROM owners WHERE owner_id = :owner"),
                {"owner": samples.OWNER.id},
            ).scalar_one()
            assert list(numbers) == list(range(1, total + 1)), table


def test_a_store_from_the_future_is_left_alone(tmp_path: Path) -> None:
    with remembrancer.open(tmp_path) as store:
        store.for_user("ada").remember("x")
    for path in tmp_path.rglob("*.db"):
        engine = create_engine(f"sqlite:///{path}", poolclass=NullPool)
        with engine.begin() as connection:
            connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with remembrancer.open(tmp_path) as store:
        with pytest.raises(SchemaTooNew):
            store.for_user("ada").recall("x")
        with pytest.raises(SchemaTooNew):
            store.health()


def test_processes_that_start_at_once_migrate_once(request: pytest.FixtureRequest) -> None:
    places = [str(request.getfixturevalue("tmp_path") / "memory")]
    places.append(request.getfixturevalue("database"))
    for place in places:
        with forked.Pool(6) as pool:
            assert pool.map(first_start, [place] * 6) == ["fact"] * 6


def first_start(place: str) -> str:
    """What each process does: open, write, read."""
    with remembrancer.open(place) as store:
        return store.for_user("ada").remember("hello").memory.kind.value


def plain(address: str) -> str:
    """The address for SQLAlchemy."""
    return address.replace("postgresql://", "postgresql+psycopg://")
