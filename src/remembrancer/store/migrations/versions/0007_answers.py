"""Adds the table of responses by Idempotency-Key."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from remembrancer.store.columns import JsonValue, Moment
from remembrancer.store.pg_roles import enable_row_security, grant_maintain

revision = "0007"
down_revision = "0006"


def upgrade(families: frozenset[str]) -> None:
    """Change the personal family only."""
    if "personal" not in families:
        return
    op.create_table(
        "answers",
        sa.Column("owner_id", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("request", sa.Text(), nullable=False),
        sa.Column("at", Moment(), nullable=False),
        sa.Column("status", sa.Integer(), nullable=True),
        sa.Column("headers", JsonValue(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("owner_id", "key", name=op.f("pk_answers")),
        sa.CheckConstraint("owner_id <> ''", name=op.f("ck_answers_owner")),
    )
    op.create_index("ix_answers_at", "answers", ["owner_id", "at"])
    if op.get_bind().dialect.name != "sqlite":
        enable_row_security(op.execute, "owner_id", ("answers",))
        grant_maintain(op.execute, ("answers",))
        for column in ("request", "headers", "body"):  # they can contain words: see 0006
            op.execute(f"ALTER TABLE answers ALTER COLUMN {column} SET STATISTICS 0")
