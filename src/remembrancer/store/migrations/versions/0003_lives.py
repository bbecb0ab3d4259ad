"""Adds the time to live of memories, and withdrawn uses of rules."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"

MEMORIES = ("facts", "rules", "episodes", "turns")


def upgrade(families: frozenset[str]) -> None:
    """Change the personal family only."""
    if "personal" not in families:
        return
    on_sqlite = op.get_bind().dialect.name == "sqlite"
    for table in MEMORIES:
        op.add_column(table, sa.Column("ttl_days", sa.Float(), nullable=True))
        if on_sqlite:
            measure(table, "round(julianday(expires_at) - julianday(recorded_at), 6)")
        else:
            # Row security binds even the owner of the tables.
            op.execute(f"ALTER TABLE {table} NO FORCE ROW LEVEL SECURITY")
            measure(table, "extract(epoch FROM expires_at - recorded_at) / 86400")
            op.execute(f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY")
    op.add_column(
        "rule_applications",
        sa.Column("withdrawn", sa.Boolean(), nullable=False, server_default=sa.false()),
    )


def measure(table: str, days: str) -> None:
    op.execute(f"UPDATE {table} SET ttl_days = {days} WHERE expires_at IS NOT NULL")
