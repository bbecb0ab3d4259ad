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
from remembrancer.store.fsync import settle
from remembrancer.transfer.archive import MANIFEST, info_of, packed, placed
from remembrancer.transfer.ndjson import SYSTEM, row_of
from remembrancer.transfer.rotation import NAME
from remembrancer.types import Json, Owner, Tenant

NAMED = frozenset({"users", "keys"})
"""The small tables whose rows are about a person."""

Theirs = Callable[[str, Mapping[str, Json]], bool]


@dataclass(frozen=True, slots=True)
class LeftOut:
    """How many backups were rewritten, and which could not be read."""

    rewritten: int = 0
    unreadable: tuple[str, ...] = ()


def leave_out(
    shelf: Path | None, owner: Owner, contributor: str, *, contributions_only: bool = False
) -> LeftOut:
    """Rewrite the backups on a shelf that hold someone; half-written ones are removed."""
    if shelf is None or not shelf.exists():
        return LeftOut()
    for draft in shelf.glob(".remembrancer-*.zip.*"):
        draft.unlink(missing_ok=True)
    rewritten, unreadable = 0, []
    for path in _backups(shelf):
        try:
            rewritten += _rewritten(path, owner, contributor, contributions_only=contributions_only)
        except (BadBackup, zipfile.BadZipFile, zlib.error, EOFError, ValueError, KeyError):
            unreadable.append(f"The backup {path.name} cannot be read: remove it yourself.")
    return LeftOut(rewritten, tuple(unreadable))


@contextlib.contextmanager
def copied(path: Path, store: Store, people: Sequence[Owner]) -> Iterator[Path]:
    """A backup without some people, to restore from while the block lasts."""
    from remembrancer.team.service import contributor

    with tempfile.TemporaryDirectory(prefix="remembrancer-") as folder:
        rest = Path(folder, path.name)
        shutil.copyfile(path, rest)
        for owner in people:
            with store.reviewing(Tenant(owner.tenant)) as desk:
                who = contributor(desk.key(), owner)
            _rewritten(rest, owner, who, contributions_only=False)
        yield rest


def holding(shelf: Path | None, owner: Owner) -> list[Path]:
    """The backups on a shelf that hold someone's memories."""
    found = []
    for path in _backups(shelf) if shelf is not None and shelf.exists() else ():
        try:
            with zipfile.ZipFile(path) as file:
                if _member(owner) in file.namelist():
                    found.append(path)
        except zipfile.BadZipFile:
            continue
    return found


def _rewritten(path: Path, owner: Owner, contributor: str, *, contributions_only: bool) -> bool:
    """Write a backup anew if it holds anything of someone; whether it did."""
    with zipfile.ZipFile(path) as source:
        manifest = json.loads(source.read(MANIFEST))
        changes = _changes(source, owner, contributor, contributions_only=contributions_only)
        if not changes:
            return False
        at = datetime.fromisoformat(manifest["created_at"])
        with placed(path) as draft:
            with zipfile.ZipFile(draft, "w", zipfile.ZIP_DEFLATED) as target:
                manifest["members"] = [
                    packed(target, at, name, _kept(source, name, changes.get(name))).model_dump()
                    for name in (one["name"] for one in manifest["members"])
                    if name != _member(owner) or contributions_only
                ]
                target.writestr(info_of(MANIFEST, at), json.dumps(manifest, indent=1))
            settle(draft)
    return True


def _changes(
    source: zipfile.ZipFile, owner: Owner, contributor: str, *, contributions_only: bool
) -> dict[str, Theirs]:
    """In which members something is theirs, and what tells it."""
    changes: dict[str, Theirs] = {}
    names = set(source.namelist())
    if not contributions_only:
        if _member(owner) in names:
            changes[_member(owner)] = lambda *_: True
        named = _naming(owner)
        if any(named(*row_of(line)) for line in _lines(source, SYSTEM)):
            changes[SYSTEM] = named
    team = f"teams/{Tenant(owner.tenant).id}.jsonl"
    if team in names and (theirs := _told(source, team, contributor)) is not None:
        changes[team] = theirs
    return changes


def _naming(owner: Owner) -> Theirs:
    def theirs(table: str, columns: Mapping[str, Json]) -> bool:
        whose = (columns.get("tenant"), columns.get("name"))
        return table in NAMED and whose == (owner.tenant, owner.user)

    return theirs


def _told(source: zipfile.ZipFile, team: str, contributor: str) -> Theirs | None:
    """What someone told a team, with the facts that nobody else has told; None if nothing."""
    said: dict[str, set[str]] = {}
    for table, columns in map(row_of, _rows(source, team)):
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


def _kept(source: zipfile.ZipFile, name: str, theirs: Theirs | None) -> Iterator[bytes]:
    """The lines of a member that are not theirs; the first of most says whose it is."""
    for number, line in enumerate(_lines(source, name)):
        whose = number == 0 and name != SYSTEM
        if theirs is None or whose or not theirs(*row_of(line)):
            yield line


def _lines(source: zipfile.ZipFile, name: str) -> Iterator[bytes]:
    with source.open(name) as file:
        yield from file


def _rows(source: zipfile.ZipFile, name: str) -> Iterator[bytes]:
    """The lines after the one that says whose they are."""
    lines = _lines(source, name)
    next(lines, None)
    return lines


def _member(owner: Owner) -> str:
    return f"people/{owner.id}.jsonl"


def _backups(shelf: Path) -> list[Path]:
    return sorted(one for one in shelf.iterdir() if NAME.fullmatch(one.name))
