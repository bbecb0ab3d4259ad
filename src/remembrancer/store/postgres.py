"""PostgreSQL with pgvector: many people in one database, kept apart by forced row security."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

from sqlalchemy import (
    URL,
    ColumnElement,
    Connection,
    Engine,
    Float,
    Table,
    cast,
    create_engine,
    literal,
    literal_column,
    make_url,
    select,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB, insert
from sqlalchemy.exc import ArgumentError, DBAPIError, OperationalError
from sqlalchemy.pool import NullPool

from remembrancer.clock import Clock, SystemClock
from remembrancer.errors import InvalidSetting, StoreUnavailable
from remembrancer.store import directory, rights, schema, tables
from remembrancer.store.conditions import tables_of
from remembrancer.store.contract import Embedding, Filter, Health, Hit, Reader, Writer
from remembrancer.store.transaction import SqlTransaction
from remembrancer.text import terms as terms_of
from remembrancer.types import Owner, Record

HNSW_FROM = 50_000
"""From how many vectors of one owner on the index is walked instead of reading them all."""

OPTIONS = (
    f"role={rights.ROLE}",
    "citus.propagate_set_commands=local",
    # A plan made for everyone when a table was small is kept for ever: 30 times slower later on.
    "plan_cache_mode=force_custom_plan",
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
        hnsw_from: int = HNSW_FROM,
    ) -> None:
        self._url = _parsed(url)
        self._clock = clock or SystemClock()
        self._hnsw_from = hnsw_from
        self._known: set[Owner] = set()
        _migrate(_parsed(admin_url or url))
        self._engine = create_engine(
            self._url,
            hide_parameters=True,
            pool_size=pool_size,
            max_overflow=0,
            pool_timeout=60,
            pool_pre_ping=True,
            connect_args={"options": " ".join(f"-c {option}" for option in OPTIONS)},
        )

    @contextlib.contextmanager
    def reading(self, owner: Owner) -> Iterator[Reader]:
        with self._transaction(owner) as connection:
            yield PostgresTransaction(connection, owner.id, self._hnsw_from)

    @contextlib.contextmanager
    def writing(self, owner: Owner) -> Iterator[Writer]:
        self._register(owner)
        with self._transaction(owner) as connection:
            _lock(connection, owner, self._clock)
            yield PostgresTransaction(connection, owner.id, self._hnsw_from)

    def owners(self) -> list[Owner]:
        with _reachable(), self._engine.begin() as connection:
            return directory.registered(connection)

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
                f"{rights.ROLE}, which may not; a login that may not either is safer: "
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

    def _register(self, owner: Owner) -> None:
        if owner not in self._known:
            with _reachable(), self._engine.begin() as connection:
                directory.register(connection, owner, self._clock.now())
            self._known.add(owner)


class PostgresTransaction(SqlTransaction):
    """Full text by tsvector with BM25 computed as FTS5 does, vectors by pgvector."""

    def __init__(self, connection: Connection, owner_id: str, hnsw_from: int) -> None:
        super().__init__(connection, owner_id)
        self._hnsw_from = hnsw_from

    def semantic(self, query: Embedding, wanted: Filter, limit: int) -> list[Hit]:
        approximate = self._is_worth_an_index(query)
        with self._walking_the_index() if approximate else contextlib.nullcontext():
            return self._nearest(query, wanted, limit, approximate=approximate)

    def _nearest(
        self, query: Embedding, wanted: Filter, limit: int, *, approximate: bool
    ) -> list[Hit]:
        found: list[Hit] = []
        for kind, table in tables_of(wanted):
            distance = _distance(query, approximate=approximate)
            similarity = (1 - distance).label("similarity")
            vectors = tables.embeddings
            statement = (
                select(table.c.id, similarity)
                .join(vectors, (vectors.c.memory_id == table.c.id) & self._own(vectors))
                .where(_made_by(query.model), vectors.c.kind == kind)
                .where(self._passes(kind, table, wanted))
                .order_by(distance)
                .limit(limit)
            )
            rows = self._connection.execute(statement)
            found += [Hit(row.id, round(float(row.similarity), 6)) for row in rows]
        return sorted(found, key=lambda hit: (-hit.score, hit.id))[:limit]

    def keyword(self, terms: Sequence[str], wanted: Filter, limit: int) -> list[Hit]:
        if not terms:
            return []
        found: list[Hit] = []
        scored = _bm25(self._owner_id, terms)
        for kind, table in tables_of(wanted):
            statement = (
                select(table.c.id, scored.c.score)
                .join(scored, scored.c.id == table.c.id)
                .where(self._passes(kind, table, wanted))
                .order_by(scored.c.score.desc(), table.c.id)
                .limit(limit)
            )
            rows = self._connection.execute(statement)
            found += [Hit(row.id, float(row.score)) for row in rows]
        return sorted(found, key=lambda hit: (-hit.score, hit.id))[:limit]

    @contextlib.contextmanager
    def _walking_the_index(self) -> Iterator[None]:
        """Let the planner go through the index until enough rows pass the filter."""
        for setting in WALKING:
            self._connection.exec_driver_sql(f"SET LOCAL {setting}")
        yield
        self._connection.exec_driver_sql("SET LOCAL enable_nestloop = off")

    def _is_worth_an_index(self, query: Embedding) -> bool:
        if query.model != INDEXED_MODEL:
            return False
        table = tables.owners
        count = self._connection.execute(
            select(table.c.vectors_added - table.c.vectors_removed).where(self._own(table))
        ).scalar()
        return count is not None and count >= self._hnsw_from

    def _index(self, record: Record) -> None:
        words = terms_of(record.searchable)
        row = {
            "owner_id": self._owner_id,
            "id": record.id,
            "kind": record.kind,
            "terms": _tsvector(words),
            "length": len(words),
        }
        self._connection.execute(tables.documents.insert(), row)

    def _unindex(self, memory_id: str) -> None:
        self._delete(tables.documents, tables.documents.c.id == memory_id)

    def _has_tag(self, table: Table, tag: str) -> ColumnElement[bool]:
        return cast(table.c.tags, JSONB).contains([tag])


def _distance(query: Embedding, *, approximate: bool) -> ColumnElement[float]:
    """Cosine distance, written so that the planner uses the index only where it is wanted.

    Adding zero keeps it from walking the index of all owners' vectors and filtering afterwards,
    which loses most of one owner's nearest.
    """
    column = tables.embeddings.c.vector
    # Bound with its own type: a cast from text would be parsed again for every row.
    vector = literal(query.vector, column.type)
    if approximate:
        indexed: ColumnElement[Any] = literal_column(
            f"(embeddings.vector::vector({INDEXED_DIMENSIONS}))"
        )
        return indexed.op("<=>", return_type=Float())(vector)
    return column.op("<=>", return_type=Float())(vector) + 0


def _made_by(model: str) -> ColumnElement[bool]:
    """The model as a constant where its vectors are indexed: the index is a partial one."""
    column = tables.embeddings.c.model
    return column == (literal_column(f"'{model}'") if model == INDEXED_MODEL else model)


def _tsvector(words: Sequence[str]) -> str:
    """The terms with their positions, as PostgreSQL reads a tsvector; at most 256 of each count."""
    positions: dict[str, list[str]] = {}
    for position, word in enumerate(words, 1):
        positions.setdefault(word, []).append(str(min(position, 16383)))
    return " ".join(f"'{word}':{','.join(at[:256])}" for word, at in positions.items())


def _bm25(owner_id: str, terms: Sequence[str]) -> Any:
    """A subquery of ids and scores, by the formula of SQLite's FTS5 (k1 = 1.2, b = 0.75)."""
    statement = text(
        """
        WITH totals AS MATERIALIZED (
            SELECT count(*)::float8 AS documents_total, avg(length)::float8 AS length_mean
            FROM documents WHERE owner_id = :owner_id
        )
        SELECT id, round(sum(
            greatest(ln((documents_total - having_it + 0.5) / (having_it + 0.5)), 0.000001)
            * often * 2.2 / (often + 1.2 * (0.25 + 0.75 * length / length_mean))
        )::numeric, 6)::float8 AS score
        FROM (
            SELECT d.id, d.length, cardinality(t.positions)::float8 AS often,
                   count(*) OVER (PARTITION BY t.lexeme)::float8 AS having_it
            FROM documents AS d CROSS JOIN LATERAL unnest(d.terms) AS t
            WHERE d.owner_id = :owner_id AND d.terms @@ CAST(:query AS tsquery)
              AND t.lexeme = ANY(CAST(:terms AS text[]))
        ) AS found
        CROSS JOIN totals
        GROUP BY id
        """
    ).bindparams(
        owner_id=owner_id, query=" | ".join(f"'{term}'" for term in terms), terms=list(terms)
    )
    return statement.columns(tables.documents.c.id, score=tables.facts.c.confidence.type).subquery(
        "scored"
    )


def _lock(connection: Connection, owner: Owner, clock: Clock) -> None:
    """Make the owner's row if it is missing and hold it, so that writers take turns."""
    table = tables.owners
    held = select(table.c.owner_id).where(table.c.owner_id == owner.id).with_for_update()
    if connection.execute(held).first() is None:
        row = directory.owner_row(owner, clock.now())
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
        rights.create_role(connection.exec_driver_sql)


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
    except OperationalError as error:
        # Without a state the connection failed; 08 is its loss, 57P a shutdown, 53 no more room.
        state = getattr(error.orig, "sqlstate", None) or "08"
        if not state.startswith(("08", "57P", "53")):
            raise
        raise StoreUnavailable(
            "The PostgreSQL server does not answer; check store.url and that it is running."
        ) from error
