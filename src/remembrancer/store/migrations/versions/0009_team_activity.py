"""Adds counts of proposals to the team by day, origin and outcome."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from remembrancer.store import pg_roles

revision = "0009"
down_revision = "0008"

TABLE = "team_activity"


def upgrade(families: frozenset[str]) -> None:
    """Change the team family only."""
    if "team" not in families:
        return
    op.create_table(
        TABLE,
        sa.Column("tenant_id", sa.Text(), nullable=False),
        sa.Column("day", sa.Text(), nullable=False),
        sa.Column("origin", sa.Text(), nullable=False),
        sa.Column("outcome", sa.Text(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint(
            "tenant_id", "day", "origin", "outcome", name=op.f("pk_team_activity")
        ),
        sa.CheckConstraint("tenant_id <> ''", name=op.f("ck_team_activity_tenant")),
    )
    if op.get_bind().dialect.name != "sqlite":
        pg_roles.enable_row_security(op.execute, "tenant_id", (TABLE,))
        op.execute(f"REVOKE ALL ON {TABLE} FROM {pg_roles.APP_ROLE}")
        pg_roles.grant(op.execute, (TABLE,), role=pg_roles.TEAM_WRITER_ROLE)
        pg_roles.grant_maintain(op.execute, (TABLE,))
