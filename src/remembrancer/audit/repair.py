"""Applies the fixes of an audit as one event that undo reverts; purges secrets on request.

A memory that has changed since the audit is left alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from remembrancer.audit.findings import AuditSnapshot, Finding, Fix, Flaw, load_snapshot
from remembrancer.audit.link_transfer import link_key, move_link, transfer_links
from remembrancer.audit.redaction import redact_record
from remembrancer.audit.report import run_checks, select_flaws
from remembrancer.audit.versions import correct_ends
from remembrancer.call import Call
from remembrancer.ids import new_id
from remembrancer.remember.embedding import embed_units, split_record
from remembrancer.remember.pipeline import retirement_values
from remembrancer.store.contract import (
    AddApplication,
    AddLink,
    Insert,
    Patch,
    Purge,
    Reader,
    Write,
)
from remembrancer.types import Action, Backlog, Event, Record, Status

UNDOABLE_FIXES = (Fix.FORGET, Fix.EXPIRE, Fix.RELEASE, Fix.REDATE)
"""In order of precedence: each memory gets one fix."""


@dataclass(frozen=True, slots=True)
class Repair:
    """The fixed findings. Undo reverts `event`; nothing reverts `purge`."""

    fixed: tuple[Finding, ...]
    event: Event | None
    purge: Event | None = None


def repair(call: Call, kinds: Sequence[Flaw | str] | None = None) -> Repair:
    """Fix flaws of these kinds, by default of all but secrets."""
    wanted = select_flaws(kinds)
    purged = _purge_secrets(call) if kinds and Flaw.SECRET in wanted else Repair((), None)
    rest = [flaw for flaw in wanted if flaw is not Flaw.SECRET]
    fixed = _apply_fixes(call, rest) if rest else Repair((), None)
    return Repair((*purged.fixed, *fixed.fixed), fixed.event, purged.purge)


def _apply_fixes(call: Call, kinds: Sequence[Flaw]) -> Repair:
    with call.store.open_reader(call.owner) as reader:
        snapshot = load_snapshot(call, reader)
        offered = [one for one in run_checks(snapshot, kinds) if one.fix in UNDOABLE_FIXES]
    if not offered:
        return Repair((), None)
    with call.open_writer() as writer:
        fixed = _select_unchanged(writer, snapshot, offered)
        now = call.now()
        links = transfer_links(writer, _map_duplicates(fixed))
        writes = [*_build_patches(snapshot, fixed, now), *links]
        if not writes:
            return Repair((), None)
        event = writer.apply(call.new_event(Action.REPAIRED, now, note=_summarise(fixed)), writes)
    return Repair(tuple(fixed), event)


def _select_unchanged(
    reader: Reader, snapshot: AuditSnapshot, findings: Sequence[Finding]
) -> list[Finding]:
    """The findings whose memories have not changed since the snapshot."""
    fresh = reader.load(dict.fromkeys(memory for one in findings for memory in one.ids))
    same = {one.id for one in fresh.values() if _is_unchanged(one, snapshot.records[one.id])}
    return [one for one in findings if same.issuperset(one.ids)]


def _is_unchanged(fresh: Record, old: Record) -> bool:
    """True if only recall counters differ."""
    return replace(fresh, recalled_at=old.recalled_at, recall_count=old.recall_count) == old


def _build_patches(
    snapshot: AuditSnapshot, findings: Sequence[Finding], now: datetime
) -> list[Write]:
    """Build at most one patch for each memory."""
    values: dict[str, Mapping[str, object]] = {}
    ends = correct_ends(snapshot.records, snapshot.now)
    for fix in UNDOABLE_FIXES:
        for one in findings:
            for memory in one.affected if one.fix is fix else ():
                record = snapshot.records[memory]
                values.setdefault(memory, _build_changes(fix, record, now, ends))
    return [Patch(memory, changed) for memory, changed in values.items()]


def _build_changes(
    fix: Fix, record: Record, now: datetime, ends: Mapping[str, datetime]
) -> Mapping[str, object]:
    match fix:
        case Fix.FORGET:
            return retirement_values(record, Status.FORGOTTEN, now)
        case Fix.EXPIRE:
            return {"status": Status.EXPIRED, "retired_at": now}
        case Fix.RELEASE:
            return {"backlog": Backlog.PENDING, "leased_until": None}
        case Fix.REDATE:
            return {"valid_until": ends[record.id]}
        case Fix.REDACT | Fix.REEMBED:
            raise AssertionError(f"{fix} is not a change of a memory")


def _map_duplicates(findings: Iterable[Finding]) -> dict[str, str]:
    """The id of the memory that is kept, by the id of each of its duplicates."""
    return {
        duplicate: one.ids[0]
        for one in findings
        if one.kind is Flaw.DUPLICATE
        for duplicate in one.affected
    }


def _purge_secrets(call: Call) -> Repair:
    """Replace memories that hold secrets by redacted copies, and purge the originals."""
    with call.store.open_reader(call.owner) as reader:
        snapshot = load_snapshot(call, reader)
        found = [one for one in run_checks(snapshot, [Flaw.SECRET]) if one.fix is Fix.REDACT]
    if not found:
        return Repair((), None)
    clean = {one.ids[0]: redact_record(snapshot.records[one.ids[0]])[0] for one in found}
    vectors = embed_units(call, [split_record(one) for one in clean.values()])
    ready = dict(zip(clean, vectors, strict=True))
    with call.open_writer() as writer:
        fixed = _select_unchanged(writer, snapshot, found)
        if not fixed:
            return Repair((), None)
        old = _sort_by_version([snapshot.records[one.ids[0]] for one in fixed])
        heirs = {one.id: new_id(one.kind, one.recorded_at) for one in old}
        inserts = [
            Insert(_build_successor(clean[one.id], heirs), None, ready[one.id]) for one in old
        ]
        writes = [*map(Purge, heirs), *inserts, *_rebuild_attachments(writer, heirs)]
        event = call.new_event(Action.PURGED, call.now(), note=_summarise(fixed))
        return Repair(tuple(fixed), None, writer.apply(event, writes))


def _sort_by_version(records: Sequence[Record]) -> list[Record]:
    """Sort each version after the one that it supersedes, because it refers to it."""
    known = {one.id: one for one in records}

    def before(record: Record) -> int:
        count, older = 0, known.get(record.supersedes or "")
        while older is not None:
            count, older = count + 1, known.get(older.supersedes or "")
        return count

    return sorted(records, key=before)


def _build_successor(clean: Record, new_ids: Mapping[str, str]) -> Record:
    """The same memory under a new id, because the content of an id never changes."""
    older = new_ids.get(clean.supersedes or "", clean.supersedes)
    return replace(clean, id=new_ids[clean.id], supersedes=older)


def _rebuild_attachments(reader: Reader, new_ids: Mapping[str, str]) -> list[Write]:
    """Recreate the links and rule applications that are purged with a memory."""
    rules = [one for one in new_ids if one.startswith("rule_")]
    uses = [replace(one, rule_id=new_ids[one.rule_id]) for one in reader.list_applications(rules)]
    links = {link_key(one): one for memory in new_ids for one in reader.list_links(memory)}
    moved = [move_link(one, new_ids) for one in links.values()]
    return [*map(AddApplication, uses), *map(AddLink, moved)]


def _summarise(findings: Sequence[Finding]) -> str:
    counts = Counter(one.kind for one in findings)
    return ", ".join(f"{count} {kind}" for kind, count in counts.items())
