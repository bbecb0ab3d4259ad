"""Who may do what in PostgreSQL: the application's role, and row security that binds it."""

from __future__ import annotations

from collections.abc import Callable, Iterable

APP_ROLE = "remembrancer_app"
"""The role every statement of the application runs as: it owns nothing and bypasses nothing."""

TEAM_RECALL_ROLE = "remembrancer_team_recall"
"""The role that recalls what a team knows, and can see nothing of who said it."""

TEAM_WRITER_ROLE = "remembrancer_team_desk"
"""The role that takes in, corroborates and reviews what a team knows."""

ROLES = (APP_ROLE, TEAM_RECALL_ROLE, TEAM_WRITER_ROLE)

Execute = Callable[[str], object]


def create_roles(execute: Execute) -> None:
    """Create our roles unless the server has them: roles belong to all its databases.

    Whoever may be the application may become the others, and has nothing of theirs before.
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
    """Let the application see only the rows whose `column` its transaction has named.

    With nothing named the setting is NULL, or '' once a SET LOCAL has ended; neither equals a key,
    because an empty key is forbidden by a check on every table.
    """
    for table in tables:
        own = f"{column} = current_setting('app.{column}', true)"
        execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY")
        execute(f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY")
        execute(f"CREATE POLICY {table}_{column} ON {table} USING ({own}) WITH CHECK ({own})")
        grant(execute, (table,))


def grant_maintain(execute: Execute, tables: Iterable[str]) -> None:
    """Let the application rewrite tables after an erasure, where the server knows that right."""
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
    """Let a role, by default the application's, use tables."""
    for table in tables:
        execute(f"GRANT {privileges} ON {table} TO {role}")
