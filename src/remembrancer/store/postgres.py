"""PostgreSQL with pgvector: many people in one database, kept apart by forced row security."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

import psycopg
from sqlalchemy import (
    URL,
    ColumnElement,
    Connection,
    Engine,
    Float,
    FromClause,
    Select,
    Table,
    Text,
    any_,
    bindparam,
    cast,
    create_engine,
    literal,
    literal_column,
    make_url,
    select,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY, JSONB, insert
from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg
from sqlalchemy.exc import ArgumentError, DBAPIError, IntegrityError, OperationalError
from sqlalchemy.pool import NullPool

from remembrancer.clock import Clock, SystemClock
from remembrancer.errors import InvalidSetting, StoreUnavailable, UnknownPerson
from remembrancer.store import dump, leases, pg_roles, pg_scrub, schema, system_tables, tables
from remembrancer.store.columns import vector_of
from remembrancer.store.contract import (
    Embedding,
    Erasure,
    Health,
    Hit,
    Lease,
    Reader,
    Row,
    Searched,
    Traces,
    Writer,
    frozen,
)
from remembrancer.store.indexes import Indexes
from remembrancer.store.team import SqlTeamDesk, SqlTeamReader
from remembrancer.store.team_contract import TeamDesk, TeamReader
from remembrancer.store.transaction import SqlTransaction
from remembrancer.types import Json, Key, Owner, Tenant

MOST_VECTORS = 250_000
"""How many vectors of one owner are held in memory; what comes after is left to the database."""

MANY = 50
"""From how many rows on they are stored as one parameter."""

BEYOND = 200
"""How many of those the database finds for a query."""

OPTIONS = (
    f"role={pg_roles.ROLE}",
    "citus.propagate_set_commands=local",
    # Of a newcomer the statistics expect one row, and a loop over all their rows times all of them.
    "enable_nestloop=off",
)

WALKING = (
    "hnsw.iterative_scan = strict_order",
    "hnsw.ef_search = 200",
    "hnsw.max_scan_tuples = 100000",
    "hnsw.scan_mem_multiplier = 8",
    "enable_nestloop = on",
)

ONE_MOMENT = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY"
"""Several statements see the same rows; otherwise each would see what was committed before it."""

INDEXED_MODEL, INDEXED_DIMENSIONS = "all-MiniLM-L6-v2/q8", 384


class PostgresStore:
    """Memories in a database that the application reaches as a role which owns nothing."""

    def __init__(
        self,
        url: str,
        *,
        admin_url: str | None = None,
        clock: Clock | None = None,
        pool_size: int = 10,
        most_vectors: int = MOST_VECTORS,
    ) -> None:
        self._url = _parsed(url)
        self._clock = clock or SystemClock()
        self._indexes = Indexes(most_vectors=most_vectors)
        self._entered: set[Tenant] = set()
        _migrate(_parsed(admin_url or url))
        self._engine = create_engine(
            self._url,
            hide_parameters=True,
            pool_size=pool_size,
            max_overflow=0,
            pool_timeout=60,
            pool_pre_ping=True,
            connect_args={
                "options": " ".join(f"-c {option}" for option in OPTIONS),
                # A plan made for everyone when a table was small would be kept for ever.
                "prepare_threshold": None,
            },
        )
        # Many rows in one statement: one by one, even in a pipeline, they take thrice as long.
        self._engine.dialect.use_insertmanyvalues_wo_returning = True

    @contextlib.contextmanager
    def reading(self, owner: Owner) -> Iterator[Reader]:
        with self._transaction(owner) as connection:
            yield PostgresTransaction(connection, owner.id, self._indexes)

    @contextlib.contextmanager
    def writing(self, owner: Owner, *, newcomer: bool = True) -> Iterator[Writer]:
        with self._transaction(owner) as connection:
            _lock(connection, owner, self._clock, newcomer=newcomer)
            yield PostgresTransaction(connection, owner.id, self._indexes)

    @contextlib.contextmanager
    def recalling(self, tenant: Tenant) -> Iterator[TeamReader]:
        with self._as(pg_roles.RECALL, tenant) as connection:
            connection.exec_driver_sql(ONE_MOMENT)
            yield SqlTeamReader(connection, tenant.id)

    @contextlib.contextmanager
    def reviewing(self, tenant: Tenant) -> Iterator[TeamDesk]:
        with self._changing(tenant) as connection:
            yield SqlTeamDesk(connection, tenant.id)

    def turn(self) -> contextlib.AbstractContextManager[object]:
        return contextlib.nullcontext()  # threads wait for the server, not for each other

    def owners(self) -> list[Owner]:
        with _reachable(), self._engine.begin() as connection:
            return system_tables.registered(connection)

    @contextlib.contextmanager
    def dump(self, owner: Owner) -> Iterator[Iterator[Row]]:
        with self._transaction(owner) as connection:
            connection.exec_driver_sql(ONE_MOMENT)
            yield dump.personal_rows(connection, owner)

    def load(self, owner: Owner, rows: Iterable[Row], *, replace: bool = False) -> None:
        with self._transaction(owner) as connection:
            _lock(connection, owner, self._clock)
            removed = dump.make_room(connection, owner, replace=replace)
            most = self._indexes.most_vectors
            dump.put_person(connection, owner, rows, most_vectors=most, removed=removed)

    def teams(self) -> list[Tenant]:
        with _reachable(), self._engine.begin() as connection:
            known = system_tables.entered(connection)
        return [one for one in known if self._knows_something(one)]

    @contextlib.contextmanager
    def dump_team(self, tenant: Tenant) -> Iterator[Iterator[Row]]:
        with self._as(pg_roles.DESK, tenant) as connection:
            connection.exec_driver_sql(ONE_MOMENT)
            yield dump.team_rows(connection, tenant)

    def load_team(self, tenant: Tenant, rows: Iterable[Row], *, replace: bool = False) -> int:
        with self._changing(tenant) as connection:
            return dump.put_team(connection, tenant, rows, replace=replace)

    @contextlib.contextmanager
    def dump_system(self) -> Iterator[Iterator[Row]]:
        with _reachable(), self._engine.begin() as connection:
            connection.exec_driver_sql(ONE_MOMENT)
            yield dump.system_rows(connection)

    def load_system(self, rows: Iterable[Row]) -> None:
        with _reachable(), self._engine.begin() as connection:
            dump.put_system(connection, rows)

    def setting(self, tenant: Tenant, key: str) -> Json:
        with _reachable(), self._engine.begin() as connection:
            return system_tables.setting(connection, tenant, key)

    def change_setting(self, tenant: Tenant, key: str, change: Callable[[Json], Json]) -> None:
        with _reachable(), self._engine.begin() as connection:
            system_tables.change_setting(connection, tenant, key, change, self._clock.now())

    def remove(self, owner: Owner) -> None:
        table = tables.owners
        held = select(table.c.owner_id).where(table.c.owner_id == owner.id).with_for_update()
        with self._transaction(owner) as connection:
            connection.execute(held)
            for table in reversed(tables.personal.sorted_tables):
                connection.execute(table.delete().where(table.c.owner_id == owner.id))
            system_tables.remove(connection, owner)
        self._indexes.drop(owner.id)

    def erasures(self) -> list[Erasure]:
        with _reachable(), self._engine.begin() as connection:
            return system_tables.erasures(connection)

    def keep_erasure(self, erasure: Erasure) -> None:
        with _reachable(), self._engine.begin() as connection:
            system_tables.keep_erasure(connection, erasure)

    def scrub(self) -> tuple[str, ...]:
        self.let_go()
        with _reachable(), self._engine.connect() as connection:
            return pg_scrub.rewrite(connection.execution_options(isolation_level="AUTOCOMMIT"))

    def search(self, owner: Owner | None, traces: Traces) -> list[Searched]:
        found = []
        if owner is not None:
            with self._transaction(owner) as connection:
                found.append(pg_scrub.search_rows(connection, owner))
        with _reachable(), self._engine.begin() as connection:
            return found + pg_scrub.search_files(connection, traces)

    def let_go(self) -> bool:
        held = self._indexes.owners()
        if not held:
            return False
        table = tables.users
        with _reachable(), self._engine.begin() as connection:
            query = select(table.c.owner_id).where(table.c.owner_id.in_(held))
            gone = held.difference(connection.execute(query).scalars())
        for owner_id in gone:
            self._indexes.drop(owner_id)
        return bool(gone)

    def add_key(self, key: Key, digest: str) -> None:
        with _reachable(), self._engine.begin() as connection:
            system_tables.add_key(connection, key, digest, self._clock.now())

    def key(self, digest: str) -> Key | None:
        with _reachable(), self._engine.begin() as connection:
            return system_tables.key(connection, digest)

    def list_keys(self, owner: Owner | None = None) -> list[Key]:
        with _reachable(), self._engine.begin() as connection:
            return system_tables.keys(connection, owner)

    def drop_keys(self, before: datetime) -> int:
        with _reachable(), self._engine.begin() as connection:
            return system_tables.drop_keys(connection, before)

    def revoke_key(self, key_id: str, at: datetime) -> None:
        with _reachable(), self._engine.begin() as connection:
            system_tables.revoke_key(connection, key_id, at)

    def drop_key(self, key_id: str) -> bool:
        with _reachable(), self._engine.begin() as connection:
            return system_tables.drop_key(connection, key_id)

    def note_use(self, key_id: str, at: datetime) -> None:
        with _reachable(), self._engine.begin() as connection:
            system_tables.note_use(connection, key_id, at)

    def lease(self, job: str) -> Lease:
        with _reachable(), self._engine.begin() as connection:
            return leases.read(connection, job)

    def take(self, job: str, seen: Lease, holder: str, until: datetime) -> bool:
        try:
            with _reachable(), self._engine.begin() as connection:
                return leases.take(connection, job, seen, holder, until)
        except IntegrityError:  # another process made the row of this job at the same moment
            return False

    def finish(self, job: str, holder: str, at: datetime | None) -> None:
        with _reachable(), self._engine.begin() as connection:
            leases.finish(connection, job, holder, at)

    def tidy(self) -> int:
        """Nothing: the server looks after itself."""
        return 0

    def health(self) -> Health:
        with _reachable(), self._engine.begin() as connection:
            version = connection.execute(text("SHOW server_version")).scalar_one()
            vector = connection.execute(
                text("SELECT extversion FROM pg_extension WHERE extname = 'vector'")
            ).scalar_one()
            strong = connection.execute(
                text("SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = session_user")
            ).scalar_one()
        warnings = []
        if strong:
            warnings.append(
                "The database login may bypass row security. Every statement runs as "
                f"{pg_roles.ROLE}, which may not; a login that may not either is safer: "
                "set store.admin_url to this one and store.url to a plain member of that role."
            )
        place = self._url.render_as_string(hide_password=True)
        details = {"postgresql": version, "pgvector": vector}
        return Health("postgresql", place, details, tuple(warnings))

    def close(self) -> None:
        self._engine.dispose()

    @contextlib.contextmanager
    def _transaction(self, owner: Owner) -> Iterator[Connection]:
        with _reachable(), self._engine.begin() as connection:
            # The id is a hex digest, never text from outside: SET takes no bound parameter.
            connection.exec_driver_sql(f"SET LOCAL app.owner_id = '{owner.id}'")
            yield connection

    @contextlib.contextmanager
    def _as(self, role: str, tenant: Tenant) -> Iterator[Connection]:
        """A transaction in a role that can do nothing but its work, for one tenant."""
        with _reachable(), self._engine.begin() as connection:
            connection.exec_driver_sql(f"SET LOCAL ROLE {role}")
            connection.exec_driver_sql(f"SET LOCAL app.tenant_id = '{tenant.id}'")
            yield connection

    @contextlib.contextmanager
    def _changing(self, tenant: Tenant) -> Iterator[Connection]:
        """The only writer of a team, who holds its row; the tenant is entered by name before."""
        if tenant not in self._entered:
            with _reachable(), self._engine.begin() as connection:
                system_tables.enter(connection, tenant, self._clock.now())
            self._entered.add(tenant)
        with self._as(pg_roles.DESK, tenant) as connection:
            row = {"tenant_id": tenant.id, "version": 0}
            connection.execute(insert(tables.teams).values(row).on_conflict_do_nothing())
            own = select(tables.teams).where(tables.teams.c.tenant_id == tenant.id)
            connection.execute(own.with_for_update())
            yield connection

    def _knows_something(self, tenant: Tenant) -> bool:
        with self._as(pg_roles.DESK, tenant) as connection:
            return dump.team_facts(connection, tenant) > 0


class PostgresTransaction(SqlTransaction):
    """The vectors that would be too many for memory are found through an index of the database."""

    dialect = PGDialect_psycopg()  # type: ignore[no-untyped-call]

    def beyond(self, query: Embedding) -> list[Hit]:
        vectors = tables.embeddings
        distance = _distance(query)
        statement = (
            select(vectors.c.memory_id, (1 - distance).label("similarity"))
            .where(self._own(vectors), _made_by(query.model), vectors.c.crowded)
            .order_by(distance)
            .limit(BEYOND)
        )
        for setting in WALKING:
            self._connection.exec_driver_sql(f"SET LOCAL {setting}")
        rows = self._connection.execute(statement).all()
        self._connection.exec_driver_sql("SET LOCAL enable_nestloop = off")
        return [Hit(row.memory_id, round(float(row.similarity), 6)) for row in rows]

    def _vectors(self, statement: Select[Any]) -> Iterator[Any]:
        """Rows that end in a vector, in binary: as text, reading takes ten times as long."""
        compiled = statement.compile(
            dialect=self._connection.dialect, compile_kwargs={"render_postcompile": True}
        )
        raw: Any = self._connection.connection.driver_connection
        with raw.cursor(binary=True) as cursor:
            cursor.execute(str(compiled), compiled.params)
            while rows := cursor.fetchmany(500):
                yield from ((*row, vector_of(packed)) for *row, packed in rows)

    def _fill(self, table: Table, rows: Sequence[Mapping[str, object]]) -> None:
        """As one parameter: a statement with thousands of them takes longer to send than to do."""
        if len(rows) < MANY:
            super()._fill(table, rows)
            return
        names = [column.name for column in table.columns if column.name != "owner_id"]
        types = [f"{name} {table.c[name].type.compile(self.dialect)}" for name in names]
        given = [frozen(row) for row in rows]
        self._connection.execute(
            text(
                f"INSERT INTO {table.name} (owner_id, {', '.join(names)}) "
                f"SELECT :owner, {', '.join(names)} "
                f"FROM jsonb_to_recordset(CAST(:rows AS jsonb)) AS given({', '.join(types)})"
            ).bindparams(bindparam("owner", self._owner_id), bindparam("rows", given, JSONB)),
        )

    @staticmethod
    def is_named(table: FromClause) -> ColumnElement[bool]:
        return table.c.id == any_(bindparam("ids", [], ARRAY(Text)))

    @staticmethod
    def has_tag(table: FromClause, tag: str) -> ColumnElement[bool]:
        return cast(table.c.tags, JSONB).contains([tag])


def _distance(query: Embedding) -> ColumnElement[float]:
    """Cosine distance as the index has it, where the model is the one that is indexed."""
    column = tables.embeddings.c.vector
    # Bound with its own type: a cast from text would be parsed again for every row.
    vector = literal(query.vector, column.type)
    if query.model != INDEXED_MODEL:
        return column.op("<=>", return_type=Float())(vector)
    indexed: ColumnElement[Any] = literal_column(
        f"(embeddings.vector::vector({INDEXED_DIMENSIONS}))"
    )
    return indexed.op("<=>", return_type=Float())(vector)


def _made_by(model: str) -> ColumnElement[bool]:
    """The model as a constant where its vectors are indexed: the index is a partial one."""
    column = tables.embeddings.c.model
    return column == (literal_column(f"'{model}'") if model == INDEXED_MODEL else model)


def _lock(connection: Connection, owner: Owner, clock: Clock, *, newcomer: bool = True) -> None:
    """Make the owner's row if it is missing and hold it, so that writers take turns."""
    table = tables.owners
    held = select(table.c.owner_id).where(table.c.owner_id == owner.id).with_for_update()
    if connection.execute(held).first() is None:
        if not newcomer:
            raise UnknownPerson(f"{owner.user} of {owner.tenant} has no memory here.")
        system_tables.register(connection, owner, clock.now())
        row = system_tables.owner_row(owner, clock.now())
        connection.execute(insert(table).values(row).on_conflict_do_nothing())
        connection.execute(held)


def _migrate(admin_url: URL) -> None:
    """Bring the schema up to date as its owner; several processes may try at once."""
    engine = create_engine(admin_url, poolclass=NullPool)
    try:
        with _reachable():
            with engine.begin() as connection:
                if schema.revision(connection) == schema.HEAD:
                    return
            _prepare(engine)
            with engine.begin() as connection:
                connection.exec_driver_sql("LOCK TABLE migration_lock IN ACCESS EXCLUSIVE MODE")
                schema.ensure_current(connection, *schema.FAMILIES)
    finally:
        engine.dispose()


def _prepare(engine: Engine) -> None:
    """What must exist before the lock: IF NOT EXISTS may still fail when two do it at once."""
    for statement in (
        "CREATE EXTENSION IF NOT EXISTS vector",
        "CREATE TABLE IF NOT EXISTS migration_lock (held boolean)",
    ):
        for attempt in range(5):
            try:
                with engine.begin() as connection:
                    connection.exec_driver_sql(statement)
                break
            except DBAPIError as error:
                if getattr(error.orig, "sqlstate", None) not in ("23505", "42P07", "42710"):
                    raise
                if attempt == 4:
                    raise
    with engine.begin() as connection:
        pg_roles.create_role(connection.exec_driver_sql)


def _parsed(url: str) -> URL:
    try:
        return make_url(url).set(drivername="postgresql+psycopg")
    except (ArgumentError, ValueError) as error:
        raise InvalidSetting(
            "store.url is not a database address: use postgresql://user:password@host/database."
        ) from error


@contextlib.contextmanager
def _reachable() -> Iterator[None]:
    """Say in our words that the server cannot be reached; its own may hold the address."""
    try:
        yield
    except (OperationalError, psycopg.OperationalError) as error:
        # Without a state the connection failed; 08 is its loss, 57P a shutdown, 53 no more room.
        state = getattr(getattr(error, "orig", error), "sqlstate", None) or "08"
        if not state.startswith(("08", "57P", "53")):
            raise
        raise StoreUnavailable(
            "The PostgreSQL server does not answer; check store.url and that it is running."
        ) from error
