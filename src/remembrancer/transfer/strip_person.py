"""Removes an erased person from existing backups by copying all lines but theirs.

It works for backups of every schema revision, because the names of members, users and contributors
never changed.
"""

from __future__ import annotations

import contextlib
import json
import shutil
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from pathlib import Path

from remembrancer.errors import BadBackup
from remembrancer.store.contract import ErasureExtent, Store
from remembrancer.store.erasure_marks import author_mark
from remembrancer.store.fsync import fsync_path
from remembrancer.transfer.archive import MANIFEST, build_zip_info, write_atomically, write_member
from remembrancer.transfer.author_removal import RowChange, build_author_removal
from remembrancer.transfer.ndjson import (
    PEOPLE,
    SYSTEM_MEMBER,
    encode_lines,
    member_name,
    parse_data_owner,
    parse_row,
)
from remembrancer.transfer.rotation import list_backups
from remembrancer.types import Json, Owner, Tenant

PERSON_TABLES = frozenset({"users", "keys"})
"""System tables whose rows are about a person."""

RowPredicate = Callable[[str, Mapping[str, Json]], bool]


@dataclass(frozen=True, slots=True)
class PersonMarks:
    """The keyed hashes of a person: as a contributor to the team, and as an author in instances."""

    contributor: str
    author: str


@dataclass(frozen=True, slots=True)
class StripResult:
    """How many backups were rewritten, and messages about those that could not be read."""

    rewritten: int = 0
    unreadable: tuple[str, ...] = ()


def strip_from_backups(
    directory: Path | None, owner: Owner, marks: PersonMarks, extent: ErasureExtent
) -> StripResult:
    """Rewrite the backups in a directory that contain a person, and remove unfinished ones."""
    if directory is None or not directory.exists():
        return StripResult()
    for draft in directory.glob(".remembrancer-*.zip.*"):
        draft.unlink(missing_ok=True)
    rewritten, unreadable = 0, []
    for path in list_backups(directory):
        try:
            rewritten += _rewrite_backup(path, owner, marks, extent)
        except (BadBackup, zipfile.BadZipFile, zlib.error, EOFError, ValueError, KeyError):
            unreadable.append(f"The backup {path.name} cannot be read: delete it by hand.")
    return StripResult(rewritten, tuple(unreadable))


@contextlib.contextmanager
def copy_without_people(path: Path, store: Store, people: Sequence[Owner]) -> Iterator[Path]:
    """Yield a temporary copy of a backup without some people."""
    from remembrancer.team.service import contributor_id

    with tempfile.TemporaryDirectory(prefix="remembrancer-") as folder:
        copy = Path(folder, path.name)
        shutil.copyfile(path, copy)
        for owner in people:
            with store.open_team_writer(Tenant(owner.tenant)) as writer:
                contributor = contributor_id(writer.load_contributor_key(), owner)
            marks = PersonMarks(contributor, author_mark(store, owner))
            _rewrite_backup(copy, owner, marks, ErasureExtent.PERSON)
        yield copy


def find_backups_with(directory: Path | None, owner: Owner) -> list[Path]:
    """Return the backups in a directory that contain a person's memories."""
    found = []
    for path in list_backups(directory) if directory is not None and directory.exists() else ():
        try:
            with zipfile.ZipFile(path) as file:
                if member_name(owner) in file.namelist():
                    found.append(path)
        except zipfile.BadZipFile:
            continue
    return found


def _rewrite_backup(path: Path, owner: Owner, marks: PersonMarks, extent: ErasureExtent) -> bool:
    """Rewrite a backup if it contains anything of a person; returns whether it did."""
    with zipfile.ZipFile(path) as source:
        manifest = json.loads(source.read(MANIFEST))
        changes = _plan_changes(source, owner, marks, extent)
        if not changes:
            return False
        created_at = datetime.fromisoformat(manifest["created_at"])
        with write_atomically(path) as draft:
            with zipfile.ZipFile(draft, "w", zipfile.ZIP_DEFLATED) as target:
                manifest["members"] = [
                    write_member(
                        target, created_at, name, _change_lines(source, name, changes.get(name))
                    ).model_dump()
                    for name in (one["name"] for one in manifest["members"])
                    if name != member_name(owner) or extent is ErasureExtent.CONTRIBUTIONS
                ]
                target.writestr(
                    build_zip_info(MANIFEST, created_at), json.dumps(manifest, indent=1)
                )
            fsync_path(draft)
    return True


def _plan_changes(
    source: zipfile.ZipFile, owner: Owner, marks: PersonMarks, extent: ErasureExtent
) -> dict[str, RowChange]:
    """Return the members to change, each with the change of its rows."""
    changes: dict[str, RowChange] = {}
    names = set(source.namelist())
    if extent is not ErasureExtent.CONTRIBUTIONS:
        if member_name(owner) in names:
            changes[member_name(owner)] = lambda *_: None
        changes |= _plan_instance_changes(source, owner, marks.author)
    if extent is ErasureExtent.PERSON:
        is_person = _build_person_filter(owner)
        if any(is_person(*parse_row(line)) for line in _read_lines(source, SYSTEM_MEMBER)):
            changes[SYSTEM_MEMBER] = _remove(is_person)
    team = member_name(Tenant(owner.tenant))
    if team in names:
        is_contribution = _build_contribution_filter(source, team, marks.contributor)
        if is_contribution is not None:
            changes[team] = _remove(is_contribution)
    return changes


def _remove(is_removed: RowPredicate) -> RowChange:
    return lambda table, columns: None if is_removed(table, columns) else columns


def _plan_instance_changes(
    source: zipfile.ZipFile, owner: Owner, author: str
) -> dict[str, RowChange]:
    """The changes of the instances into which a person wrote."""
    changes = {}
    for name in source.namelist():
        if not name.startswith(f"{PEOPLE}/") or name == member_name(owner):
            continue
        header, *lines = _read_lines(source, name)
        found = parse_data_owner(header)
        is_instance = isinstance(found, Owner) and found.instance is not None
        if is_instance and any(author.encode() in line for line in lines):
            changes[name] = build_author_removal(list(map(parse_row, lines)), author)
    return changes


def _build_person_filter(owner: Owner) -> RowPredicate:
    def is_removed(table: str, columns: Mapping[str, Json]) -> bool:
        name = (columns.get("tenant"), columns.get("name"))
        return table in PERSON_TABLES and name == (owner.tenant, owner.user)

    return is_removed


def _build_contribution_filter(
    source: zipfile.ZipFile, team: str, contributor: str
) -> RowPredicate | None:
    """Match a person's contributions and the facts that only they contributed; None if none."""
    contributors: dict[str, set[str]] = {}
    rows = islice(_read_lines(source, team), 1, None)  # the first line names the team
    for table, columns in map(parse_row, rows):
        if table == "team_contributions":
            fact_id, name = str(columns["fact_id"]), str(columns["contributor"])
            contributors.setdefault(fact_id, set()).add(name)
    if not any(contributor in names for names in contributors.values()):
        return None
    removed = {fact for fact, names in contributors.items() if names == {contributor}}

    def is_removed(table: str, columns: Mapping[str, Json]) -> bool:
        references = ("id",) if table == "team_facts" else ("fact_id", "first_id", "second_id")
        return columns.get("contributor") == contributor or any(
            columns.get(name) in removed for name in references
        )

    return is_removed


def _change_lines(source: zipfile.ZipFile, name: str, change: RowChange | None) -> Iterator[bytes]:
    """Yield the lines of a member that stay; the first of a person or team names the owner."""
    for number, line in enumerate(_read_lines(source, name)):
        if change is None or (number == 0 and name != SYSTEM_MEMBER):
            yield line
            continue
        table, columns = parse_row(line)
        kept = change(table, columns)
        if kept is columns:
            yield line
        elif kept is not None:
            yield from encode_lines([(table, kept)])


def _read_lines(source: zipfile.ZipFile, name: str) -> Iterator[bytes]:
    with source.open(name) as file:
        yield from file
