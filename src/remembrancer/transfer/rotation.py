"""The backups that are made by themselves: what they are called, and which of them stay."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path

from remembrancer.errors import InvalidInput, StoreUnavailable
from remembrancer.store.contract import Store
from remembrancer.transfer import archive
from remembrancer.transfer.archive import Backup
from remembrancer.transfer.progress import Steps

NAME = re.compile(r"remembrancer-\d{8}T\d{6}Z\.zip")


def name_at(now: datetime) -> str:
    """The name of a backup made at a moment; the order of names is that of time."""
    return f"remembrancer-{now.astimezone(UTC):%Y%m%dT%H%M%SZ}.zip"


def add(store: Store, shelf: Path, now: datetime, kept: int) -> Backup:
    """Make one more, and remove the oldest beyond how many are kept; other files are left alone."""
    if store.health().place == "memory":
        raise InvalidInput("What vanishes is not kept by itself; give a file to write it to.")
    try:
        shelf.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise StoreUnavailable(f"{shelf} cannot be used: {error.strerror}.") from error
    made = archive.write(store, shelf / name_at(now), now, Steps())
    for old in _backups(shelf)[:-kept]:
        old.unlink(missing_ok=True)
    return made


def _backups(shelf: Path) -> list[Path]:
    return sorted(one for one in shelf.iterdir() if NAME.fullmatch(one.name) and one.is_file())
