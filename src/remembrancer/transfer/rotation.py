"""Scheduled backups: their file names and how many are kept."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

from remembrancer.environment import create_private_directory
from remembrancer.errors import InvalidInput
from remembrancer.store.contract import Store
from remembrancer.store.faults import os_error_type
from remembrancer.transfer import archive
from remembrancer.transfer.archive import Backup
from remembrancer.transfer.progress import ProgressCounter

BACKUP_NAME_PATTERN = re.compile(r"remembrancer-\d{8}T\d{6}Z\.zip")


def backup_name(now: datetime) -> str:
    """Return the file name of a backup; names sort by time."""
    return f"remembrancer-{now.astimezone(UTC):%Y%m%dT%H%M%SZ}.zip"


def add_backup(store: Store, directory: Path, now: datetime, retention: int) -> Backup:
    """Write a backup and delete the oldest ones beyond `retention`; other files stay."""
    if store.check_health().place == "memory":
        raise InvalidInput("A store in memory has no scheduled backups; give a file to write to.")
    try:
        create_private_directory(directory)
    except OSError as error:
        kind = os_error_type(error)
        raise kind(f"{directory} cannot be used: {error.strerror}.") from error
    backup = archive.write(store, directory / backup_name(now), now, ProgressCounter())
    for old in _sort_by_use(list_backups(directory), backup_name(now))[:-retention]:
        old.unlink(missing_ok=True)
    return backup


def _sort_by_use(backups: Iterable[Path], newest: str) -> list[Path]:
    """The backups to delete first come first; before all others, those dated after the newest."""
    return sorted(backups, key=lambda one: (one.name <= newest, one.name))


def list_backups(directory: Path) -> list[Path]:
    """Return the scheduled backups in a directory, oldest first."""
    return sorted(
        one
        for one in directory.iterdir()
        if BACKUP_NAME_PATTERN.fullmatch(one.name) and one.is_file()
    )
