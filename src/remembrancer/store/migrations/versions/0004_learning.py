"""Adds the due time of learning to sessions, and the table of rejections."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from remembrancer.store.columns import JsonValue, Moment
from remembrancer.store.pg_roles import enable_row_security

revision = "0004"
down_revision = "0003"


def upgrade(families: frozenset[str]) -> None:
    """Change the personal family only."""
    if "personal" not in families:
        return
    op.add_column(
        "sessions", sa.Column("summarised", sa.Integer(), nullable=False, server_default="0")
    )
    op.add_column("sessions", sa.Column("due_at", Moment(), nullable=True))
    op.drop_column("sessions", "trashed_at")
    op.create_index("ix_sessions_due", "sessions", ["owner_id", "due_at"])
    op.create_table(
        "rejections",
        sa.Column("owner_id", sa.Text(), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("at", Moment(), nullable=False),
        sa.Column("session_id", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("quote", sa.Text(), nullable=False),
        sa.Column("turns", JsonValue(), nullable=False),
        sa.PrimaryKeyConstraint("owner_id", "id", name=op.f("pk_rejections")),
        sa.ForeignKeyConstraint(
            ["owner_id", "session_id"],
            ["sessions.owner_id", "sessions.id"],
            name=op.f("fk_rejections_owner_id_session_id"),
        ),
        sa.CheckConstraint("owner_id <> ''", name=op.f("ck_rejections_owner")),
    )
    op.create_index("ix_rejections_at", "rejections", ["owner_id", "at", "id"])
    op.create_index("ix_rejections_session", "rejections", ["owner_id", "session_id"])
    if op.get_bind().dialect.name != "sqlite":
        enable_row_security(op.execute, "owner_id", ("rejections",))
