"""Rows of other people in a PostgreSQL database, made by the database itself from one person's."""

from __future__ import annotations

import sqlalchemy as sa

import remembrancer
from bench.growth import Remembering, embedded_once
from bench.made_up import conversations
from remembrancer.config import Settings
from remembrancer.embed.local import LocalEmbedder
from remembrancer.types import Owner

TURNS = 10_000
"""How many turns each of the others has."""

COPIED = ("owners", "sessions", "documents", "turns", "embeddings")


def fill(place: str, rows: int) -> None:
    """Store one person's conversations as anyone would, then copy them under other owners' keys."""
    embedder = Remembering(LocalEmbedder(), embedded_once())
    with remembrancer.open(place, settings=Settings(), embedder=embedder) as store:
        me = store.for_user("first of the others")
        for number, said in enumerate(conversations(TURNS, seed=3)):
            me.append(said, session=f"session {number}")
    engine = sa.create_engine(sa.make_url(place).set(drivername="postgresql+psycopg"))
    with engine.begin() as connection:
        for number in range(1, max(rows // TURNS, 1)):
            _copy(connection, Owner("others", str(number)).id)
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        # As a database at rest is; the server would do so by itself some minutes later.
        connection.execute(sa.text("VACUUM ANALYZE"))
        connection.execute(sa.text("CHECKPOINT"))
    engine.dispose()


def _copy(connection: sa.Connection, owner_id: str) -> None:
    first = Owner(Settings().tenant, "first of the others").id
    for table in COPIED:
        columns = [column["name"] for column in sa.inspect(connection).get_columns(table)]
        rest = ", ".join(f'"{name}"' for name in columns if name != "owner_id")
        only_one = " AND part <= 1" if table == "embeddings" else ""
        connection.execute(
            sa.text(
                f"INSERT INTO {table} (owner_id, {rest}) "
                f"SELECT :owner, {rest} FROM {table} WHERE owner_id = :first{only_one}"
            ),
            {"owner": owner_id, "first": first},
        )
