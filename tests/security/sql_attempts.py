"""Attempts by SQL: as the application's roles in PostgreSQL, and inside the files of SQLite.

What is promised: whatever a statement of the application asks for, it gets the rows of the owner
or tenant that its transaction has named, and none without naming one; a role gets nothing of the
tables of another role. What is not promised: the name itself. Whoever may run SQL of their own can
name anyone, become the other roles and go back to the login, so no surface takes SQL from outside.
"""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import psycopg

from remembrancer.store import pg_roles, tables

PERSONAL = sorted(tables.personal.tables)
TEAM = sorted(tables.team.tables)

READS = (
    "TABLE {table}",
    "SELECT * FROM {table} WHERE {key} = '{victim}'",
    "SELECT * FROM {table} WHERE {key} <> '{own}' OR true",
    "SELECT * FROM (SELECT * FROM {table}) AS inside",
    "WITH all_rows AS MATERIALIZED (SELECT * FROM {table}) SELECT * FROM all_rows",
    "SELECT a.* FROM {table} a RIGHT JOIN {table} b ON a.{key} <> b.{key}",
    "SELECT (SELECT string_agg(t::text, ' ') FROM {table} t)",
    "SELECT json_agg(t) FROM {table} t",
    "SELECT count(*), min(t::text), max(t::text) FROM {table} t GROUP BY {key}",
    "SELECT * FROM {table} TABLESAMPLE SYSTEM (100)",
    "SELECT * FROM ONLY {table} FOR UPDATE",
    "SELECT * FROM {table} WHERE ctid >= '(0,1)'",
    "SELECT 1 FROM {table} t WHERE t::text::integer = 0",
    "SELECT 1 FROM {table} t WHERE 1 / (CASE WHEN {key} = '{victim}' THEN 0 ELSE 1 END) = 1",
    "EXPLAIN (ANALYZE, VERBOSE) SELECT * FROM {table} WHERE {key} = '{victim}'",
    "COPY {table} TO STDOUT",
    "COPY (SELECT * FROM {table}) TO STDOUT",
    "SELECT query_to_xml('TABLE {table}', true, true, '')",
    "DECLARE peek CURSOR FOR TABLE {table}; FETCH ALL FROM peek",
    "PREPARE peek AS TABLE {table}; EXECUTE peek; DEALLOCATE peek",
    "CREATE TEMP VIEW peek AS TABLE {table}; TABLE peek",
    "CREATE TEMP TABLE peek AS TABLE {table}; TABLE peek",
    "CREATE FUNCTION pg_temp.peek(row text) RETURNS bool COST 0.0000001 LANGUAGE plpgsql AS "
    "$$ BEGIN RAISE NOTICE '%', row; RETURN true; END $$; "
    "SELECT 1 FROM {table} t WHERE pg_temp.peek(t::text)",
    "DO $$ DECLARE one record; BEGIN FOR one IN TABLE {table} LOOP RAISE NOTICE '%', one; "
    "END LOOP; END $$",
    "SELECT most_common_vals::text, histogram_bounds::text FROM pg_stats "
    "WHERE tablename = '{table}'",
    "SELECT * FROM pg_statistic",
    "SELECT query FROM pg_stat_activity WHERE pid <> pg_backend_pid()",
)
WRITES = (
    "UPDATE {table} SET {key} = '{victim}' RETURNING *",
    "UPDATE {table} SET {key} = {key} WHERE {key} = '{victim}' RETURNING *",
    "DELETE FROM {table} WHERE {key} = '{victim}' RETURNING *",
    "DELETE FROM {table} RETURNING *",
    "INSERT INTO {table} SELECT * FROM {table} RETURNING *",
    "INSERT INTO {table} SELECT * FROM {table} ON CONFLICT DO NOTHING RETURNING *",
    "TRUNCATE {table}",
    "ALTER TABLE {table} DISABLE ROW LEVEL SECURITY; TABLE {table}",
    "ALTER TABLE {table} NO FORCE ROW LEVEL SECURITY; TABLE {table}",
    "DROP POLICY {table}_{key} ON {table}; TABLE {table}",
    "CREATE POLICY all_of_it ON {table} USING (true); TABLE {table}",
    "SET LOCAL row_security = off; TABLE {table}",
    "GRANT ALL ON {table} TO PUBLIC; TABLE {table}",
)


@dataclass(frozen=True, slots=True)
class Statement:
    """SQL, the role that runs it, and what its transaction has named, if anything."""

    role: str
    named: str | None
    table: str
    sql: str

    @property
    def key(self) -> str:
        return "owner_id" if self.role == pg_roles.APP_ROLE else "tenant_id"


def statements(chance: random.Random, role: str, own: str, victim: str) -> Iterator[Statement]:
    """Statements without end: every trick on every table, naming oneself or nobody."""
    while True:
        trick = chance.choice((*READS, *WRITES))
        table = chance.choice((*PERSONAL, *TEAM))
        named = chance.choice((own, own, own, "", None, "%", f"{own} "))
        key = "owner_id" if role == pg_roles.APP_ROLE else "tenant_id"
        sql = trick.format(table=table, key=key, own=own, victim=victim)
        yield Statement(role, named, table, sql)


def run(connection: psycopg.Connection, statement: Statement) -> str:
    """Everything that comes back: rows, copies, notices or an error; nothing is kept."""
    heard: list[str] = []

    def hear(notice: psycopg.errors.Diagnostic) -> None:
        heard.append(f"{notice.message_primary} {notice.message_detail}")

    connection.add_notice_handler(hear)
    try:
        with connection.cursor() as cursor:
            cursor.execute(f"SET LOCAL ROLE {statement.role}".encode())
            if statement.named is not None:
                setting = f"SET LOCAL app.{statement.key} = '{statement.named}'"
                cursor.execute(setting.encode())
            heard += _answers(cursor, statement.sql)
    except psycopg.Error as error:
        diagnostic = error.diag
        heard += [str(error), repr(diagnostic.message_detail), repr(diagnostic.context)]
    finally:
        connection.rollback()
        connection.remove_notice_handler(hear)
    return " ".join(heard)


def _answers(cursor: psycopg.Cursor, sql: str) -> Iterator[str]:
    if sql.startswith("COPY"):
        with cursor.copy(sql.encode()) as copy:
            yield from (str(bytes(block)) for block in copy)
        return
    cursor.execute(sql.encode())
    while True:
        if cursor.description is not None:
            yield from map(repr, cursor.fetchall())
        if not cursor.nextset():
            return


IN_A_FILE = (
    "SELECT * FROM {table}",
    "SELECT * FROM {table} WHERE owner_id = '{victim}'",
    "SELECT * FROM {table} WHERE owner_id <> '{own}'",
    "SELECT * FROM {table} a LEFT JOIN {table} b ON a.owner_id <> b.owner_id",
    "SELECT * FROM sqlite_master WHERE sql LIKE '%{victim}%'",
    "SELECT * FROM pragma_database_list",
    "SELECT * FROM team_facts",
    "SELECT * FROM users",
    "DELETE FROM {table} WHERE owner_id = '{victim}' RETURNING *",
    "UPDATE {table} SET owner_id = owner_id WHERE owner_id = '{victim}' RETURNING *",
)


def in_file(chance: random.Random, file: Path, own: str, victim: str) -> str:
    """What a statement finds in a person's own file, with everything that the file holds."""
    sql = chance.choice(IN_A_FILE).format(table=chance.choice(PERSONAL), own=own, victim=victim)
    with closing(sqlite3.connect(file)) as connection:
        try:
            return repr(connection.execute(sql).fetchall())
        except sqlite3.Error as error:
            return str(error)


def held_in(file: Path) -> str:
    """Every byte of a database and of its log, as text."""
    held = b" ".join(path.read_bytes() for path in file.parent.glob(f"{file.name}*"))
    return held.decode("latin-1")
