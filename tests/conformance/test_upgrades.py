"""Upgrades that are interrupted, and stores of a newer version: nothing is lost or changed.

`REM_LONG=1` interrupts the upgrade at every statement instead of at a few.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import secrets
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, create_engine, event, text
from sqlalchemy.pool import NullPool

import remembrancer
from remembrancer.config import Settings
from remembrancer.errors import RemembrancerError, SchemaTooNew, StoreUnavailable
from remembrancer.store import schema
from tests.conformance import samples
from tests.conformance.test_migrations import REVISIONS, assert_sample_is_whole, plain
from tests.support import processes
from tests.support.http_server import served
from tests.support.opening import ENGINES
from tests.support.processes import forked

LONG = bool(os.environ.get("REM_LONG"))
INTERRUPTED = REVISIONS[1:] if LONG else ["0003"]
CHANGES = ("ALTER", "CREATE", "UPDATE", "INSERT", "DROP")
FINISHED = 100
"""The exit code of a process that was not killed."""

TO_DISCONNECT = "SELECT pg_terminate_backend(pg_backend_pid())"
NEWER = "9999"


@pytest.fixture(params=ENGINES)
def empty_place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A directory or a database of this test's own, with nothing in it."""
    if request.param == "sqlite":
        return str(tmp_path / "memory")
    server: Callable[[str], str] = request.getfixturevalue("postgres_server")
    return server(f"upgraded_{secrets.token_hex(6)}")


def build(place: str, revision: str) -> None:
    if place.startswith("postgresql"):
        samples.build_postgres(plain(place), revision)
    else:
        samples.build_sqlite(Path(place), revision)


def open_and_read(place: str) -> None:
    with remembrancer.open(place, settings=Settings(user="ada")) as store:
        store.for_user("ada").list()


def open_until(place: str, number: int, interrupt: Callable[[Any], object]) -> None:
    """Open the store, and interrupt the upgrade before a statement that changes something."""
    seen = itertools.count(1)

    def count(_: Any, cursor: Any, statement: str, *__: object) -> None:
        if statement.lstrip().startswith(CHANGES) and next(seen) == number:
            interrupt(cursor)

    event.listen(Engine, "before_cursor_execute", count)
    try:
        open_and_read(place)
    finally:
        event.remove(Engine, "before_cursor_execute", count)


def open_and_be_killed(place: str, number: int) -> None:
    open_until(place, number, lambda _: os.kill(os.getpid(), signal.SIGKILL))
    os._exit(FINISHED)


def lose_connection(place: str, number: int) -> None:
    open_until(place, number, lambda cursor: cursor.connection.execute(TO_DISCONNECT))


@pytest.mark.parametrize("revision", INTERRUPTED)
def test_an_upgrade_that_is_killed_is_finished_by_the_next_start(
    empty_place: str, revision: str
) -> None:
    build(empty_place, revision)
    for number in itertools.count(1) if LONG else (2, 30):
        exit_code = run_interrupted(empty_place, number)
        assert read_revisions(empty_place) <= {revision, schema.HEAD}
        if exit_code == FINISHED:
            break
        assert exit_code == -signal.SIGKILL
    assert number > 2

    with remembrancer.open(empty_place, settings=Settings(user="ada")) as store:
        assert_sample_is_whole(store, revision)


@pytest.mark.parametrize("number", range(1, 60, 3) if LONG else (3, 30))
def test_an_upgrade_that_loses_the_connection_is_finished_by_the_next_start(
    postgres_server: Callable[[str], str], number: int
) -> None:
    place = postgres_server(f"upgraded_{secrets.token_hex(6)}")
    build(place, "0002")
    with pytest.raises(StoreUnavailable):
        lose_connection(place, number)
    assert read_revisions(place) == {"0002"}

    with remembrancer.open(place, settings=Settings(user="ada")) as store:
        assert_sample_is_whole(store, "0002")


def run_interrupted(place: str, number: int) -> int:
    child = forked.Process(target=open_and_be_killed, args=(place, number))
    child.start()
    child.join(120)
    assert child.exitcode is not None
    return child.exitcode


def read_revisions(place: str) -> set[str]:
    """The revision of each database of a store."""
    found = set()
    for address in addresses(place):
        engine = create_engine(address, poolclass=NullPool)
        with engine.connect() as connection:
            found.add(str(schema.read_revision(connection)))
    return found


def addresses(place: str) -> list[str]:
    if place.startswith("postgresql"):
        return [plain(place)]
    return [f"sqlite:///{path}" for path in Path(place).rglob("*.db")]


def test_a_store_of_a_newer_version_is_refused_on_every_surface_and_not_changed(
    empty_place: str, tmp_path: Path
) -> None:
    open_and_read(empty_place)
    with remembrancer.open(empty_place, settings=Settings(user="ada")) as store:
        store.for_user("ada").remember("Ada lives in Bern.")
    for address in addresses(empty_place):
        with create_engine(address, poolclass=NullPool).begin() as connection:
            connection.execute(text(f"UPDATE alembic_version SET version_num = '{NEWER}'"))
            connection.exec_driver_sql("CREATE TABLE of_the_future (id text)")
    before = fingerprint(empty_place)

    with pytest.raises(SchemaTooNew) as refused:
        open_and_read(empty_place)
    assert_says_what_to_do(str(refused.value))
    for verb in ("list", "doctor"):
        args = (verb, "--store", empty_place, "--user", "ada")
        done = processes.rem(*args, env=os.environ, cwd=tmp_path)
        assert done.returncode != 0
        assert_says_what_to_do(" ".join((done.stdout + done.stderr).split()))
    assert_server_is_not_ready(empty_place)

    assert fingerprint(empty_place) == before
    assert read_revisions(empty_place) == {NEWER}


def assert_says_what_to_do(message: str) -> None:
    assert f"has schema revision {NEWER}" in message
    assert "Nothing was changed. Install that version again" in message


def assert_server_is_not_ready(place: str) -> None:
    try:
        with remembrancer.open(place) as store, served(store) as server:
            answer = server.client().get("/readyz")
            assert answer.status_code >= 500
            assert_says_what_to_do(json.dumps(answer.json()))
    except RemembrancerError as error:  # on PostgreSQL it does not even start
        assert_says_what_to_do(str(error))


def fingerprint(place: str) -> str:
    """The content of a store: its files, or the tables of its database."""
    if not place.startswith("postgresql"):
        read = (path.read_bytes() for path in sorted(Path(place).rglob("*.db")))
        return hashlib.sha256(b"".join(read)).hexdigest()
    with create_engine(plain(place), poolclass=NullPool).connect() as connection:
        query = "SELECT relname, relkind, reltuples, relfilenode FROM pg_class ORDER BY relname"
        return str(connection.execute(text(query.replace(", reltuples", ""))).all())
