"""Adds the past wordings of team facts, each as it was approved."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from remembrancer.store import pg_roles
from remembrancer.store.columns import Moment

revision = "0010"
down_revision = "0009"

TABLE = "team_states"


def upgrade(families: frozenset[str]) -> None:
    """Change the team family only."""
    if "team" not in families:
        return
    op.create_table(
        TABLE,
        sa.Column("tenant_id", sa.Text(), nullable=False),
        sa.Column("fact_id", sa.Text(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("importance", sa.Float(), nullable=False),
        sa.Column("confidence", sa.Float(), nullable=False),
        sa.Column("since", Moment(), nullable=False),
        sa.Column("until", Moment(), nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "fact_id", "number", name=op.f("pk_team_states")),
        sa.ForeignKeyConstraint(
            ["tenant_id", "fact_id"],
            ["team_facts.tenant_id", "team_facts.id"],
            name=op.f("fk_team_states_tenant_id_fact_id"),
        ),
        sa.CheckConstraint("tenant_id <> ''", name=op.f("ck_team_states_tenant")),
    )
    if op.get_bind().dialect.name != "sqlite":
        pg_roles.enable_row_security(op.execute, "tenant_id", (TABLE,))
        op.execute(f"REVOKE ALL ON {TABLE} FROM {pg_roles.APP_ROLE}")
        pg_roles.grant(op.execute, (TABLE,), role=pg_roles.TEAM_WRITER_ROLE)
        pg_roles.grant(op.execute, (TABLE,), "SELECT", role=pg_roles.TEAM_RECALL_ROLE)
        pg_roles.grant_maintain(op.execute, (TABLE,))
        op.execute(f"ALTER TABLE {TABLE} ALTER COLUMN content SET STATISTICS 0")
