"""Populated databases of each revision: plain rows in samples/, put into a schema of that revision.

After adding a revision, write its sample with `python -m tests.conformance.samples`.
"""

from __future__ import annotations

import json
import tempfile
from datetime import datetime
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, MetaData, create_engine, text
from sqlalchemy.pool import NullPool

import remembrancer
from remembrancer.clock import ManualClock
from remembrancer.config import Settings
from remembrancer.sessions.turns import TurnInput
from remembrancer.store import pg_roles, schema
from remembrancer.types import Kind, Owner
from tests.support.postgres import start_postgres

SAMPLES = Path(__file__).with_name("samples")
OWNER = Owner("home", "ada")
Rows = dict[str, list[dict[str, Any]]]


def build_sqlite(path: Path, revision: str) -> None:
    """A directory as the given revision would have left it."""
    (path / "people").mkdir(parents=True)
    rows = json.loads((SAMPLES / f"{revision}-sqlite.json").read_text(encoding="utf-8"))
    files = {"personal": path / "people" / f"{OWNER.id}.db", "system": path / "system.db"}
    for family, file in files.items():
        engine = create_engine(f"sqlite:///{file}", poolclass=NullPool)
        with engine.begin() as connection:
            schema.upgrade(connection, frozenset({family}), to=revision)
            fill(connection, rows[family])
            if family == "personal" and revision == "0001":
                connection.exec_driver_sql("INSERT INTO search(search) VALUES ('rebuild')")


def build_postgres(address: str, revision: str, owner: str | None = None) -> None:
    """A database as the given revision would have left it; `owner`: whose the tables are."""
    rows = json.loads((SAMPLES / f"{revision}-postgres.json").read_text(encoding="utf-8"))
    engine = create_engine(address, poolclass=NullPool)
    with engine.begin() as connection:
        connection.exec_driver_sql("CREATE EXTENSION IF NOT EXISTS vector")
        pg_roles.create_roles(connection.exec_driver_sql)
        if owner is not None:
            connection.exec_driver_sql(f"SET LOCAL ROLE {owner}")
        schema.upgrade(connection, schema.FAMILIES, to=revision)
        connection.exec_driver_sql("RESET ROLE")
        fill(connection, rows["everything"])


def fill(connection: Connection, rows: Rows) -> None:
    for table, entries in rows.items():
        for entry in entries:
            values = {name: _stored(value) for name, value in entry.items()}
            marks = ", ".join(f":{name}" for name in values)
            names = ", ".join(f'"{name}"' for name in values)
            connection.execute(text(f"INSERT INTO {table} ({names}) VALUES ({marks})"), values)


def dump(engine: Engine) -> Rows:
    """Every row of every table that has any, in an order that foreign keys allow."""
    described = MetaData()
    described.reflect(engine)
    rows: Rows = {}
    with engine.connect() as connection:
        for table in described.sorted_tables:
            if table.name.startswith(("alembic", "search", "migration")):
                continue
            order = ", ".join(f'"{column.name}"' for column in table.primary_key)
            query = text(f"SELECT * FROM {table.name} ORDER BY {order}")
            found = connection.execute(query).mappings()
            if entries := [{k: _plain(v) for k, v in row.items()} for row in found]:
                rows[table.name] = entries
    return rows


def populate(place: str) -> None:
    """What the sample holds: a corrected fact, a rule, an episode, a forgotten fact, two turns."""
    clock = ManualClock(datetime.fromisoformat("2026-03-02T12:00:00+00:00"))
    settings = Settings(user=OWNER.user, tenant=OWNER.tenant)
    with remembrancer.open(place, settings=settings, clock=clock) as store:
        me = store.for_user()
        me.remember("Ada works on the iOS app.", subject="ada", predicate="work")
        me.remember("Ada works on the dashboard.", subject="ada", predicate="work")
        me.remember("Confirm before sending messages", kind=Kind.RULE)
        me.remember("Logged a weight of 75 kg", kind=Kind.EPISODE, ttl_days=30_000)
        me.remember("Had ramen for dinner", tags=["food"], metadata={"place": "Oslo"})
        me.forget("ramen")
        turns: list[TurnInput] = [
            {"role": "user", "content": "My sister plays the cello.", "speaker": "Ada"},
            {"role": "assistant", "content": "How lovely! Since when?"},
        ]
        me.append(turns, "chat", title="Music")


def write_samples() -> None:
    """Write the samples of the current revision."""
    SAMPLES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        populate(folder)
        files = {"personal": f"people/{OWNER.id}.db", "system": "system.db"}
        engines = {name: create_engine(f"sqlite:///{folder}/{f}") for name, f in files.items()}
        _write("sqlite", {name: dump(engine) for name, engine in engines.items()})
    with tempfile.TemporaryDirectory() as folder:
        server = start_postgres(folder)
        server.psql("CREATE DATABASE sample")
        address = server.get_uri("sample")
        populate(address)
        admin = create_engine(address.replace("postgresql://", "postgresql+psycopg://"))
        _write("postgres", {"everything": dump(admin)})
        admin.dispose()
        server.cleanup()


def _write(engine: str, rows: object) -> None:
    path = SAMPLES / f"{schema.HEAD}-{engine}.json"
    path.write_text(json.dumps(rows, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def _plain(value: object) -> object:
    if isinstance(value, bytes):
        return {"hex": value.hex()}
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, dict | list):
        return json.dumps(value)
    return value


def _stored(value: object) -> object:
    return bytes.fromhex(value["hex"]) if isinstance(value, dict) else value


if __name__ == "__main__":
    write_samples()
