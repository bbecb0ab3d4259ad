"""Stores responses by Idempotency-Key in one owner's tables."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import datetime

from sqlalchemy import ColumnElement, Connection, and_, select

from remembrancer.store import tables
from remembrancer.store.contract import StoredResponse
from remembrancer.store.statements import field_values

TABLE = tables.answers


def read_response(connection: Connection, owner_id: str, key: str) -> StoredResponse | None:
    row = connection.execute(select(TABLE).where(_has_key(owner_id, key))).first()
    if row is None:
        return None
    return StoredResponse(row.key, row.request, row.at, row.status, row.headers, row.body)


def save_response(connection: Connection, owner_id: str, response: StoredResponse) -> None:
    """Insert or replace the response for its key."""
    drop_response(connection, owner_id, response.key)
    row = field_values(response) | {"headers": dict(response.headers), "owner_id": owner_id}
    connection.execute(TABLE.insert(), row)


def drop_response(connection: Connection, owner_id: str, key: str) -> None:
    connection.execute(TABLE.delete().where(_has_key(owner_id, key)))


def drop_responses(connection: Connection, owner_id: str, before: datetime) -> int:
    old = and_(TABLE.c.owner_id == owner_id, TABLE.c.at < before)
    return connection.execute(TABLE.delete().where(old)).rowcount


def drop_responses_naming(
    connection: Connection, owner_id: str, memory_ids: Iterable[str], texts: Iterable[str] = ()
) -> None:
    """Delete responses that name purged memories or contain their words."""
    gone = {*memory_ids}
    for text in filter(None, texts):
        gone |= {json.dumps(text, ensure_ascii=plain)[1:-1] for plain in (True, False)}
    query = select(TABLE.c.key, TABLE.c.body).where(TABLE.c.owner_id == owner_id)
    for key, body in connection.execute(query).all():
        if any(one in body for one in gone):
            drop_response(connection, owner_id, key)


def _has_key(owner_id: str, key: str) -> ColumnElement[bool]:
    return and_(TABLE.c.owner_id == owner_id, TABLE.c.key == key)
