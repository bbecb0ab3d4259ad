"""The schema, described once for both engines.

Three families that never join: personal tables (keys start with `owner_id`), team tables (keys
start with `tenant_id`) and system tables. Foreign keys stay within one owner or tenant, the
database never sets anything to null, and there are no triggers.
"""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import (
    Boolean,
    CheckConstraint,
    Column,
    Float,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    PrimaryKeyConstraint,
    Table,
    Text,
    UniqueConstraint,
    text,
)
from sqlalchemy.sql.schema import SchemaItem

from remembrancer.store.columns import JsonValue, Moment, Vector
from remembrancer.types import Kind

NAMING_CONVENTION = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s",
    "pk": "pk_%(table_name)s",
}

personal = MetaData(naming_convention=NAMING_CONVENTION)
team = MetaData(naming_convention=NAMING_CONVENTION)
system = MetaData(naming_convention=NAMING_CONVENTION)

ACTIVE_KEY = text("status = 'active' AND subject IS NOT NULL AND predicate IS NOT NULL")


def personal_table(name: str, *items: SchemaItem, key: tuple[str, ...] = ("id",)) -> Table:
    return _partitioned_table(name, personal, "owner", items, key)


def team_table(name: str, *items: SchemaItem, key: tuple[str, ...] = ("id",)) -> Table:
    return _partitioned_table(name, team, "tenant", items, key)


def _partitioned_table(
    name: str, family: MetaData, part: str, items: Iterable[SchemaItem], key: tuple[str, ...]
) -> Table:
    """A table whose keys start with the owner or tenant; it has an `id` if that is its key."""
    return Table(
        name,
        family,
        Column(f"{part}_id", Text, nullable=False),
        *([Column("id", Text, nullable=False)] if key == ("id",) else []),
        *items,
        PrimaryKeyConstraint(f"{part}_id", *key),
        CheckConstraint(f"{part}_id <> ''", name=part),
    )


def within_owner(column: str, target: str) -> ForeignKeyConstraint:
    """A foreign key that cannot leave the owner."""
    return ForeignKeyConstraint(["owner_id", column], [f"{target}.owner_id", f"{target}.id"])


def within_tenant(column: str, target: str) -> ForeignKeyConstraint:
    """A foreign key that cannot leave the tenant."""
    return ForeignKeyConstraint(["tenant_id", column], [f"{target}.tenant_id", f"{target}.id"])


def memory_table(name: str, *items: SchemaItem, versioned: bool = True) -> Table:
    """A table of memories: the common columns and its own; `changes` adds those of versions."""
    indexes = (
        Index(f"ix_{name}_fingerprint", "owner_id", "fingerprint"),
        Index(f"ix_{name}_supersedes", "owner_id", "supersedes"),
        Index(f"ix_{name}_lineage", "owner_id", "lineage"),
        Index(f"ix_{name}_session", "owner_id", "session_id"),
        Index(f"ix_{name}_expires", "owner_id", "expires_at"),
    )
    return personal_table(
        name,
        Column("content", Text, nullable=False),
        Column("fingerprint", Text, nullable=False),
        Column("scope", Text, nullable=False),
        Column("status", Text, nullable=False),
        Column("importance", Float, nullable=False),
        Column("confidence", Float, nullable=False),
        Column("permanence", Text, nullable=False),
        Column("source", Text, nullable=False),
        Column("tainted", Boolean, nullable=False),
        Column("agent", Text),
        Column("surface", Text, nullable=False),
        Column("session_id", Text),
        Column("evidence", JsonValue, nullable=False),
        Column("tags", JsonValue, nullable=False),
        Column("metadata", JsonValue, nullable=False),
        Column("supersedes", Text),
        Column("lineage", Text, nullable=False),
        Column("valid_from", Moment, nullable=False),
        Column("valid_until", Moment),
        Column("recorded_at", Moment, nullable=False),
        Column("retired_at", Moment),
        Column("expires_at", Moment),
        Column("ttl_days", Float),
        Column("confirmed_at", Moment, nullable=False),
        Column("recalled_at", Moment),
        Column("recall_count", Integer, nullable=False),
        *items,
        within_owner("id", "documents"),
        within_owner("supersedes", name),
        CheckConstraint("confidence BETWEEN 0 AND 1", name="confidence"),
        Index(f"ix_{name}_recorded", "owner_id", "status", "recorded_at", "id"),
        *(indexes if versioned else ()),
    )


owners = personal_table(
    "owners",
    Column("tenant", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("documents_added", Integer, nullable=False),
    Column("documents_removed", Integer, nullable=False),
    Column("vectors_added", Integer, nullable=False),
    key=(),
)
"""Names of the owner, and counters that tell each process what its indexes have not seen."""

documents = personal_table(
    "documents",
    Column("number", Integer, nullable=False),
    Column("kind", Text, nullable=False),
    Column("codes", LargeBinary, nullable=False),
    Column("marks", Integer, nullable=False),
    Index("ix_documents_number", "owner_id", "number"),
)
"""One row per memory of any kind: its terms for the index, and the target of references."""

embeddings = personal_table(
    "embeddings",
    Column("memory_id", Text, nullable=False),
    Column("model", Text, nullable=False),
    Column("part", Integer, nullable=False),
    Column("number", Integer, nullable=False),
    Column("marks", Integer, nullable=False),
    Column("crowded", Boolean, nullable=False),
    Column("vector", Vector, nullable=False),
    within_owner("memory_id", "documents"),
    Index("ix_embeddings_number", "owner_id", "model", "number"),
    key=("memory_id", "model", "part"),
)
"""One vector per memory, or per sentence of a long one; crowded ones are not kept in memory."""

facts = memory_table(
    "facts",
    Column("category", Text, nullable=False),
    Column("subject", Text),
    Column("predicate", Text),
    Column("summary", Text),
    Column("body", Text),
    Index(
        "uq_facts_active_key",
        "owner_id",
        "scope",
        "subject",
        "predicate",
        unique=True,
        sqlite_where=ACTIVE_KEY,  # PostgreSQL's condition is in its migration
    ),
)

rules = memory_table(
    "rules",
    Column("maturity", Text, nullable=False),
    Column("applied_count", Integer, nullable=False),
    Column("success_count", Integer, nullable=False),
    Column("harmful_count", Integer, nullable=False),
    Column("applied_at", Moment),
)

episodes = memory_table(
    "episodes",
    Column("backlog", Text, nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("leased_until", Moment),
    Column("failure", Text),
    Index("ix_episodes_backlog", "owner_id", "backlog", "recorded_at"),
)

rule_applications = personal_table(
    "rule_applications",
    Column("rule_id", Text, nullable=False),
    Column("verdict", Text, nullable=False),
    Column("reason", Text),
    Column("agent", Text),
    Column("session_id", Text),
    Column("applied_at", Moment, nullable=False),
    Column("withdrawn", Boolean, nullable=False),
    within_owner("rule_id", "rules"),
    Index("ix_rule_applications_rule", "owner_id", "rule_id", "applied_at"),
)

states = personal_table(
    "states",
    Column("memory_id", Text, nullable=False),
    Column("number", Integer, nullable=False),
    Column("status", Text, nullable=False),
    Column("valid_until", Moment),
    Column("since", Moment, nullable=False),
    Column("until", Moment, nullable=False),
    within_owner("memory_id", "documents"),
    key=("memory_id", "number"),
)
"""Past states of memories; with the state in the row itself, they form the transaction time."""

links = personal_table(
    "links",
    Column("source", Text, nullable=False),
    Column("target", Text, nullable=False),
    Column("relation", Text, nullable=False),
    Column("created_at", Moment, nullable=False),
    within_owner("source", "documents"),
    within_owner("target", "documents"),
    Index("ix_links_target", "owner_id", "target"),
    key=("source", "target", "relation"),
)

sessions = personal_table(
    "sessions",
    Column("scope", Text, nullable=False),
    Column("surface", Text, nullable=False),
    Column("status", Text, nullable=False),
    Column("title", Text),
    Column("summary", Text),
    Column("summarised", Integer, nullable=False),
    Column("watermark", Integer, nullable=False),
    Column("due_at", Moment),
    Column("attempts", Integer, nullable=False),
    Column("leased_until", Moment),
    Column("failure", Text),
    Column("started_at", Moment, nullable=False),
    Column("active_at", Moment, nullable=False),
    Column("metadata", JsonValue, nullable=False),
    Index("ix_sessions_active", "owner_id", "status", "active_at"),
    Index("ix_sessions_due", "owner_id", "due_at"),
)
"""Sessions; those with a due time form the queue of learning."""

turns = memory_table(
    "turns",
    Column("position", Integer, nullable=False),
    Column("role", Text, nullable=False),
    Column("speaker", Text),
    Column("origin", Text, nullable=False),
    UniqueConstraint("owner_id", "session_id", "position"),
    within_owner("session_id", "sessions"),
    versioned=False,
)

rejections = personal_table(
    "rejections",
    Column("at", Moment, nullable=False),
    Column("session_id", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Column("content", Text, nullable=False),
    Column("quote", Text, nullable=False),
    Column("turns", JsonValue, nullable=False),
    within_owner("session_id", "sessions"),
    Index("ix_rejections_at", "owner_id", "at", "id"),
    Index("ix_rejections_session", "owner_id", "session_id"),
)
"""Rejected candidates and the reasons; kept for some days for review."""

answers = personal_table(
    "answers",
    Column("key", Text, nullable=False),
    Column("request", Text, nullable=False),
    Column("at", Moment, nullable=False),
    Column("status", Integer),
    Column("headers", JsonValue, nullable=False),
    Column("body", Text, nullable=False),
    Index("ix_answers_at", "owner_id", "at"),
    key=("key",),
)
"""Responses by Idempotency-Key; kept for a day, and never in a backup."""

events = personal_table(
    "events",
    Column("at", Moment, nullable=False),
    Column("action", Text, nullable=False),
    Column("agent", Text),
    Column("surface", Text, nullable=False),
    Column("note", Text),
    Column("undoes", Text),
    Column("undone_by", Text),
    Column("batch_id", Text),
    Index("ix_events_at", "owner_id", "at", "id"),
)

changes = personal_table(
    "changes",
    Column("event_id", Text, nullable=False),
    Column("number", Integer, nullable=False),
    Column("memory_id", Text, nullable=False),
    Column("before", JsonValue),
    Column("after", JsonValue),
    within_owner("event_id", "events"),
    Index("ix_changes_memory", "owner_id", "memory_id"),
    key=("event_id", "number"),
)
"""The changes of each event; they outlive the memory, so they reference no document."""

agents = personal_table(
    "agents",
    Column("name", Text, nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("settings", JsonValue, nullable=False),
    key=("name",),
)

teams = team_table("teams", Column("version", Integer, nullable=False), key=())
"""A version that tells each process when its team index is out of date."""

team_keys = team_table("team_keys", Column("key", LargeBinary, nullable=False), key=())
"""Keys for hashing contributors; recall cannot read them."""

team_facts = team_table(
    "team_facts",
    Column("kind", Text, nullable=False),
    Column("content", Text, nullable=False),
    Column("fingerprint", Text, nullable=False),
    Column("status", Text, nullable=False),
    Column("origin", Text, nullable=False),
    Column("importance", Float, nullable=False),
    Column("confidence", Float, nullable=False),
    Column("recall_count", Integer, nullable=False),
    Column("recorded_at", Moment, nullable=False),
    Column("confirmed_at", Moment, nullable=False),
    Column("decided_at", Moment),
    Index("ix_team_facts_status", "tenant_id", "status", "recorded_at", "id"),
    Index("ix_team_facts_fingerprint", "tenant_id", "fingerprint"),
)

team_states = team_table(
    "team_states",
    Column("fact_id", Text, nullable=False),
    Column("number", Integer, nullable=False),
    Column("content", Text, nullable=False),
    Column("importance", Float, nullable=False),
    Column("confidence", Float, nullable=False),
    Column("since", Moment, nullable=False),
    Column("until", Moment, nullable=False),
    within_tenant("fact_id", "team_facts"),
    key=("fact_id", "number"),
)
"""What was approved before a decision or an edit; with the fact itself, its transaction time."""

team_embeddings = team_table(
    "team_embeddings",
    Column("fact_id", Text, nullable=False),
    Column("model", Text, nullable=False),
    Column("vector", Vector, nullable=False),
    within_tenant("fact_id", "team_facts"),
    key=("fact_id", "model"),
)

team_contributions = team_table(
    "team_contributions",
    Column("fact_id", Text, nullable=False),
    Column("contributor", Text, nullable=False),
    Column("contributed_at", Moment, nullable=False),
    within_tenant("fact_id", "team_facts"),
    Index("ix_team_contributions_contributor", "tenant_id", "contributor"),
    key=("fact_id", "contributor"),
)
"""Contributors of team facts, as keyed hashes; read for corroboration and erasure, not for recall.
"""

team_conflicts = team_table(
    "team_conflicts",
    Column("first_id", Text, nullable=False),
    Column("second_id", Text, nullable=False),
    Column("noticed_at", Moment, nullable=False),
    within_tenant("first_id", "team_facts"),
    within_tenant("second_id", "team_facts"),
    key=("first_id", "second_id"),
)

team_activity = team_table(
    "team_activity",
    Column("day", Text, nullable=False),
    Column("origin", Text, nullable=False),
    Column("outcome", Text, nullable=False),
    Column("number", Integer, nullable=False),
    key=("day", "origin", "outcome"),
)
"""Counts of proposals, without content or contributors."""

tenants = Table(
    "tenants",
    system,
    Column("name", Text, primary_key=True),
    Column("created_at", Moment, nullable=False),
)

users = Table(
    "users",
    system,
    Column("tenant", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("owner_id", Text, nullable=False, unique=True),
    Column("time_zone", Text),
    Column("created_at", Moment, nullable=False),
    PrimaryKeyConstraint("tenant", "name"),
    ForeignKeyConstraint(["tenant"], ["tenants.name"]),
)

keys = Table(
    "keys",
    system,
    Column("id", Text, primary_key=True),
    Column("digest", Text, nullable=False, unique=True),
    Column("tenant", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("agent", Text),
    Column("capabilities", JsonValue, nullable=False),
    Column("label", Text),
    Column("created_at", Moment, nullable=False),
    Column("expires_at", Moment),
    Column("revoked_at", Moment),
    Column("used_at", Moment),
    ForeignKeyConstraint(["tenant", "name"], ["users.tenant", "users.name"]),
)

settings = Table(
    "settings",
    system,
    Column("tenant", Text, nullable=False),
    Column("key", Text, nullable=False),
    Column("value", JsonValue),
    Column("changed_at", Moment, nullable=False),
    PrimaryKeyConstraint("tenant", "key"),
    ForeignKeyConstraint(["tenant"], ["tenants.name"]),
)

leases = Table(
    "leases",
    system,
    Column("name", Text, primary_key=True),
    Column("holder", Text),
    Column("held_until", Moment),
    Column("finished_at", Moment),
)
"""The process that runs a job, so that no two run it at once."""

erasures = Table(
    "erasures",
    system,
    Column("id", Text, primary_key=True),
    Column("tenant", Text, nullable=False),
    Column("mark", Text, nullable=False),
    Column("begun_at", Moment, nullable=False),
    Column("contributions_only", Boolean, nullable=False),
    Column("name", Text),
    Column("traces", JsonValue, nullable=False),
    Column("removed", JsonValue, nullable=False),
    Column("finished_at", Moment),
)
"""Erasures with a keyed mark of the person; their name only until it is finished."""

FAMILIES = {"personal": personal, "team": team, "system": system}
MEMORY_TABLES = {Kind.FACT: facts, Kind.RULE: rules, Kind.EPISODE: episodes, Kind.TURN: turns}
