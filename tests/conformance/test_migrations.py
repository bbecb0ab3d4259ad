"""The schema: what migrations build is what the code describes, from every revision on."""

from __future__ import annotations

import multiprocessing
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
from remembrancer.store import schema, tables
from remembrancer.types import Status
from tests.conformance import samples

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
            "include_object": lambda _, name, kind, *__: (
                not (
                    (kind == "table" and (name.startswith("search") or name == "migration_lock"))
                    or name in ("ix_documents_terms", "ix_embeddings_minilm")
                )
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
        assert_sample_is_whole(store)


@pytest.mark.parametrize("revision", REVISIONS)
def test_a_populated_postgres_database_of_each_revision_opens_with_everything_in_it(
    database: str, revision: str
) -> None:
    samples.build_postgres(plain(database), revision)
    with remembrancer.open(database, settings=Settings(user="ada")) as store:
        assert_sample_is_whole(store)


def assert_sample_is_whole(store: remembrancer.Remembrancer) -> None:
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
    spawn = multiprocessing.get_context("spawn")
    for place in places:
        with spawn.Pool(6) as pool:
            assert pool.map(first_start, [place] * 6) == ["fact"] * 6


def first_start(place: str) -> str:
    """What each process does: open, write, read."""
    with remembrancer.open(place) as store:
        return store.for_user("ada").remember("hello").memory.kind.value


def plain(address: str) -> str:
    """The address for SQLAlchemy."""
    return address.replace("postgresql://", "postgresql+psycopg://")
