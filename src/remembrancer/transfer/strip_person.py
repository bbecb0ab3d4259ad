"""Backups without someone who was erased: copied line by line, but for the lines that are theirs.

It works on backups of every revision: the names of members, users and contributors never changed.
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
from pathlib import Path

from remembrancer.errors import BadBackup
from remembrancer.store.contract import Store
from remembrancer.store.fsync import fsync_path
from remembrancer.transfer.archive import MANIFEST, build_zip_info, write_atomically, write_member
from remembrancer.transfer.ndjson import SYSTEM_MEMBER, parse_row
from remembrancer.transfer.rotation import BACKUP_NAME_PATTERN
from remembrancer.types import Json, Owner, Tenant

PERSON_TABLES = frozenset({"users", "keys"})
"""The small tables whose rows are about a person."""

RowPredicate = Callable[[str, Mapping[str, Json]], bool]


@dataclass(frozen=True, slots=True)
class StripResult:
    """How many backups were rewritten, and which could not be read."""

    rewritten: int = 0
    unreadable: tuple[str, ...] = ()


def strip_from_backups(
    directory: Path | None, owner: Owner, contributor: str, *, contributions_only: bool = False
) -> StripResult:
    """Rewrite the backups on a shelf that hold someone; half-written ones are removed."""
    if directory is None or not directory.exists():
        return StripResult()
    for draft in directory.glob(".remembrancer-*.zip.*"):
        draft.unlink(missing_ok=True)
    rewritten, unreadable = 0, []
    for path in _list_backups(directory):
        try:
            rewritten += _rewrite_backup(
                path, owner, contributor, contributions_only=contributions_only
            )
        except (BadBackup, zipfile.BadZipFile, zlib.error, EOFError, ValueError, KeyError):
            unreadable.append(f"The backup {path.name} cannot be read: remove it yourself.")
    return StripResult(rewritten, tuple(unreadable))


@contextlib.contextmanager
def copy_without_people(path: Path, store: Store, people: Sequence[Owner]) -> Iterator[Path]:
    """A backup without some people, to restore from while the block lasts."""
    from remembrancer.team.service import contributor_id

    with tempfile.TemporaryDirectory(prefix="remembrancer-") as folder:
        rest = Path(folder, path.name)
        shutil.copyfile(path, rest)
        for owner in people:
            with store.open_team_writer(Tenant(owner.tenant)) as desk:
                who = contributor_id(desk.load_contributor_key(), owner)
            _rewrite_backup(rest, owner, who, contributions_only=False)
        yield rest


def find_backups_with(directory: Path | None, owner: Owner) -> list[Path]:
    """The backups on a shelf that hold someone's memories."""
    found = []
    for path in _list_backups(directory) if directory is not None and directory.exists() else ():
        try:
            with zipfile.ZipFile(path) as file:
                if _member_name(owner) in file.namelist():
                    found.append(path)
        except zipfile.BadZipFile:
            continue
    return found


def _rewrite_backup(
    path: Path, owner: Owner, contributor: str, *, contributions_only: bool
) -> bool:
    """Write a backup anew if it holds anything of someone; whether it did."""
    with zipfile.ZipFile(path) as source:
        manifest = json.loads(source.read(MANIFEST))
        changes = _plan_removals(source, owner, contributor, contributions_only=contributions_only)
        if not changes:
            return False
        at = datetime.fromisoformat(manifest["created_at"])
        with write_atomically(path) as draft:
            with zipfile.ZipFile(draft, "w", zipfile.ZIP_DEFLATED) as target:
                manifest["members"] = [
                    write_member(
                        target, at, name, _filter_lines(source, name, changes.get(name))
                    ).model_dump()
                    for name in (one["name"] for one in manifest["members"])
                    if name != _member_name(owner) or contributions_only
                ]
                target.writestr(build_zip_info(MANIFEST, at), json.dumps(manifest, indent=1))
            fsync_path(draft)
    return True


def _plan_removals(
    source: zipfile.ZipFile, owner: Owner, contributor: str, *, contributions_only: bool
) -> dict[str, RowPredicate]:
    """In which members something is theirs, and what tells it."""
    changes: dict[str, RowPredicate] = {}
    names = set(source.namelist())
    if not contributions_only:
        if _member_name(owner) in names:
            changes[_member_name(owner)] = lambda *_: True
        named = _build_person_filter(owner)
        if any(named(*parse_row(line)) for line in _read_lines(source, SYSTEM_MEMBER)):
            changes[SYSTEM_MEMBER] = named
    team = f"teams/{Tenant(owner.tenant).id}.jsonl"
    if (
        team in names
        and (theirs := _build_contribution_filter(source, team, contributor)) is not None
    ):
        changes[team] = theirs
    return changes


def _build_person_filter(owner: Owner) -> RowPredicate:
    def theirs(table: str, columns: Mapping[str, Json]) -> bool:
        whose = (columns.get("tenant"), columns.get("name"))
        return table in PERSON_TABLES and whose == (owner.tenant, owner.user)

    return theirs


def _build_contribution_filter(
    source: zipfile.ZipFile, team: str, contributor: str
) -> RowPredicate | None:
    """What someone told a team, with the facts that nobody else has told; None if nothing."""
    said: dict[str, set[str]] = {}
    for table, columns in map(parse_row, _read_row_lines(source, team)):
        if table == "team_contributions":
            said.setdefault(str(columns["fact_id"]), set()).add(str(columns["contributor"]))
    if not any(contributor in who for who in said.values()):
        return None
    gone = {fact for fact, who in said.items() if who == {contributor}}

    def theirs(table: str, columns: Mapping[str, Json]) -> bool:
        refers = ("id",) if table == "team_facts" else ("fact_id", "first_id", "second_id")
        return columns.get("contributor") == contributor or any(
            columns.get(name) in gone for name in refers
        )

    return theirs


def _filter_lines(
    source: zipfile.ZipFile, name: str, is_removed: RowPredicate | None
) -> Iterator[bytes]:
    """The lines of a member that are not theirs; the first of most says whose it is."""
    for number, line in enumerate(_read_lines(source, name)):
        whose = number == 0 and name != SYSTEM_MEMBER
        if is_removed is None or whose or not is_removed(*parse_row(line)):
            yield line


def _read_lines(source: zipfile.ZipFile, name: str) -> Iterator[bytes]:
    with source.open(name) as file:
        yield from file


def _read_row_lines(source: zipfile.ZipFile, name: str) -> Iterator[bytes]:
    """The lines after the one that says whose they are."""
    lines = _read_lines(source, name)
    next(lines, None)
    return lines


def _member_name(owner: Owner) -> str:
    return f"people/{owner.id}.jsonl"


def _list_backups(directory: Path) -> list[Path]:
    return sorted(one for one in directory.iterdir() if BACKUP_NAME_PATTERN.fullmatch(one.name))
