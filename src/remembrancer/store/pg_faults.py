"""Translates errors of PostgreSQL into ours, without the address, which has a password in it."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator

import psycopg
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from remembrancer.errors import (
    OutcomeUnknown,
    StoreBusy,
    StoreDamaged,
    StoreFull,
    StoreReadOnly,
    StoreUnavailable,
)

NO_ANSWER = "The PostgreSQL server does not answer. Check store.url and that it is running."
LOST = "The connection to PostgreSQL was lost. Nothing was stored. Try again."
READ_ONLY = (
    "The PostgreSQL database is read-only, as on a standby. Nothing was stored. Name the primary "
    "server in store.url."
)

ERROR_BY_STATE: tuple[tuple[str, type[StoreUnavailable], str], ...] = (
    (
        "53100",
        StoreFull,
        "The disk of the PostgreSQL server is full. Nothing was stored. Free some space there and "
        "try again.",
    ),
    ("53200", StoreBusy, "The PostgreSQL server is out of memory. Nothing was stored. Try again."),
    (
        "53",
        StoreBusy,
        "The PostgreSQL server has no connection left. Try again, or raise its max_connections.",
    ),
    ("25006", StoreReadOnly, READ_ONLY),
    ("57014", StoreBusy, "PostgreSQL cancelled a statement that took too long. Try again."),
    ("57P", StoreUnavailable, "The PostgreSQL server is shutting down or starting. Try again."),
    ("40", StoreBusy, "Another transaction was in the way. Nothing was stored. Try again."),
    ("55P03", StoreBusy, "Another transaction has held a lock for too long. Try again."),
    (
        "XX00",
        StoreDamaged,
        "PostgreSQL reports that a table or an index of the database is damaged. Look at the "
        "server's log, and restore the database from a backup.",
    ),
    (
        "58",
        StoreUnavailable,
        "The PostgreSQL server failed to read or write its files. Look at the server's log.",
    ),
    ("28", StoreUnavailable, "PostgreSQL refuses the login. Check user and password in store.url."),
    ("3D000", StoreUnavailable, "There is no such PostgreSQL database. Check store.url."),
    ("08", StoreUnavailable, NO_ANSWER),
)
"""Classes and messages by the beginning of an SQLSTATE."""

STATE_BY_WORDS = (
    (re.compile("too many clients|too many connections|connection slots are reserved"), "53300"),
    (re.compile("is starting up|is shutting down|in recovery mode"), "57P03"),
    (re.compile("authentication failed|no pg_hba.conf entry"), "28000"),
    (re.compile('database ".*" does not exist'), "3D000"),
)
"""For refusals of a connection, whose SQLSTATE the driver does not tell."""


@contextlib.contextmanager
def translate_errors() -> Iterator[None]:
    """Translate every error that the server, the connection or the pool is to blame for."""
    try:
        yield
    except PoolTimeout as error:
        raise StoreBusy(
            "All connections to PostgreSQL have been in use for too long. Try again, or raise "
            "store.pool_size."
        ) from error
    except (DBAPIError, psycopg.Error) as error:
        if (found := _translate_error(error)) is None:
            raise
        raise found from error


@contextlib.contextmanager
def translate_commit_errors() -> Iterator[None]:
    """A commit whose confirmation is lost may have been carried out."""
    try:
        yield
    except (DBAPIError, psycopg.Error) as error:
        if not _is_lost(error):
            raise
        raise outcome_unknown_error() from error


def outcome_unknown_error() -> OutcomeUnknown:
    return OutcomeUnknown(
        "The connection to PostgreSQL was lost before it confirmed the change: it is stored "
        "completely or not at all. Look before you repeat it."
    )


def _translate_error(error: DBAPIError | psycopg.Error) -> StoreUnavailable | None:
    state = _state_of(error)
    if state is None:
        if not _is_lost(error):
            return None
        was_connected = isinstance(error, DBAPIError) and error.connection_invalidated
        return StoreUnavailable(LOST if was_connected else NO_ANSWER)
    for start, kind, message in ERROR_BY_STATE:
        if state.startswith(start):
            return kind(message)
    return None


def _state_of(error: DBAPIError | psycopg.Error) -> str | None:
    original = error.orig if isinstance(error, DBAPIError) else error
    state: str | None = getattr(original, "sqlstate", None)
    if state is None and isinstance(original, psycopg.OperationalError):
        words = str(original)
        return next((one for pattern, one in STATE_BY_WORDS if pattern.search(words)), None)
    return state


def _is_lost(error: DBAPIError | psycopg.Error) -> bool:
    """True if the connection failed: no server has said what happened."""
    original = error.orig if isinstance(error, DBAPIError) else error
    state = getattr(original, "sqlstate", None)
    if state is None:
        return isinstance(original, psycopg.OperationalError | psycopg.InterfaceError)
    return str(state).startswith(("08", "57P"))
