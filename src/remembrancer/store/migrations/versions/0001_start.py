"""The initial schema."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from remembrancer.store.columns import JsonValue, Moment, Terms, Vector
from remembrancer.store.pg_roles import enable_row_security, grant

revision = "0001"
down_revision = None

PERSONAL = (
    "agents",
    "documents",
    "events",
    "owners",
    "sessions",
    "changes",
    "embeddings",
    "episodes",
    "facts",
    "links",
    "messages",
    "rules",
    "states",
    "rule_applications",
)
TEAM = ("team_facts", "team_conflicts", "team_contributions", "team_embeddings")
SYSTEM = ("leases", "tenants", "settings", "users", "keys")


def upgrade(families: frozenset[str]) -> None:
    """Create the tables of the families that live in this database."""
    if "personal" in families:
        create_personal()
    if "team" in families:
        create_team()
    if "system" in families:
        create_system()
    if op.get_bind().dialect.name == "sqlite":
        if "personal" in families:
            index_text_on_sqlite()
    else:
        index_on_postgres()
        enable_row_security(op.execute, "owner_id", PERSONAL)
        enable_row_security(op.execute, "tenant_id", TEAM)
        grant(op.execute, SYSTEM)
        grant(op.execute, ("alembic_version",), "SELECT")


def index_text_on_sqlite() -> None:
    op.execute(
        "CREATE VIRTUAL TABLE search USING fts5("
        "terms, content='documents', content_rowid='rowid', tokenize='ascii')"
    )


def index_on_postgres() -> None:
    op.execute("CREATE INDEX ix_documents_terms ON documents USING gin (terms)")
    op.execute(
        "CREATE INDEX ix_embeddings_minilm ON embeddings "
        "USING hnsw ((vector::vector(384)) vector_cosine_ops) "
        "WHERE model = 'all-MiniLM-L6-v2/q8'"
    )


def create_personal() -> None:
    op.create_table(
        "agents",
        sa.Column("owner_id", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("created_at", Moment(), nullable=False),
        sa.Column("settings", JsonValue(), nullable=False),
        sa.CheckConstraint("owner_id <> ''", name=op.f("ck_agents_owner")),
        sa.PrimaryKeyConstraint("owner_id", "name", name=op.f("pk_agents")),
    )
    op.create_table(
        "documents",
        sa.Column("owner_id", sa.Text(), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("terms", Terms(), nullable=False),
        sa.Column("length", sa.Integer(), nullable=False),
        sa.CheckConstraint("owner_id <> ''", name=op.f("ck_documents_owner")),
        sa.PrimaryKeyConstraint("owner_id", "id", name=op.f("pk_documents")),
    )
    op.create_table(
        "events",
        sa.Column("owner_id", sa.Text(), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("at", Moment(), nullable=False),
        sa.Column("action", sa.Text(), nullable=False),
        sa.Column("agent", sa.Text(), nullable=True),
        sa.Column("surface", sa.Text(), nullable=False),
        sa.Column("note", sa.Text(), nullable=True),
        sa.Column("undoes", sa.Text(), nullable=True),
        sa.Column("undone_by", sa.Text(), nullable=True),
        sa.CheckConstraint("owner_id <> ''", name=op.f("ck_events_owner")),
        sa.PrimaryKeyConstraint("owner_id", "id", name=op.f("pk_events")),
    )
    op.create_index("ix_events_at", "events", ["owner_id", "at", "id"], unique=False)
    op.create_table(
        "owners",
        sa.Column("owner_id", sa.Text(), nullable=False),
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("created_at", Moment(), nullable=False),
        sa.Column("vectors_added", sa.Integer(), nullable=False),
        sa.Column("vectors_removed", sa.Integer(), nullable=False),
        sa.CheckConstraint("owner_id <> ''", name=op.f("ck_owners_owner")),
        sa.PrimaryKeyConstraint("owner_id", name=op.f("pk_owners")),
    )
    op.create_table(
        "sessions",
        sa.Column("owner_id", sa.Text(), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("scope", sa.Text(), nullable=False),
        sa.Column("surface", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("title", sa.Text(), nullable=True),
        sa.Column("summary", sa.Text(), nullable=True),
        sa.Column("watermark", sa.Integer(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("leased_until", Moment(), nullable=True),
        sa.Column("failure", sa.Text(), nullable=True),
        sa.Column("started_at", Moment(), nullable=False),
        sa.Column("active_at", Moment(), nullable=False),
        sa.Column("trashed_at", Moment(), nullable=True),
        sa.Column("metadata", JsonValue(), nullable=False),
        sa.CheckConstraint("owner_id <> ''", name=op.f("ck_sessions_owner")),
        sa.PrimaryKeyConstraint("owner_id", "id", name=op.f("pk_sessions")),
    )
    op.create_index(
        "ix_sessions_active", "sessions", ["owner_id", "status", "active_at"], unique=False
    )
    op.create_table(
        "changes",
        sa.Column("owner_id", sa.Text(), nullable=False),
        sa.Column("event_id", sa.Text(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("memory_id", sa.Text(), nullable=False),
        sa.Column("before", JsonValue(), nullable=True),
        sa.Column("after", JsonValue(), nullable=True),
        sa.CheckConstraint("owner_id <> ''", name=op.f("ck_changes_owner")),
        sa.ForeignKeyConstraint(
            ["owner_id", "event_id"],
            ["events.owner_id", "events.id"],
            name=op.f("fk_changes_owner_id_event_id"),
        ),
        sa.PrimaryKeyConstraint("owner_id", "event_id", "number", name=op.f("pk_changes")),
    )
    op.create_index("ix_changes_memory", "changes", ["owner_id", "memory_id"], unique=False)
    op.create_table(
        "embeddings",
        sa.Column("owner_id", sa.Text(), nullable=False),
        sa.Column("memory_id", sa.Text(), nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("part", sa.Integer(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("vector", Vector(), nullable=False),
        sa.CheckConstraint("owner_id <> ''", name=op.f("ck_embeddings_owner")),
        sa.ForeignKeyConstraint(
            ["owner_id", "memory_id"],
            ["documents.owner_id", "documents.id"],
            name=op.f("fk_embeddings_owner_id_memory_id"),
        ),
        sa.PrimaryKeyConstraint(
            "owner_id", "memory_id", "model", "part", name=op.f("pk_embeddings")
        ),
    )
    op.create_table(
        "episodes",
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
        sa.Column("backlog", sa.Text(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("leased_until", Moment(), nullable=True),
        sa.Column("failure", sa.Text(), nullable=True),
        sa.CheckConstraint("owner_id <> ''", name=op.f("ck_episodes_owner")),
        sa.CheckConstraint("confidence BETWEEN 0 AND 1", name=op.f("ck_episodes_confidence")),
        sa.ForeignKeyConstraint(
            ["owner_id", "id"],
            ["documents.owner_id", "documents.id"],
            name=op.f("fk_episodes_owner_id_id"),
        ),
        sa.ForeignKeyConstraint(
            ["owner_id", "supersedes"],
            ["episodes.owner_id", "episodes.id"],
            name=op.f("fk_episodes_owner_id_supersedes"),
        ),
        sa.PrimaryKeyConstraint("owner_id", "id", name=op.f("pk_episodes")),
    )
    op.create_index(
        "ix_episodes_backlog", "episodes", ["owner_id", "backlog", "recorded_at"], unique=False
    )
    op.create_index("ix_episodes_expires", "episodes", ["owner_id", "expires_at"], unique=False)
    op.create_index(
        "ix_episodes_fingerprint", "episodes", ["owner_id", "fingerprint"], unique=False
    )
    op.create_index("ix_episodes_lineage", "episodes", ["owner_id", "lineage"], unique=False)
    op.create_index(
        "ix_episodes_recorded",
        "episodes",
        ["owner_id", "status", "recorded_at", "id"],
        unique=False,
    )
    op.create_index("ix_episodes_session", "episodes", ["owner_id", "session_id"], unique=False)
    op.create_index("ix_episodes_supersedes", "episodes", ["owner_id", "supersedes"], unique=False)
    op.create_table(
        "facts",
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
        sa.Column("category", sa.Text(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=True),
        sa.Column("predicate", sa.Text(), nullable=True),
        sa.Column("summary", sa.Text(), nullable=True),
        sa.Column("body", sa.Text(), nullable=True),
        sa.CheckConstraint("owner_id <> ''", name=op.f("ck_facts_owner")),
        sa.CheckConstraint("confidence BETWEEN 0 AND 1", name=op.f("ck_facts_confidence")),
        sa.ForeignKeyConstraint(
            ["owner_id", "id"],
            ["documents.owner_id", "documents.id"],
            name=op.f("fk_facts_owner_id_id"),
        ),
        sa.ForeignKeyConstraint(
            ["owner_id", "supersedes"],
            ["facts.owner_id", "facts.id"],
            name=op.f("fk_facts_owner_id_supersedes"),
        ),
        sa.PrimaryKeyConstraint("owner_id", "id", name=op.f("pk_facts")),
    )
    op.create_index("ix_facts_expires", "facts", ["owner_id", "expires_at"], unique=False)
    op.create_index("ix_facts_fingerprint", "facts", ["owner_id", "fingerprint"], unique=False)
    op.create_index("ix_facts_lineage", "facts", ["owner_id", "lineage"], unique=False)
    op.create_index(
        "ix_facts_recorded", "facts", ["owner_id", "status", "recorded_at", "id"], unique=False
    )
    op.create_index("ix_facts_session", "facts", ["owner_id", "session_id"], unique=False)
    op.create_index("ix_facts_supersedes", "facts", ["owner_id", "supersedes"], unique=False)
    op.create_index(
        "uq_facts_active_key",
        "facts",
        ["owner_id", "scope", "subject", "predicate"],
        unique=True,
        sqlite_where=sa.text("status = 'active' AND subject IS NOT NULL AND predicate IS NOT NULL"),
        postgresql_where=sa.text(
            "status = 'active' AND subject IS NOT NULL AND predicate IS NOT NULL"
        ),
    )
    op.create_table(
        "links",
        sa.Column("owner_id", sa.Text(), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("target", sa.Text(), nullable=False),
        sa.Column("relation", sa.Text(), nullable=False),
        sa.Column("created_at", Moment(), nullable=False),
        sa.CheckConstraint("owner_id <> ''", name=op.f("ck_links_owner")),
        sa.ForeignKeyConstraint(
            ["owner_id", "source"],
            ["documents.owner_id", "documents.id"],
            name=op.f("fk_links_owner_id_source"),
        ),
        sa.ForeignKeyConstraint(
            ["owner_id", "target"],
            ["documents.owner_id", "documents.id"],
            name=op.f("fk_links_owner_id_target"),
        ),
        sa.PrimaryKeyConstraint("owner_id", "source", "target", "relation", name=op.f("pk_links")),
    )
    op.create_index("ix_links_target", "links", ["owner_id", "target"], unique=False)
    op.create_table(
        "messages",
        sa.Column("owner_id", sa.Text(), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("session_id", sa.Text(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("speaker", sa.Text(), nullable=True),
        sa.Column("origin", sa.Text(), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("said_at", Moment(), nullable=False),
        sa.CheckConstraint("owner_id <> ''", name=op.f("ck_messages_owner")),
        sa.ForeignKeyConstraint(
            ["owner_id", "id"],
            ["documents.owner_id", "documents.id"],
            name=op.f("fk_messages_owner_id_id"),
        ),
        sa.ForeignKeyConstraint(
            ["owner_id", "session_id"],
            ["sessions.owner_id", "sessions.id"],
            name=op.f("fk_messages_owner_id_session_id"),
        ),
        sa.PrimaryKeyConstraint("owner_id", "id", name=op.f("pk_messages")),
        sa.UniqueConstraint(
            "owner_id",
            "session_id",
            "position",
            name=op.f("uq_messages_owner_id_session_id_position"),
        ),
    )
    op.create_table(
        "rules",
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
        sa.Column("maturity", sa.Text(), nullable=False),
        sa.Column("applied_count", sa.Integer(), nullable=False),
        sa.Column("success_count", sa.Integer(), nullable=False),
        sa.Column("harmful_count", sa.Integer(), nullable=False),
        sa.Column("applied_at", Moment(), nullable=True),
        sa.CheckConstraint("owner_id <> ''", name=op.f("ck_rules_owner")),
        sa.CheckConstraint("confidence BETWEEN 0 AND 1", name=op.f("ck_rules_confidence")),
        sa.ForeignKeyConstraint(
            ["owner_id", "id"],
            ["documents.owner_id", "documents.id"],
            name=op.f("fk_rules_owner_id_id"),
        ),
        sa.ForeignKeyConstraint(
            ["owner_id", "supersedes"],
            ["rules.owner_id", "rules.id"],
            name=op.f("fk_rules_owner_id_supersedes"),
        ),
        sa.PrimaryKeyConstraint("owner_id", "id", name=op.f("pk_rules")),
    )
    op.create_index("ix_rules_expires", "rules", ["owner_id", "expires_at"], unique=False)
    op.create_index("ix_rules_fingerprint", "rules", ["owner_id", "fingerprint"], unique=False)
    op.create_index("ix_rules_lineage", "rules", ["owner_id", "lineage"], unique=False)
    op.create_index(
        "ix_rules_recorded", "rules", ["owner_id", "status", "recorded_at", "id"], unique=False
    )
    op.create_index("ix_rules_session", "rules", ["owner_id", "session_id"], unique=False)
    op.create_index("ix_rules_supersedes", "rules", ["owner_id", "supersedes"], unique=False)
    op.create_table(
        "states",
        sa.Column("owner_id", sa.Text(), nullable=False),
        sa.Column("memory_id", sa.Text(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("valid_until", Moment(), nullable=True),
        sa.Column("since", Moment(), nullable=False),
        sa.Column("until", Moment(), nullable=False),
        sa.CheckConstraint("owner_id <> ''", name=op.f("ck_states_owner")),
        sa.ForeignKeyConstraint(
            ["owner_id", "memory_id"],
            ["documents.owner_id", "documents.id"],
            name=op.f("fk_states_owner_id_memory_id"),
        ),
        sa.PrimaryKeyConstraint("owner_id", "memory_id", "number", name=op.f("pk_states")),
    )
    op.create_table(
        "rule_applications",
        sa.Column("owner_id", sa.Text(), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("rule_id", sa.Text(), nullable=False),
        sa.Column("verdict", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("agent", sa.Text(), nullable=True),
        sa.Column("session_id", sa.Text(), nullable=True),
        sa.Column("applied_at", Moment(), nullable=False),
        sa.CheckConstraint("owner_id <> ''", name=op.f("ck_rule_applications_owner")),
        sa.ForeignKeyConstraint(
            ["owner_id", "rule_id"],
            ["rules.owner_id", "rules.id"],
            name=op.f("fk_rule_applications_owner_id_rule_id"),
        ),
        sa.PrimaryKeyConstraint("owner_id", "id", name=op.f("pk_rule_applications")),
    )
    op.create_index(
        "ix_rule_applications_rule",
        "rule_applications",
        ["owner_id", "rule_id", "applied_at"],
        unique=False,
    )


def create_team() -> None:
    op.create_table(
        "team_facts",
        sa.Column("tenant_id", sa.Text(), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("fingerprint", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("origin", sa.Text(), nullable=False),
        sa.Column("importance", sa.Float(), nullable=False),
        sa.Column("confidence", sa.Float(), nullable=False),
        sa.Column("terms", Terms(), nullable=False),
        sa.Column("length", sa.Integer(), nullable=False),
        sa.Column("recall_count", sa.Integer(), nullable=False),
        sa.Column("recorded_at", Moment(), nullable=False),
        sa.Column("confirmed_at", Moment(), nullable=False),
        sa.Column("decided_at", Moment(), nullable=True),
        sa.CheckConstraint("tenant_id <> ''", name=op.f("ck_team_facts_tenant")),
        sa.PrimaryKeyConstraint("tenant_id", "id", name=op.f("pk_team_facts")),
    )
    op.create_index(
        "ix_team_facts_fingerprint", "team_facts", ["tenant_id", "fingerprint"], unique=False
    )
    op.create_index(
        "ix_team_facts_status",
        "team_facts",
        ["tenant_id", "status", "recorded_at", "id"],
        unique=False,
    )
    op.create_table(
        "team_conflicts",
        sa.Column("tenant_id", sa.Text(), nullable=False),
        sa.Column("first_id", sa.Text(), nullable=False),
        sa.Column("second_id", sa.Text(), nullable=False),
        sa.Column("noticed_at", Moment(), nullable=False),
        sa.CheckConstraint("tenant_id <> ''", name=op.f("ck_team_conflicts_tenant")),
        sa.ForeignKeyConstraint(
            ["tenant_id", "first_id"],
            ["team_facts.tenant_id", "team_facts.id"],
            name=op.f("fk_team_conflicts_tenant_id_first_id"),
        ),
        sa.ForeignKeyConstraint(
            ["tenant_id", "second_id"],
            ["team_facts.tenant_id", "team_facts.id"],
            name=op.f("fk_team_conflicts_tenant_id_second_id"),
        ),
        sa.PrimaryKeyConstraint(
            "tenant_id", "first_id", "second_id", name=op.f("pk_team_conflicts")
        ),
    )
    op.create_table(
        "team_contributions",
        sa.Column("tenant_id", sa.Text(), nullable=False),
        sa.Column("fact_id", sa.Text(), nullable=False),
        sa.Column("contributor", sa.Text(), nullable=False),
        sa.Column("contributed_at", Moment(), nullable=False),
        sa.CheckConstraint("tenant_id <> ''", name=op.f("ck_team_contributions_tenant")),
        sa.ForeignKeyConstraint(
            ["tenant_id", "fact_id"],
            ["team_facts.tenant_id", "team_facts.id"],
            name=op.f("fk_team_contributions_tenant_id_fact_id"),
        ),
        sa.PrimaryKeyConstraint(
            "tenant_id", "fact_id", "contributor", name=op.f("pk_team_contributions")
        ),
    )
    op.create_index(
        "ix_team_contributions_contributor",
        "team_contributions",
        ["tenant_id", "contributor"],
        unique=False,
    )
    op.create_table(
        "team_embeddings",
        sa.Column("tenant_id", sa.Text(), nullable=False),
        sa.Column("fact_id", sa.Text(), nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("vector", Vector(), nullable=False),
        sa.CheckConstraint("tenant_id <> ''", name=op.f("ck_team_embeddings_tenant")),
        sa.ForeignKeyConstraint(
            ["tenant_id", "fact_id"],
            ["team_facts.tenant_id", "team_facts.id"],
            name=op.f("fk_team_embeddings_tenant_id_fact_id"),
        ),
        sa.PrimaryKeyConstraint("tenant_id", "fact_id", "model", name=op.f("pk_team_embeddings")),
    )


def create_system() -> None:
    op.create_table(
        "leases",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("holder", sa.Text(), nullable=True),
        sa.Column("held_until", Moment(), nullable=True),
        sa.Column("finished_at", Moment(), nullable=True),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_leases")),
    )
    op.create_table(
        "tenants",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("created_at", Moment(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_tenants")),
    )
    op.create_table(
        "settings",
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("value", JsonValue(), nullable=True),
        sa.Column("changed_at", Moment(), nullable=False),
        sa.ForeignKeyConstraint(["tenant"], ["tenants.name"], name=op.f("fk_settings_tenant")),
        sa.PrimaryKeyConstraint("tenant", "key", name=op.f("pk_settings")),
    )
    op.create_table(
        "users",
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("owner_id", sa.Text(), nullable=False),
        sa.Column("time_zone", sa.Text(), nullable=True),
        sa.Column("created_at", Moment(), nullable=False),
        sa.ForeignKeyConstraint(["tenant"], ["tenants.name"], name=op.f("fk_users_tenant")),
        sa.PrimaryKeyConstraint("tenant", "name", name=op.f("pk_users")),
        sa.UniqueConstraint("owner_id", name=op.f("uq_users_owner_id")),
    )
    op.create_table(
        "keys",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("agent", sa.Text(), nullable=True),
        sa.Column("capabilities", JsonValue(), nullable=False),
        sa.Column("label", sa.Text(), nullable=True),
        sa.Column("created_at", Moment(), nullable=False),
        sa.Column("expires_at", Moment(), nullable=True),
        sa.Column("revoked_at", Moment(), nullable=True),
        sa.Column("used_at", Moment(), nullable=True),
        sa.ForeignKeyConstraint(
            ["tenant", "name"], ["users.tenant", "users.name"], name=op.f("fk_keys_tenant_name")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_keys")),
        sa.UniqueConstraint("digest", name=op.f("uq_keys_digest")),
    )
