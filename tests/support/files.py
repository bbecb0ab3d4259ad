"""All bytes that a store has in its files."""

from __future__ import annotations

import zipfile
from pathlib import Path

from sqlalchemy import create_engine, text


def bytes_below(path: Path) -> bytes:
    """Everything in the files below a directory, archives unpacked."""
    found = []
    for one in sorted(path.rglob("*")):
        if one.is_file():
            found.append(one.name.encode() + one.read_bytes())
            if zipfile.is_zipfile(one):
                with zipfile.ZipFile(one) as archive:
                    found += [archive.read(name) for name in archive.namelist()]
    return b"\n".join(found)


def bytes_of(place: str) -> bytes:
    """What an engine has in its files: of PostgreSQL, those of tables and indexes."""
    if not place.startswith("postgresql"):
        return bytes_below(Path(place))
    engine = create_engine(place.replace("postgresql://", "postgresql+psycopg://"))
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text("CHECKPOINT"))
        data = connection.execute(text("SHOW data_directory")).scalar_one()
    engine.dispose()
    return bytes_below(Path(data) / "base")
