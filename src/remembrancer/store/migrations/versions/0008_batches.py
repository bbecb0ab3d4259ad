"""Adds a batch id to events and fills it for imports, which undo grouped by their note before."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade(families: frozenset[str]) -> None:
    """Change the personal family only."""
    if "personal" not in families:
        return
    op.add_column("events", sa.Column("batch_id", sa.Text(), nullable=True))
    if op.get_bind().dialect.name == "sqlite":
        fill_batch_ids()
    else:
        # Row security binds even the owner of the tables.
        op.execute("ALTER TABLE events NO FORCE ROW LEVEL SECURITY")
        fill_batch_ids()
        op.execute("ALTER TABLE events FORCE ROW LEVEL SECURITY")


def fill_batch_ids() -> None:
    """Give the events of each import, and those that undo them, the id of its first event."""
    first = (
        "SELECT owner_id, note, min(id) AS batch_id FROM events "
        "WHERE action = 'imported' AND note IS NOT NULL GROUP BY owner_id, note"
    )
    op.execute(
        f"UPDATE events SET batch_id = first.batch_id FROM ({first}) AS first "
        "WHERE events.action = 'imported' "
        "AND events.owner_id = first.owner_id AND events.note = first.note"
    )
    op.execute(
        "UPDATE events SET batch_id = undone.batch_id FROM events AS undone "
        "WHERE events.owner_id = undone.owner_id AND events.undoes = undone.id "
        "AND undone.batch_id IS NOT NULL"
    )
