"""Reads the schema revision and upgrades it. Alembic is imported only for an upgrade."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import Connection, text

from remembrancer.errors import SchemaTooNew

HEAD = "0010"
MIGRATIONS = Path(__file__).with_name("migrations")
VERSIONS = MIGRATIONS / "versions"
FAMILIES = frozenset({"personal", "team", "system"})


def is_current(connection: Connection, place: str) -> bool:
    """True if the schema is the one of this version, False if it must be upgraded.

    Raises SchemaTooNew for a revision that this version does not know; nothing is changed.
    """
    revision = read_revision(connection)
    if revision not in (None, HEAD) and not list(VERSIONS.glob(f"{revision}_*.py")):
        raise SchemaTooNew(
            f"{place} has schema revision {revision}, and this version of Remembrancer knows those "
            f"up to {HEAD}: a newer version wrote it. Nothing was changed. Install that version "
            "again, or restore a backup from before the upgrade."
        )
    return revision == HEAD


def ensure_current(connection: Connection, *families: str) -> None:
    """Upgrade if needed, in the caller's transaction, which must be the only writer."""
    if read_revision(connection) != HEAD:
        upgrade(connection, frozenset(families))


def read_revision(connection: Connection) -> str | None:
    """The revision of a database, or None if it is empty."""
    if connection.dialect.name == "sqlite":
        query = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'alembic_version'"
        present = connection.exec_driver_sql(query).first()
    else:
        present = connection.execute(text("SELECT to_regclass('alembic_version')")).scalar()
    if not present:
        return None
    return connection.execute(text("SELECT version_num FROM alembic_version")).scalar()


def upgrade(connection: Connection, families: frozenset[str], to: str = "head") -> None:
    """Run the missing migrations for the families of tables in this database."""
    from alembic.config import Config
    from alembic.runtime.environment import EnvironmentContext
    from alembic.script import ScriptDirectory

    script = ScriptDirectory(str(MIGRATIONS))
    environment = EnvironmentContext(
        Config(), script, fn=lambda now, _: script._upgrade_revs(to, now), destination_rev=to
    )
    with environment:
        environment.configure(connection=connection)
        environment.run_migrations(families=families)
