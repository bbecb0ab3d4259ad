"""Adds the table of erasures, and keeps personal words out of the planner's statistics."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from remembrancer.store import pg_roles
from remembrancer.store.columns import JsonValue, Moment

revision = "0006"
down_revision = "0005"

WORDS = {
    "facts": "content summary body subject predicate evidence tags metadata",
    "rules": "content evidence tags metadata",
    "episodes": "content evidence tags metadata failure",
    "turns": "content evidence tags metadata speaker",
    "rule_applications": "reason",
    "sessions": "title summary failure metadata",
    "rejections": "content quote turns",
    "events": "note",
    "changes": "before after",
    "agents": "settings",
    "documents": "codes",
    "embeddings": "vector",
    "owners": "name",
    "team_facts": "content",
    "team_embeddings": "vector",
    "users": "name",
    "keys": "name label",
}
"""Columns with personal words or names, of which statistics would keep samples."""


def upgrade(families: frozenset[str]) -> None:
    """Change the system family and, on PostgreSQL, statistics and privileges."""
    if "system" in families:
        op.create_table(
            "erasures",
            sa.Column("id", sa.Text(), nullable=False),
            sa.Column("tenant", sa.Text(), nullable=False),
            sa.Column("mark", sa.Text(), nullable=False),
            sa.Column("begun_at", Moment(), nullable=False),
            sa.Column("contributions_only", sa.Boolean(), nullable=False),
            sa.Column("name", sa.Text()),
            sa.Column("traces", JsonValue(), nullable=False),
            sa.Column("removed", JsonValue(), nullable=False),
            sa.Column("finished_at", Moment()),
            sa.PrimaryKeyConstraint("id", name=op.f("pk_erasures")),
        )
    if op.get_bind().dialect.name != "sqlite":
        keep_no_samples()
        pg_roles.grant(op.execute, ("erasures",))
        pg_roles.grant_maintain(op.execute, (*ALL_TABLES, "erasures"))


ALL_TABLES = (
    *WORDS,
    "states",
    "links",
    "teams",
    "team_keys",
    "team_contributions",
    "team_conflicts",
    "tenants",
    "settings",
    "leases",
)


def keep_no_samples() -> None:
    """Turn off statistics that would outlive the rows; no query filters by these values."""
    for table, columns in WORDS.items():
        for column in columns.split():
            op.execute(f'ALTER TABLE {table} ALTER COLUMN "{column}" SET STATISTICS 0')
