"""PostgreSQL roles, grants and row security policies."""

from __future__ import annotations

from collections.abc import Callable, Iterable

APP_ROLE = "remembrancer_app"
"""The role that runs every statement of the application; it owns nothing and bypasses nothing."""

TEAM_RECALL_ROLE = "remembrancer_team_recall"
"""The role that recalls team facts; it cannot read contributors."""

TEAM_WRITER_ROLE = "remembrancer_team_desk"
"""The role that stores, corroborates and reviews team facts."""

ROLES = (APP_ROLE, TEAM_RECALL_ROLE, TEAM_WRITER_ROLE)

Execute = Callable[[str], object]


def create_roles(execute: Execute) -> None:
    """Create the roles unless the server has them; roles are shared by all its databases.

    A member of the application's role can switch to the others, but inherits nothing from them.
    """
    for role in ROLES:
        execute(
            f"DO $$ BEGIN CREATE ROLE {role} NOLOGIN NOBYPASSRLS; "
            "EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$"
        )
        execute(f"GRANT {role} TO CURRENT_USER")
    for role in (TEAM_RECALL_ROLE, TEAM_WRITER_ROLE):
        execute(f"GRANT {role} TO {APP_ROLE} WITH INHERIT FALSE, SET TRUE")


def enable_row_security(execute: Execute, column: str, tables: Iterable[str]) -> None:
    """Restrict the application to rows whose `column` equals the setting of its transaction.

    Without a setting it is NULL, or '' after a SET LOCAL has ended. Neither equals a key, because
    every table has a check against empty keys.
    """
    for table in tables:
        own = f"{column} = current_setting('app.{column}', true)"
        execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY")
        execute(f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY")
        execute(f"CREATE POLICY {table}_{column} ON {table} USING ({own}) WITH CHECK ({own})")
        grant(execute, (table,))


def grant_maintain(execute: Execute, tables: Iterable[str]) -> None:
    """Let the application rewrite tables after an erasure, if the server has the MAINTAIN
    privilege.
    """
    for table in tables:
        execute(
            "DO $$ BEGIN IF current_setting('server_version_num')::int >= 170000 THEN "
            f"GRANT MAINTAIN ON {table} TO {APP_ROLE}; END IF; END $$"
        )


def grant(
    execute: Execute,
    tables: Iterable[str],
    privileges: str = "SELECT, INSERT, UPDATE, DELETE",
    role: str = APP_ROLE,
) -> None:
    for table in tables:
        execute(f"GRANT {privileges} ON {table} TO {role}")
