"""The backups that are made by themselves: what they are called, and which of them stay."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path

from remembrancer.errors import InvalidInput, StoreUnavailable
from remembrancer.store.contract import Store
from remembrancer.transfer import archive
from remembrancer.transfer.archive import Backup
from remembrancer.transfer.progress import ProgressCounter

BACKUP_NAME_PATTERN = re.compile(r"remembrancer-\d{8}T\d{6}Z\.zip")


def backup_name(now: datetime) -> str:
    """The name of a backup made at a moment; the order of names is that of time."""
    return f"remembrancer-{now.astimezone(UTC):%Y%m%dT%H%M%SZ}.zip"


def add_backup(store: Store, directory: Path, now: datetime, retention: int) -> Backup:
    """Make one more, and remove the oldest beyond how many are kept; other files are left alone."""
    if store.check_health().place == "memory":
        raise InvalidInput("What vanishes is not kept by itself; give a file to write it to.")
    try:
        directory.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise StoreUnavailable(f"{directory} cannot be used: {error.strerror}.") from error
    made = archive.write(store, directory / backup_name(now), now, ProgressCounter())
    for old in _list_backups(directory)[:-retention]:
        old.unlink(missing_ok=True)
    return made


def _list_backups(directory: Path) -> list[Path]:
    return sorted(
        one
        for one in directory.iterdir()
        if BACKUP_NAME_PATTERN.fullmatch(one.name) and one.is_file()
    )
