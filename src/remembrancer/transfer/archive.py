"""A backup as one zip file, the same for every engine: written at once, read with suspicion.

`manifest.json` says what the other members add up to. Nothing is ever extracted to a path, and
whatever the file claims, reading it takes no more memory than a long line.
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
from remembrancer.errors import BadBackup, InvalidInput, StoreUnavailable
from remembrancer.store import dump, schema
from remembrancer.store.contract import DumpRow, Store
from remembrancer.store.fsync import fsync_path
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
from remembrancer.transfer.whose import DataOwner, dump_rows, list_data_owners
from remembrancer.types import Owner, Tenant

MANIFEST = "manifest.json"
LONGEST_MANIFEST = 64 * 1024 * 1024
MAX_LINE_BYTES = 16 * 1024 * 1024
BUFFER_SIZE = 64 * 1024
COMPRESSIONS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
ENCRYPTED_FLAG = 1


@dataclass(frozen=True, slots=True)
class Backup:
    """A backup that was read from its beginning to its end and is sound."""

    path: Path
    created_at: datetime
    people: int
    teams: int
    team_facts: int
    rows: int
    bytes: int


class Manifest(BaseModel):
    """What a backup says about itself."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: Literal[1] = 1
    schema_revision: str
    version: str
    engine: str
    created_at: AwareDatetime
    members: tuple[ArchiveMember, ...]


class Archive:
    """An open backup. Whatever is read from it has been checked when the reading ends."""

    def __init__(self, path: Path, file: zipfile.ZipFile, manifest: Manifest) -> None:
        self._path = path
        self._zip = file
        self.manifest = manifest
        self.members = [one for one in manifest.members if one.name != SYSTEM_MEMBER]

    def check(self, steps: ProgressCounter) -> Backup:
        """Read everything, or say what is wrong."""
        with self.read_system_rows() as rows:
            for row in rows:
                dump.check_row(dump.SYSTEM_TABLES, row)
                _check_user_id(row)
        facts = 0
        for member in self.members:
            whose = self.read_data_owner(member)
            known = dump.TEAM_TABLES if isinstance(whose, Tenant) else dump.PERSONAL_TABLES
            with self.read_rows(member) as rows:
                for row in rows:
                    dump.check_row(known, row)
                    _check_owner(row, whose)
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
        """The rows of the small tables."""
        (member,) = (one for one in self.manifest.members if one.name == SYSTEM_MEMBER)
        with contextlib.closing(self._read_lines(member)) as lines:
            yield map(parse_row, lines)

    def read_data_owner(self, member: ArchiveMember) -> DataOwner:
        """The person or the team that a member holds."""
        with contextlib.closing(self._read_lines(member)) as lines:
            whose = parse_data_owner(next(lines, b""))
        if member_name(whose) != member.name:
            raise BadBackup(f"{self._path}: a person or a team is not where they belong.")
        return whose

    @contextlib.contextmanager
    def read_rows(self, member: ArchiveMember) -> Iterator[Iterator[DumpRow]]:
        """The rows of a person or a team, after the line that says who they are."""
        with contextlib.closing(self._read_lines(member)) as lines:
            next(lines, None)
            yield map(parse_row, lines)

    def _read_lines(self, member: ArchiveMember) -> Generator[bytes]:
        """The lines of a member; at its end it is an error if they are not what was written."""
        found = LineDigest()
        with _translate_read_errors(self._path), self._zip.open(member.name) as pressed:
            with io.BufferedReader(pressed, BUFFER_SIZE) as file:  # type: ignore[type-var]
                yield from found.digest_lines(iter(lambda: file.readline(MAX_LINE_BYTES), b""))
        if found.to_member(member.name) != member:
            raise BadBackup(f"{self._path} is damaged: {member.name} is not as it was written.")


@contextlib.contextmanager
def open_archive(path: Path) -> Iterator[Archive]:
    """A backup to read from; a file that is none is refused."""
    with _translate_read_errors(path):
        file = zipfile.ZipFile(path)
    with file:
        with _translate_read_errors(path):
            manifest = _read_manifest(path, file)
        _check_members(path, file, manifest)
        yield Archive(path, file, manifest)


def verify(path: Path, steps: ProgressCounter) -> Backup:
    """Read a whole backup and say whether it is sound."""
    with open_archive(path) as archive:
        steps.set_total(len(archive.members))
        return archive.check(steps)


def write(store: Store, path: Path, now: datetime, steps: ProgressCounter) -> Backup:
    """Write a backup of everyone and read it back; only then it gets its name."""
    all_of_them = list_data_owners(store)
    steps.set_total(2 * len(all_of_them))
    with write_atomically(path) as draft:
        with draft.open("wb") as raw, zipfile.ZipFile(raw, "w", zipfile.ZIP_DEFLATED) as file:
            members = [write_member(file, now, SYSTEM_MEMBER, _system_lines(store))]
            for whose in all_of_them:
                members += _write_data_owner(file, now, store, whose)
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
    """Their member; someone who was only heard of is among the users and has none."""
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
    """Put lines into a backup as a member."""
    total = LineDigest()
    with file.open(build_zip_info(name, now), "w", force_zip64=True) as member:
        with io.BufferedWriter(member, BUFFER_SIZE) as pieces:
            pieces.writelines(total.digest_lines(lines))
    return total.to_member(name)


def build_zip_info(name: str, now: datetime) -> zipfile.ZipInfo:
    """What a zip file says about a member."""
    # The times in a zip file begin in 1980.
    at = max(now.astimezone(UTC), datetime(1980, 1, 1, tzinfo=UTC))
    info = zipfile.ZipInfo(name, at.timetuple()[:6])
    info.compress_type = zipfile.ZIP_DEFLATED
    info.external_attr = 0o600 << 16
    return info


@contextlib.contextmanager
def write_atomically(path: Path) -> Iterator[Path]:
    """An empty private file to fill, which takes the place of `path` if nothing goes wrong."""
    if path.is_dir():
        raise InvalidInput(f"{path} is a directory; name a file for the backup.")
    draft = path.with_name(f".{path.name}.{os.getpid()}.{threading.get_ident()}")
    try:
        os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        yield draft
        os.replace(draft, path)
        fsync_path(path.parent)
    except OSError as error:
        raise StoreUnavailable(f"{path} cannot be written: {error.strerror}.") from error
    finally:
        with contextlib.suppress(OSError):
            draft.unlink(missing_ok=True)


@contextlib.contextmanager
def _translate_read_errors(path: Path) -> Iterator[None]:
    """Say in one sentence that a file cannot be read, or not as a backup."""
    try:
        yield
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read: {error.strerror or error}.") from error
    except (
        zipfile.BadZipFile,
        zlib.error,
        EOFError,
        NotImplementedError,  # a kind of zip file that nobody writes
        RuntimeError,  # one that needs a password
        OverflowError,
        ValueError,
    ) as error:
        raise BadBackup(f"{path} is not a backup, or it is damaged: {error}.") from error


def _read_manifest(path: Path, file: zipfile.ZipFile) -> Manifest:
    if MANIFEST not in file.namelist():
        raise BadBackup(f"{path} is not a backup: it has no {MANIFEST}.")
    with file.open(MANIFEST) as pressed:
        text = pressed.read(LONGEST_MANIFEST + 1)
    if len(text) > LONGEST_MANIFEST:
        raise BadBackup(f"{path} is not a backup: its {MANIFEST} has no end.")
    try:
        manifest = Manifest.model_validate_json(text)
    except ValidationError as error:
        raise BadBackup(
            f"{path} is damaged, or a newer version of Remembrancer made it: "
            f"its {MANIFEST} cannot be understood."
        ) from error
    if manifest.schema_revision != schema.HEAD:
        raise BadBackup(
            f"{path} was made by Remembrancer {manifest.version}, whose tables have the revision "
            f"{manifest.schema_revision}; here it is {schema.HEAD}. Restore it with that version "
            "into an empty place, and open the place with this one."
        )
    return manifest


def _check_members(path: Path, file: zipfile.ZipFile, manifest: Manifest) -> None:
    """Exactly the members of the manifest, each once, packed as we pack."""
    expected = sorted([MANIFEST, *(one.name for one in manifest.members)])
    unusual = [
        one
        for one in file.infolist()
        if one.compress_type not in COMPRESSIONS or one.flag_bits & ENCRYPTED_FLAG
    ]
    if unusual or sorted(file.namelist()) != expected or len(set(expected)) != len(expected):
        raise BadBackup(f"{path} is damaged: its members are not those it should have.")
    if SYSTEM_MEMBER not in expected:
        raise BadBackup(f"{path} is damaged: {SYSTEM_MEMBER} is missing.")


def _check_user_id(row: DumpRow) -> None:
    table, columns = row
    if table == "users":
        owner = Owner(str(columns["tenant"]), str(columns["name"]))
        if owner.id != columns["owner_id"]:
            raise BadBackup("A user in the backup has the key of someone else.")


def _check_owner(row: DumpRow, data_owner: DataOwner) -> None:
    table, columns = row
    if isinstance(data_owner, Tenant) or table != "owners":
        return
    if (columns["tenant"], columns["name"]) != (data_owner.tenant, data_owner.user):
        raise BadBackup("A person in the backup goes by the name of someone else.")
