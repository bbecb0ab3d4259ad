"""Reads and writes a backup as one zip file, which is the same for every engine.

`manifest.json` holds the digest of every other member. Nothing is extracted to a path, and reading
takes no more memory than one long line, because a backup is untrusted input.
"""

from __future__ import annotations

import contextlib
import io
import os
import threading
import zipfile
import zlib
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, ValidationError

from remembrancer import __version__
from remembrancer.errors import BadBackup, InvalidInput
from remembrancer.store import dump, schema
from remembrancer.store.contract import DumpRow, Store
from remembrancer.store.faults import os_error_type
from remembrancer.store.fsync import fsync_path
from remembrancer.transfer.data_owner import DataOwner, dump_rows, list_data_owners
from remembrancer.transfer.ndjson import (
    PEOPLE,
    SYSTEM_MEMBER,
    ArchiveMember,
    LineDigest,
    encode_lines,
    member_name,
    parse_data_owner,
    parse_row,
)
from remembrancer.transfer.progress import ProgressCounter
from remembrancer.types import Owner, Tenant

MANIFEST = "manifest.json"
MAX_MANIFEST_BYTES = 64 * 1024 * 1024
MAX_LINE_BYTES = 16 * 1024 * 1024
BUFFER_SIZE = 64 * 1024
COMPRESSIONS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
ENCRYPTED_FLAG = 1


@dataclass(frozen=True, slots=True)
class Backup:
    """A backup that was read completely and verified."""

    path: Path
    created_at: datetime
    people: int
    teams: int
    team_facts: int
    rows: int
    bytes: int


class Manifest(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    format: Literal[1] = 1
    schema_revision: str
    version: str
    engine: str
    created_at: AwareDatetime
    members: tuple[ArchiveMember, ...]


class Archive:
    """An open backup; each member is verified when its last line has been read."""

    def __init__(self, path: Path, file: zipfile.ZipFile, manifest: Manifest) -> None:
        self._path = path
        self._zip = file
        self.manifest = manifest
        self.members = [one for one in manifest.members if one.name != SYSTEM_MEMBER]

    def check(self, steps: ProgressCounter) -> Backup:
        """Read and verify everything; raises `BadBackup` if anything is wrong."""
        with self.read_system_rows() as rows:
            for row in rows:
                dump.check_row(dump.SYSTEM_TABLES, row)
                _check_user_id(row)
        facts = 0
        for member in self.members:
            data_owner = self.read_data_owner(member)
            is_team = isinstance(data_owner, Tenant)
            tables = dump.TEAM_TABLES if is_team else dump.PERSONAL_TABLES
            with self.read_rows(member) as rows:
                for row in rows:
                    dump.check_row(tables, row)
                    _check_owner(row, data_owner)
                    facts += row[0] == "team_facts"
            steps.advance()
        people = sum(one.name.startswith(PEOPLE) for one in self.members)
        return Backup(
            path=self._path,
            created_at=self.manifest.created_at,
            people=people,
            teams=len(self.members) - people,
            team_facts=facts,
            rows=sum(one.rows for one in self.manifest.members),
            bytes=self._path.stat().st_size,
        )

    @contextlib.contextmanager
    def read_system_rows(self) -> Iterator[Iterator[DumpRow]]:
        """Open the rows that belong to no person or team."""
        (member,) = (one for one in self.manifest.members if one.name == SYSTEM_MEMBER)
        with contextlib.closing(self._read_lines(member)) as lines:
            yield map(parse_row, lines)

    def read_data_owner(self, member: ArchiveMember) -> DataOwner:
        with contextlib.closing(self._read_lines(member)) as lines:
            data_owner = parse_data_owner(next(lines, b""))
        if member_name(data_owner) != member.name:
            raise BadBackup(f"{self._path} is damaged: {member.name} has another owner.")
        return data_owner

    @contextlib.contextmanager
    def read_rows(self, member: ArchiveMember) -> Iterator[Iterator[DumpRow]]:
        """Open the rows of a person or team, without the line that names the owner."""
        with contextlib.closing(self._read_lines(member)) as lines:
            next(lines, None)
            yield map(parse_row, lines)

    def _read_lines(self, member: ArchiveMember) -> Generator[bytes]:
        """Yield the lines of a member; raises `BadBackup` at the end if the digest is wrong."""
        digest = LineDigest()
        with _translate_read_errors(self._path), self._zip.open(member.name) as compressed:
            with io.BufferedReader(compressed, BUFFER_SIZE) as file:  # type: ignore[type-var]
                yield from digest.digest_lines(iter(lambda: file.readline(MAX_LINE_BYTES), b""))
        if digest.to_member(member.name) != member:
            raise BadBackup(f"{self._path} is damaged: {member.name} is not as it was written.")


@contextlib.contextmanager
def open_archive(path: Path) -> Iterator[Archive]:
    """Open a backup for reading; raises `BadBackup` if the file is not one."""
    with _translate_read_errors(path):
        file = zipfile.ZipFile(path)
    with file:
        with _translate_read_errors(path):
            manifest = _read_manifest(path, file)
        _check_members(path, file, manifest)
        yield Archive(path, file, manifest)


def verify(path: Path, steps: ProgressCounter) -> Backup:
    """Read a whole backup; raises `BadBackup` if anything in it is wrong."""
    with open_archive(path) as archive:
        steps.set_total(len(archive.members))
        return archive.check(steps)


def write(store: Store, path: Path, now: datetime, steps: ProgressCounter) -> Backup:
    """Write a backup of everyone, verify it, and only then move it to `path`."""
    data_owners = list_data_owners(store)
    steps.set_total(2 * len(data_owners))
    with write_atomically(path) as draft:
        with draft.open("wb") as raw, zipfile.ZipFile(raw, "w", zipfile.ZIP_DEFLATED) as file:
            members = [write_member(file, now, SYSTEM_MEMBER, _system_lines(store))]
            for data_owner in data_owners:
                members += _write_data_owner(file, now, store, data_owner)
                steps.advance()
            manifest = Manifest(
                schema_revision=schema.HEAD,
                version=__version__,
                engine=store.check_health().engine,
                created_at=now,
                members=tuple(members),
            )
            file.writestr(build_zip_info(MANIFEST, now), manifest.model_dump_json(indent=1))
        fsync_path(draft)
        with open_archive(draft) as archive:
            checked = archive.check(steps)
    return replace(checked, path=path)


def _write_data_owner(
    file: zipfile.ZipFile, now: datetime, store: Store, data_owner: DataOwner
) -> Sequence[ArchiveMember]:
    """Write one member, or none for a user without rows."""
    with dump_rows(store, data_owner) as rows:
        first = next(rows, None)
        if first is None:
            return []
        return [
            write_member(
                file, now, member_name(data_owner), encode_lines(chain([first], rows), data_owner)
            )
        ]


def _system_lines(store: Store) -> Iterator[bytes]:
    with store.dump_system() as rows:
        yield from encode_lines(rows)


def write_member(
    file: zipfile.ZipFile, now: datetime, name: str, lines: Iterator[bytes]
) -> ArchiveMember:
    digest = LineDigest()
    with file.open(build_zip_info(name, now), "w", force_zip64=True) as member:
        with io.BufferedWriter(member, BUFFER_SIZE) as buffered:
            buffered.writelines(digest.digest_lines(lines))
    return digest.to_member(name)


def build_zip_info(name: str, now: datetime) -> zipfile.ZipInfo:
    # Times in a zip file begin in 1980.
    at = max(now.astimezone(UTC), datetime(1980, 1, 1, tzinfo=UTC))
    info = zipfile.ZipInfo(name, at.timetuple()[:6])
    info.compress_type = zipfile.ZIP_DEFLATED
    info.external_attr = 0o600 << 16
    return info


@contextlib.contextmanager
def write_atomically(path: Path) -> Iterator[Path]:
    """Yield an empty private file that replaces `path` if the block succeeds."""
    if path.is_dir():
        raise InvalidInput(f"{path} is a directory; name a file for the backup.")
    draft = path.with_name(f".{path.name}.{os.getpid()}.{threading.get_ident()}")
    try:
        os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        yield draft
        os.replace(draft, path)
        fsync_path(path.parent)
    except OSError as error:
        kind = os_error_type(error)
        raise kind(f"{path} cannot be written: {error.strerror}.") from error
    finally:
        with contextlib.suppress(OSError):
            draft.unlink(missing_ok=True)


@contextlib.contextmanager
def _translate_read_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read: {error.strerror or error}.") from error
    except (
        zipfile.BadZipFile,
        zlib.error,
        EOFError,
        NotImplementedError,  # a zip feature that Python does not support
        RuntimeError,  # a zip file with a password
        OverflowError,
        ValueError,
    ) as error:
        raise BadBackup(f"{path} is not a backup, or it is damaged: {error}.") from error


def _read_manifest(path: Path, file: zipfile.ZipFile) -> Manifest:
    if MANIFEST not in file.namelist():
        raise BadBackup(f"{path} is not a backup: it has no {MANIFEST}.")
    with file.open(MANIFEST) as compressed:
        text = compressed.read(MAX_MANIFEST_BYTES + 1)
    if len(text) > MAX_MANIFEST_BYTES:
        raise BadBackup(f"{path} is not a backup: its {MANIFEST} is too large.")
    try:
        manifest = Manifest.model_validate_json(text)
    except ValidationError as error:
        raise BadBackup(
            f"{path} is damaged, or a newer version of Remembrancer made it: "
            f"its {MANIFEST} is invalid."
        ) from error
    if manifest.schema_revision != schema.HEAD:
        raise BadBackup(
            f"{path} was made by Remembrancer {manifest.version} with schema revision "
            f"{manifest.schema_revision}; this version has {schema.HEAD}. Restore it with that "
            "version into an empty store, then open the store with this version."
        )
    return manifest


def _check_members(path: Path, file: zipfile.ZipFile, manifest: Manifest) -> None:
    """Raise `BadBackup` unless the file has exactly the members of the manifest."""
    expected = sorted([MANIFEST, *(one.name for one in manifest.members)])
    unsupported = [
        one
        for one in file.infolist()
        if one.compress_type not in COMPRESSIONS or one.flag_bits & ENCRYPTED_FLAG
    ]
    if unsupported or sorted(file.namelist()) != expected or len(set(expected)) != len(expected):
        raise BadBackup(f"{path} is damaged: its members do not match its manifest.")
    if SYSTEM_MEMBER not in expected:
        raise BadBackup(f"{path} is damaged: {SYSTEM_MEMBER} is missing.")


def _check_user_id(row: DumpRow) -> None:
    table, columns = row
    if table == "users":
        owner = Owner(str(columns["tenant"]), str(columns["name"]))
        if owner.id != columns["owner_id"]:
            raise BadBackup("A user in the backup has the id of another user.")


def _check_owner(row: DumpRow, data_owner: DataOwner) -> None:
    table, columns = row
    if isinstance(data_owner, Tenant) or table != "owners":
        return
    if (columns["tenant"], columns["name"]) != (data_owner.tenant, data_owner.user):
        raise BadBackup("A person in the backup has the name of another person.")
