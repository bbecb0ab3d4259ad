"""Adds team memory, with contributors out of reach for recall."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from remembrancer.store import pg_roles

revision = "0005"
down_revision = "0004"

RECALLED = ("teams", "team_facts", "team_embeddings")
KEPT_APART = ("team_keys", "team_contributions", "team_conflicts")


def upgrade(families: frozenset[str]) -> None:
    """Change the team family only."""
    if "team" not in families:
        return
    op.drop_column("team_facts", "terms")
    op.drop_column("team_facts", "length")
    op.create_table(
        "teams",
        sa.Column("tenant_id", sa.Text(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", name=op.f("pk_teams")),
        sa.CheckConstraint("tenant_id <> ''", name=op.f("ck_teams_tenant")),
    )
    op.create_table(
        "team_keys",
        sa.Column("tenant_id", sa.Text(), nullable=False),
        sa.Column("key", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", name=op.f("pk_team_keys")),
        sa.CheckConstraint("tenant_id <> ''", name=op.f("ck_team_keys_tenant")),
    )
    if op.get_bind().dialect.name != "sqlite":
        part_the_roles()


def part_the_roles() -> None:
    """Revoke team tables from the application's role; recall and review have their own roles."""
    pg_roles.create_roles(op.execute)
    pg_roles.enable_row_security(op.execute, "tenant_id", ("teams", "team_keys"))
    for table in (*RECALLED, *KEPT_APART):
        op.execute(f"REVOKE ALL ON {table} FROM {pg_roles.APP_ROLE}")
        pg_roles.grant(op.execute, (table,), role=pg_roles.TEAM_WRITER_ROLE)
    pg_roles.grant(op.execute, RECALLED, "SELECT", role=pg_roles.TEAM_RECALL_ROLE)
