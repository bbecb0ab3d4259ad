"""PostgreSQL engine with pgvector: all owners in one database, separated by forced row security."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

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
from sqlalchemy.dialects.postgresql import ARRAY, JSONB
from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg
from sqlalchemy.exc import ArgumentError, DBAPIError
from sqlalchemy.pool import NullPool

from remembrancer.clock import Clock, SystemClock
from remembrancer.errors import (
    InvalidSetting,
    OutcomeUnknown,
    StoreClosed,
    StoreReadOnly,
    StoreUnavailable,
    UnknownPerson,
)
from remembrancer.store import (
    dump,
    pg_faults,
    pg_roles,
    pg_scrub,
    pg_wal,
    schema,
    system_tables,
    tables,
)
from remembrancer.store.columns import unpack_vector
from remembrancer.store.contract import (
    DumpRow,
    Embedding,
    Health,
    Hit,
    Reader,
    ScanResult,
    TraceTerms,
    Writer,
    to_json,
)
from remembrancer.store.index_cache import IndexCache
from remembrancer.store.pg_vector_index import (
    MAX_VECTOR_DIMENSIONS,
    VectorIndexBuilder,
    column_expression,
    index_condition,
)
from remembrancer.store.system_tables import SystemTables
from remembrancer.store.team import SqlTeamReader, SqlTeamWriter
from remembrancer.store.team_contract import TeamReader, TeamWriter
from remembrancer.store.transaction import SqlTransaction
from remembrancer.types import Owner, Tenant

MAX_VECTORS_IN_MEMORY = 250_000
"""The number of an owner's vectors kept in memory; the database searches the rest."""

MIN_BULK_ROWS = 50
"""Rows are sent as one JSON parameter from this number on."""

MAX_OUTSIDE_HITS = 200
"""The number of hits that the database returns for vectors outside memory."""

CONNECTION_OPTIONS = (
    f"role={pg_roles.APP_ROLE}",
    "citus.propagate_set_commands=local",
    # Statistics expect one row of a new owner, and the planner would choose a quadratic loop.
    "enable_nestloop=off",
)

HNSW_SETTINGS = (
    "hnsw.iterative_scan = strict_order",
    "hnsw.ef_search = 200",
    "hnsw.max_scan_tuples = 100000",
    "hnsw.scan_mem_multiplier = 8",
    "enable_nestloop = on",
)

CPU_SLOTS = threading.BoundedSemaphore(2 * (os.cpu_count() or 1))
"""Twice as many as cores: a thread that holds a slot also waits for the server."""

CONNECT_TIMEOUT_SECONDS = 10
"""How long to wait for a connection, unless store.url has a connect_timeout."""

OUTCOME_TIMEOUT_SECONDS = 5.0
"""How long to ask whether a change was stored after its connection was lost."""

OUTCOME_LOCK_MS = 3000

SNAPSHOT_STATEMENT = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY"
"""Makes all statements of a transaction see the same rows."""

INDEXED_MODEL = "all-MiniLM-L6-v2/q8"
"""The bundled model, whose index is there from the start."""


class PostgresStore:
    """Memories in a database that the application uses as a role which owns nothing."""

    def __init__(
        self,
        url: str,
        *,
        admin_url: str | None = None,
        clock: Clock | None = None,
        pool_size: int = 10,
        max_vectors: int = MAX_VECTORS_IN_MEMORY,
    ) -> None:
        self._url = _parse_url(url)
        self._clock = clock or SystemClock()
        self._indexes = IndexCache(max_vectors=max_vectors)
        self._known_tenants: set[Tenant] = set()
        self._is_closed = False
        begin_write = partial(self._begin_unbound, writes=True)
        self.system = SystemTables(self._begin_unbound, begin_write, self._clock)
        self._admin_url = _parse_url(admin_url or url)
        _migrate(self._admin_url)
        self.vector_indexes = VectorIndexBuilder(self._admin_url)
        self._engine = create_engine(
            self._url,
            hide_parameters=True,
            pool_size=pool_size,
            max_overflow=0,
            pool_timeout=60,
            pool_pre_ping=True,
            connect_args={
                **_connect_timeout(self._url),
                "options": " ".join(f"-c {option}" for option in CONNECTION_OPTIONS),
                # A generic plan from when a table was small would be kept forever.
                "prepare_threshold": None,
            },
        )
        # One by one, even in a pipeline, inserts take three times as long.
        self._engine.dialect.use_insertmanyvalues_wo_returning = True

    @contextlib.contextmanager
    def open_reader(self, owner: Owner) -> Iterator[Reader]:
        with self._begin(owner) as connection:
            yield self._build_transaction(connection, owner)

    @contextlib.contextmanager
    def open_writer(
        self, owner: Owner, *, create: bool = True, alone: bool = False, durable: bool = True
    ) -> Iterator[Writer]:
        transaction: PostgresTransaction | None = None
        try:
            with self._begin(owner, writes=True) as connection:
                _lock_owner(connection, owner, self._clock, create=create)
                transaction = self._build_transaction(connection, owner)
                yield transaction
        except OutcomeUnknown:
            event_id = transaction.last_event_id if transaction is not None else None
            if event_id is None:
                raise
            if not self._has_event(owner, event_id):
                raise StoreUnavailable(pg_faults.LOST) from None

    def _has_event(self, owner: Owner, event_id: str) -> bool:
        """True if the change with this event was stored by a connection that was lost."""
        until = time.monotonic() + OUTCOME_TIMEOUT_SECONDS
        table = tables.events
        query = select(table.c.id).where(table.c.owner_id == owner.id, table.c.id == event_id)
        while True:
            try:
                with self._begin(owner) as connection:
                    # The lock is free when the lost transaction has ended.
                    connection.exec_driver_sql(f"SET LOCAL lock_timeout = {OUTCOME_LOCK_MS}")
                    _lock_owner(connection, owner, self._clock)
                    return connection.execute(query).first() is not None
            except StoreUnavailable as error:
                if time.monotonic() > until:
                    raise pg_faults.outcome_unknown_error() from error
            time.sleep(0.1)

    def _build_transaction(self, connection: Connection, owner: Owner) -> PostgresTransaction:
        transaction = PostgresTransaction(connection, owner.id, self._indexes)
        transaction.vector_indexes = self.vector_indexes
        return transaction

    @contextlib.contextmanager
    def open_team_reader(self, tenant: Tenant) -> Iterator[TeamReader]:
        with self._begin_as(pg_roles.TEAM_RECALL_ROLE, tenant) as connection:
            connection.exec_driver_sql(SNAPSHOT_STATEMENT)
            yield SqlTeamReader(connection, tenant.id)

    @contextlib.contextmanager
    def open_team_writer(self, tenant: Tenant, *, durable: bool = True) -> Iterator[TeamWriter]:
        with self._begin_team_write(tenant) as connection:
            yield SqlTeamWriter(connection, tenant.id)

    def cpu_slot(self) -> contextlib.AbstractContextManager[object]:
        return CPU_SLOTS

    @contextlib.contextmanager
    def dump(self, owner: Owner) -> Iterator[Iterator[DumpRow]]:
        with self._begin(owner) as connection:
            connection.exec_driver_sql(SNAPSHOT_STATEMENT)
            yield dump.personal_rows(connection, owner)

    def load(self, owner: Owner, rows: Iterable[DumpRow], *, replace: bool = False) -> None:
        with self._begin(owner, writes=True) as connection:
            _lock_owner(connection, owner, self._clock, is_restored=True)
            removed = dump.clear_person(connection, owner, replace=replace)
            most = self._indexes.max_vectors
            dump.load_person(connection, owner, rows, max_vectors=most, removed=removed)

    def list_teams(self) -> list[Tenant]:
        return [one for one in self.system.list_tenants() if self._has_team_facts(one)]

    @contextlib.contextmanager
    def dump_team(self, tenant: Tenant) -> Iterator[Iterator[DumpRow]]:
        with self._begin_as(pg_roles.TEAM_WRITER_ROLE, tenant) as connection:
            connection.exec_driver_sql(SNAPSHOT_STATEMENT)
            yield dump.team_rows(connection, tenant)

    def load_team(self, tenant: Tenant, rows: Iterable[DumpRow], *, replace: bool = False) -> int:
        with self._begin_team_write(tenant) as connection:
            return dump.load_team(connection, tenant, rows, replace=replace)

    @contextlib.contextmanager
    def dump_system(self) -> Iterator[Iterator[DumpRow]]:
        with self._begin_unbound() as connection:
            connection.exec_driver_sql(SNAPSHOT_STATEMENT)
            yield dump.system_rows(connection)

    def load_system(self, rows: Iterable[DumpRow]) -> None:
        with self._begin_unbound(writes=True) as connection:
            dump.load_system(connection, rows)

    def delete_owner(self, owner: Owner, *, keep_account: bool = False) -> None:
        table = tables.owners
        lock = select(table.c.owner_id).where(table.c.owner_id == owner.id).with_for_update()
        with self._begin(owner, writes=True) as connection:
            connection.execute(lock)
            for table in reversed(tables.personal.sorted_tables):
                connection.execute(table.delete().where(table.c.owner_id == owner.id))
            if not keep_account:
                system_tables.delete_owner_rows(connection, owner)
        self._indexes.drop(owner.id)

    def scrub(self, owners: Sequence[Owner] = ()) -> tuple[str, ...]:
        self.evict_erased()
        with pg_faults.translate_errors(), self._engine.connect() as connection:
            connection.execution_options(isolation_level="AUTOCOMMIT")
            left = pg_scrub.rewrite_tables(connection)
        with self._begin_admin() as connection:
            return (*left, *pg_wal.overwrite_log(connection))

    def scrub_deleted(self) -> tuple[str, ...]:
        with self._begin_unbound() as connection:
            size = pg_scrub.measure_tables(connection)
        return (pg_scrub.TOO_LARGE,) if size > pg_scrub.MAX_REWRITTEN_BYTES else self.scrub()

    @contextlib.contextmanager
    def _begin_admin(self) -> Iterator[Connection]:
        """A connection of its own as the login that owns the schema, in autocommit mode."""
        engine = create_engine(
            self._admin_url, hide_parameters=True, poolclass=NullPool, isolation_level="AUTOCOMMIT"
        )
        try:
            with pg_faults.translate_errors(), engine.connect() as connection:
                yield connection
        finally:
            engine.dispose()

    def scan_traces(self, owner: Owner | None, traces: TraceTerms) -> list[ScanResult]:
        found = []
        if owner is not None:
            with self._begin(owner) as connection:
                found.append(pg_scrub.scan_rows(connection, owner))
        with self._begin_admin() as connection:
            return found + pg_scrub.scan_server_files(connection, traces)

    def evict_erased(self) -> bool:
        cached = self._indexes.list_owner_ids()
        if not cached:
            return False
        table = tables.users
        with self._begin_unbound() as connection:
            query = select(table.c.owner_id).where(table.c.owner_id.in_(cached))
            gone = cached.difference(connection.execute(query).scalars())
        for owner_id in gone:
            self._indexes.drop(owner_id)
        return bool(gone)

    def tidy(self) -> int:
        """Does nothing; autovacuum does the housekeeping."""
        return 0

    def check_health(self) -> Health:
        with self._begin_unbound() as connection:
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
                "The database login can bypass row security. Every statement runs as "
                f"{pg_roles.APP_ROLE}, which cannot. For more safety, "
                "set store.admin_url to this one and store.url to a plain member of that role."
            )
        place = self._url.render_as_string(hide_password=True)
        details = {"postgresql": version, "pgvector": vector}
        return Health("postgresql", place, details, tuple(warnings))

    def check_writable(self) -> None:
        query = "SELECT pg_is_in_recovery() OR current_setting('transaction_read_only')::boolean"
        with self._begin_unbound() as connection:
            if connection.execute(text(query)).scalar_one():
                raise StoreReadOnly(pg_faults.READ_ONLY)

    def find_damage(self) -> list[str]:
        """Nothing: the server checks its pages when it reads them."""
        return []

    def close(self) -> None:
        self._is_closed = True
        self.vector_indexes.close()
        self._engine.dispose()

    @contextlib.contextmanager
    def _begin_unbound(self, *, writes: bool = False) -> Iterator[Connection]:
        """Begin a transaction without an owner; row security hides all personal rows."""
        if self._is_closed:
            raise StoreClosed
        with pg_faults.translate_errors(), self._engine.connect() as connection:
            with connection.begin() as transaction:
                yield connection
                if writes:
                    with pg_faults.translate_commit_errors():
                        transaction.commit()

    @contextlib.contextmanager
    def _begin(self, owner: Owner, *, writes: bool = False) -> Iterator[Connection]:
        with self._begin_unbound(writes=writes) as connection:
            # SET takes no bound parameters; the id is a hex digest, never user input.
            connection.exec_driver_sql(f"SET LOCAL app.owner_id = '{owner.id}'")
            yield connection

    @contextlib.contextmanager
    def _begin_as(self, role: str, tenant: Tenant, *, writes: bool = False) -> Iterator[Connection]:
        """Begin a transaction for one tenant, in a role that can do nothing else."""
        with self._begin_unbound(writes=writes) as connection:
            connection.exec_driver_sql(f"SET LOCAL ROLE {role}")
            connection.exec_driver_sql(f"SET LOCAL app.tenant_id = '{tenant.id}'")
            yield connection

    @contextlib.contextmanager
    def _begin_team_write(self, tenant: Tenant) -> Iterator[Connection]:
        """Lock a team's row for writing; its tenant is registered first."""
        if tenant not in self._known_tenants:
            self.system.register_tenant(tenant)
            self._known_tenants.add(tenant)
        with self._begin_as(pg_roles.TEAM_WRITER_ROLE, tenant, writes=True) as connection:
            row = {"tenant_id": tenant.id, "version": 0}
            system_tables.insert_missing(connection, tables.teams, row)
            own = select(tables.teams).where(tables.teams.c.tenant_id == tenant.id)
            connection.execute(own.with_for_update())
            yield connection

    def _has_team_facts(self, tenant: Tenant) -> bool:
        with self._begin_as(pg_roles.TEAM_WRITER_ROLE, tenant) as connection:
            return dump.count_team_facts(connection, tenant) > 0


class PostgresTransaction(SqlTransaction):
    """Finds the vectors that are not kept in memory through a pgvector index."""

    dialect = PGDialect_psycopg()  # type: ignore[no-untyped-call]
    vector_indexes: VectorIndexBuilder

    def nearest_outside_index(self, query: Embedding) -> list[Hit]:
        vectors = tables.embeddings
        if query.model != INDEXED_MODEL:
            self.vector_indexes.ensure(len(query.vector))
        distance = _cosine_distance(query)
        statement = (
            select(vectors.c.memory_id, (1 - distance).label("similarity"))
            .where(self._own(vectors), *_match_model(query), vectors.c.crowded)
            .order_by(distance)
            .limit(MAX_OUTSIDE_HITS)
        )
        for setting in HNSW_SETTINGS:
            self._connection.exec_driver_sql(f"SET LOCAL {setting}")
        rows = self._connection.execute(statement).all()
        self._connection.exec_driver_sql("SET LOCAL enable_nestloop = off")
        return [Hit(row.memory_id, round(float(row.similarity), 6)) for row in rows]

    def _fetch_vectors(self, statement: Select[Any]) -> Iterator[Any]:
        """Rows that end in a vector, fetched in binary, which is ten times as fast as text."""
        compiled = statement.compile(
            dialect=self._connection.dialect, compile_kwargs={"render_postcompile": True}
        )
        raw: Any = self._connection.connection.driver_connection
        with raw.cursor(binary=True) as cursor:
            cursor.execute(str(compiled), compiled.params)
            while rows := cursor.fetchmany(500):
                yield from ((*row, unpack_vector(packed)) for *row, packed in rows)

    def _insert_bulk(self, table: Table, rows: Sequence[Mapping[str, object]]) -> None:
        """Send many rows as one JSON parameter, which is faster than thousands of parameters."""
        if len(rows) < MIN_BULK_ROWS:
            super()._insert_bulk(table, rows)
            return
        names = [column.name for column in table.columns if column.name != "owner_id"]
        types = [f"{name} {table.c[name].type.compile(self.dialect)}" for name in names]
        values = [to_json(row) for row in rows]
        self._connection.execute(
            text(
                f"INSERT INTO {table.name} (owner_id, {', '.join(names)}) "
                f"SELECT :owner, {', '.join(names)} "
                f"FROM jsonb_to_recordset(CAST(:rows AS jsonb)) AS given({', '.join(types)})"
            ).bindparams(bindparam("owner", self._owner_id), bindparam("rows", values, JSONB))
        )

    @staticmethod
    def is_among_ids(table: FromClause) -> ColumnElement[bool]:
        return table.c.id == any_(bindparam("ids", [], ARRAY(Text)))

    @staticmethod
    def has_tag(table: FromClause, tag: str) -> ColumnElement[bool]:
        return cast(table.c.tags, JSONB).contains([tag])


def _cosine_distance(query: Embedding) -> ColumnElement[float]:
    """Cosine distance, written so that the index of the dimension serves it."""
    column = tables.embeddings.c.vector
    # Bound with its own type, because a cast from text would be parsed for every row.
    vector: ColumnElement[Any] = literal(query.vector, column.type)
    dimensions = len(query.vector)
    expression = column_expression(dimensions)
    if expression is None:
        return column.op("<=>", return_type=Float())(vector)
    if dimensions > MAX_VECTOR_DIMENSIONS:
        vector = vector.op("::")(literal_column(f"halfvec({dimensions})"))
    indexed: ColumnElement[Any] = literal_column(expression)
    return indexed.op("<=>", return_type=Float())(vector)


def _match_model(query: Embedding) -> Sequence[ColumnElement[bool]]:
    """The conditions of the partial indexes as constants: the model, or else the dimension."""
    column = tables.embeddings.c.model
    if query.model == INDEXED_MODEL:
        return (column == literal_column(f"'{query.model}'"),)
    dimensions: ColumnElement[bool] = literal_column(index_condition(len(query.vector)))
    return column == query.model, dimensions


def _lock_owner(
    connection: Connection,
    owner: Owner,
    clock: Clock,
    *,
    create: bool = True,
    is_restored: bool = False,
) -> None:
    """Lock the owner's row, and insert it first if it is missing, so that writers take turns."""
    table = tables.owners
    lock = select(table.c.owner_id).where(table.c.owner_id == owner.id).with_for_update()
    if connection.execute(lock).first() is None:
        if not create:
            raise UnknownPerson(f"{owner.user} of {owner.tenant} has no memories here.")
        system_tables.insert_owner(connection, owner, clock.now(), is_restored=is_restored)
        row = system_tables.build_owner_row(owner, clock.now())
        system_tables.insert_missing(connection, table, row)
        connection.execute(lock)


def _migrate(admin_url: URL) -> None:
    """Upgrade the schema as its owner; several processes can try at once."""
    engine = create_engine(admin_url, poolclass=NullPool, connect_args=_connect_timeout(admin_url))
    try:
        with pg_faults.translate_errors():
            with engine.begin() as connection:
                if schema.is_current(connection, f"The database {admin_url.database}"):
                    return
            _create_prerequisites(engine)
            with engine.begin() as connection:
                connection.exec_driver_sql("LOCK TABLE migration_lock IN ACCESS EXCLUSIVE MODE")
                schema.ensure_current(connection, *schema.FAMILIES)
    finally:
        engine.dispose()


def _create_prerequisites(engine: Engine) -> None:
    """Create what must exist before the lock; IF NOT EXISTS can fail if two processes run it at
    once.
    """
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
        pg_roles.create_roles(connection.exec_driver_sql)


def _connect_timeout(url: URL) -> dict[str, object]:
    return {} if "connect_timeout" in url.query else {"connect_timeout": CONNECT_TIMEOUT_SECONDS}


def _parse_url(url: str) -> URL:
    try:
        return make_url(url).set(drivername="postgresql+psycopg")
    except (ArgumentError, ValueError) as error:
        raise InvalidSetting(
            "store.url is not a database address: use postgresql://user:password@host/database."
        ) from error
