"""Who may do what in PostgreSQL: the application's role, and row security that binds it."""

from __future__ import annotations

from collections.abc import Callable, Iterable

ROLE = "remembrancer_app"
"""The role every statement of the application runs as: it owns nothing and bypasses nothing."""

Execute = Callable[[str], object]


def create_role(execute: Execute) -> None:
    """Create the application's role unless the server has it: roles belong to all its databases."""
    execute(
        f"DO $$ BEGIN CREATE ROLE {ROLE} NOLOGIN NOBYPASSRLS; "
        "EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$"
    )
    execute(f"GRANT {ROLE} TO CURRENT_USER")


def protect(execute: Execute, column: str, tables: Iterable[str]) -> None:
    """Let the application see only the rows whose `column` its transaction has named.

    With nothing named the setting is NULL, or '' once a SET LOCAL has ended; neither equals a key,
    because an empty key is forbidden by a check on every table.
    """
    for table in tables:
        own = f"{column} = current_setting('app.{column}', true)"
        execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY")
        execute(f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY")
        execute(f"CREATE POLICY {table}_{column} ON {table} USING ({own}) WITH CHECK ({own})")
        share(execute, (table,))


def share(
    execute: Execute, tables: Iterable[str], what: str = "SELECT, INSERT, UPDATE, DELETE"
) -> None:
    """Let the application use tables."""
    for table in tables:
        execute(f"GRANT {what} ON {table} TO {ROLE}")
