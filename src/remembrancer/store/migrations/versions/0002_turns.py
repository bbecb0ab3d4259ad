"""Makes turns a kind of memory, and numbers documents and vectors for the in-memory indexes."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from remembrancer.search.features import detect_features
from remembrancer.search.terms import encode_terms, extract_terms
from remembrancer.store.columns import JsonValue, Moment
from remembrancer.store.pg_roles import enable_row_security

revision = "0002"
down_revision = "0001"


READ = ("owners", "documents", "embeddings", "facts", "rules", "episodes")


def upgrade(families: frozenset[str]) -> None:
    """Change the personal family only."""
    if "personal" not in families:
        return
    on_sqlite = op.get_bind().dialect.name == "sqlite"
    if on_sqlite:
        op.execute("DROP TABLE search")
    else:
        prepare_postgres()
    number_owners()
    number_documents()
    number_embeddings()
    make_turns()
    if not on_sqlite:
        finish_postgres()


def prepare_postgres() -> None:
    """Let the migration see all rows, even if row security binds the owner of the tables."""
    op.execute("DROP INDEX ix_documents_terms")
    op.execute("DROP INDEX ix_embeddings_minilm")
    for table in READ:
        op.execute(f"ALTER TABLE {table} NO FORCE ROW LEVEL SECURITY")


def finish_postgres() -> None:
    for table in READ:
        op.execute(f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY")
    op.execute(
        "CREATE INDEX ix_embeddings_minilm ON embeddings "
        "USING hnsw ((vector::vector(384)) vector_cosine_ops) "
        "WHERE model = 'all-MiniLM-L6-v2/q8' AND crowded"
    )
    enable_row_security(op.execute, "owner_id", ("turns",))


def number_owners() -> None:
    op.add_column(
        "owners", sa.Column("documents_added", sa.Integer(), nullable=False, server_default="0")
    )
    op.add_column(
        "owners", sa.Column("documents_removed", sa.Integer(), nullable=False, server_default="0")
    )
    op.drop_column("owners", "vectors_removed")
    op.execute(
        "UPDATE owners SET documents_added = "
        "(SELECT count(*) FROM documents WHERE documents.owner_id = owners.owner_id), "
        "vectors_added = "
        "(SELECT count(*) FROM embeddings WHERE embeddings.owner_id = owners.owner_id)"
    )


def number_documents() -> None:
    """Rebuild the terms of all documents from their text, as bytes."""
    op.add_column(
        "documents", sa.Column("number", sa.Integer(), nullable=False, server_default="0")
    )
    op.add_column(
        "documents",
        sa.Column("codes", sa.LargeBinary(), nullable=False, server_default=sa.text("''")),
    )
    op.add_column("documents", sa.Column("marks", sa.Integer(), nullable=False, server_default="0"))
    op.execute(
        "UPDATE documents SET number = counted.number FROM (SELECT owner_id, id, "
        "row_number() OVER (PARTITION BY owner_id ORDER BY id) AS number FROM documents) "
        "AS counted WHERE counted.owner_id = documents.owner_id AND counted.id = documents.id"
    )
    for table in ("facts", "rules", "episodes"):
        encode(table)
    op.drop_column("documents", "terms")
    op.drop_column("documents", "length")
    op.create_index("ix_documents_number", "documents", ["owner_id", "number"])


def encode(table: str) -> None:
    topic = "subject, predicate" if table == "facts" else "NULL AS subject, NULL AS predicate"
    connection = op.get_bind()
    stored = connection.execute(sa.text(f"SELECT owner_id, id, content, {topic} FROM {table}"))
    for row in stored.fetchall():
        about = " ".join(part for part in (row.subject, row.predicate) if part).replace("_", " ")
        searchable = f"{about}: {row.content}" if about else row.content
        connection.execute(
            sa.text(
                "UPDATE documents SET codes = :codes, marks = :marks "
                "WHERE owner_id = :owner_id AND id = :id"
            ),
            {
                "codes": encode_terms(extract_terms(searchable)),
                "marks": int(detect_features(row.content)),
                "owner_id": row.owner_id,
                "id": row.id,
            },
        )


def number_embeddings() -> None:
    for column in (
        sa.Column("number", sa.Integer(), nullable=False, server_default="0"),
        sa.Column("marks", sa.Integer(), nullable=False, server_default="0"),
        sa.Column("crowded", sa.Boolean(), nullable=False, server_default=sa.false()),
    ):
        op.add_column("embeddings", column)
    op.execute(
        "UPDATE embeddings SET number = counted.number FROM (SELECT owner_id, memory_id, model, "
        "part, row_number() OVER (PARTITION BY owner_id ORDER BY memory_id, model, part) AS number "
        "FROM embeddings) AS counted WHERE counted.owner_id = embeddings.owner_id "
        "AND counted.memory_id = embeddings.memory_id AND counted.model = embeddings.model "
        "AND counted.part = embeddings.part"
    )
    op.drop_column("embeddings", "kind")
    op.create_index("ix_embeddings_number", "embeddings", ["owner_id", "model", "number"])


def make_turns() -> None:
    """Replace the unused table of messages by turns, with the columns of all memories."""
    op.drop_table("messages")
    op.create_table(
        "turns",
        sa.Column("owner_id", sa.Text(), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("fingerprint", sa.Text(), nullable=False),
        sa.Column("scope", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("importance", sa.Float(), nullable=False),
        sa.Column("confidence", sa.Float(), nullable=False),
        sa.Column("permanence", sa.Text(), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("tainted", sa.Boolean(), nullable=False),
        sa.Column("agent", sa.Text(), nullable=True),
        sa.Column("surface", sa.Text(), nullable=False),
        sa.Column("session_id", sa.Text(), nullable=True),
        sa.Column("evidence", JsonValue(), nullable=False),
        sa.Column("tags", JsonValue(), nullable=False),
        sa.Column("metadata", JsonValue(), nullable=False),
        sa.Column("supersedes", sa.Text(), nullable=True),
        sa.Column("lineage", sa.Text(), nullable=False),
        sa.Column("valid_from", Moment(), nullable=False),
        sa.Column("valid_until", Moment(), nullable=True),
        sa.Column("recorded_at", Moment(), nullable=False),
        sa.Column("retired_at", Moment(), nullable=True),
        sa.Column("expires_at", Moment(), nullable=True),
        sa.Column("confirmed_at", Moment(), nullable=False),
        sa.Column("recalled_at", Moment(), nullable=True),
        sa.Column("recall_count", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("speaker", sa.Text(), nullable=True),
        sa.Column("origin", sa.Text(), nullable=False),
        sa.CheckConstraint("owner_id <> ''", name=op.f("ck_turns_owner")),
        sa.CheckConstraint("confidence BETWEEN 0 AND 1", name=op.f("ck_turns_confidence")),
        sa.ForeignKeyConstraint(
            ["owner_id", "id"],
            ["documents.owner_id", "documents.id"],
            name=op.f("fk_turns_owner_id_id"),
        ),
        sa.ForeignKeyConstraint(
            ["owner_id", "supersedes"],
            ["turns.owner_id", "turns.id"],
            name=op.f("fk_turns_owner_id_supersedes"),
        ),
        sa.ForeignKeyConstraint(
            ["owner_id", "session_id"],
            ["sessions.owner_id", "sessions.id"],
            name=op.f("fk_turns_owner_id_session_id"),
        ),
        sa.PrimaryKeyConstraint("owner_id", "id", name=op.f("pk_turns")),
        sa.UniqueConstraint(
            "owner_id", "session_id", "position", name=op.f("uq_turns_owner_id_session_id_position")
        ),
    )
    op.create_index(
        "ix_turns_recorded", "turns", ["owner_id", "status", "recorded_at", "id"], unique=False
    )
