"""Carries out what an audit offers: one event that undo takes back, and, if asked, secrets gone.

What has changed since it was looked at is left alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from remembrancer.audit import chosen, examined
from remembrancer.audit.finding import Finding, Fix, Flaw, Seen, looked_at
from remembrancer.audit.redaction import redacted
from remembrancer.call import Call
from remembrancer.ids import new_id
from remembrancer.remember.embedding import embedded, units_of
from remembrancer.remember.pipeline import retirement
from remembrancer.store.contract import (
    AddLink,
    Apply,
    DropLink,
    Insert,
    Patch,
    Purge,
    Reader,
    Write,
)
from remembrancer.types import Action, Backlog, Event, Link, Record, Relation, Status

UNDOABLE = (Fix.FORGET, Fix.EXPIRE, Fix.RELEASE)
"""In this order: a memory that is forgotten for one reason need not expire for another."""


@dataclass(frozen=True, slots=True)
class Repair:
    """What was fixed. `undo` takes back `event`, and nothing takes back `purge`."""

    fixed: tuple[Finding, ...]
    event: Event | None
    purge: Event | None = None


def repair(call: Call, kinds: Sequence[Flaw | str] | None = None) -> Repair:
    """Fix what can be fixed of these flaws; secrets only if they are named."""
    wanted = chosen(kinds)
    purged = _purge_secrets(call) if kinds and Flaw.SECRET in wanted else Repair((), None)
    rest = [flaw for flaw in wanted if flaw is not Flaw.SECRET]
    fixed = _fix(call, rest) if rest else Repair((), None)
    return Repair((*purged.fixed, *fixed.fixed), fixed.event, purged.purge)


def _fix(call: Call, kinds: Sequence[Flaw]) -> Repair:
    with call.store.reading(call.owner) as reader:
        seen = looked_at(call, reader)
        offered = [one for one in examined(seen, kinds) if one.fix in UNDOABLE]
    if not offered:
        return Repair((), None)
    with call.writing() as writer:
        fixed = _unchanged(writer, seen, offered)
        now = call.now()
        writes = [*_patches(seen, fixed, now), *_handed_on(writer, fixed)]
        if not writes:
            return Repair((), None)
        event = writer.apply(call.event(Action.REPAIRED, now, note=_summed_up(fixed)), writes)
    return Repair(tuple(fixed), event)


def _unchanged(reader: Reader, seen: Seen, findings: Iterable[Finding]) -> list[Finding]:
    """The findings whose memories still are what was looked at."""
    findings = list(findings)
    fresh = reader.load(dict.fromkeys(memory for one in findings for memory in one.ids))
    same = {one.id for one in fresh.values() if _as_seen(one, seen.records[one.id])}
    return [one for one in findings if same.issuperset(one.ids)]


def _as_seen(fresh: Record, seen: Record) -> bool:
    """Whether a memory is the same but for having been recalled."""
    return replace(fresh, recalled_at=seen.recalled_at, recall_count=seen.recall_count) == seen


def _patches(seen: Seen, findings: Sequence[Finding], now: datetime) -> list[Write]:
    """At most one for each memory."""
    values: dict[str, Mapping[str, object]] = {}
    for fix in UNDOABLE:
        for one in findings:
            for memory in one.affected if one.fix is fix else ():
                values.setdefault(memory, _changed(fix, seen.records[memory], now))
    return [Patch(memory, changed) for memory, changed in values.items()]


def _changed(fix: Fix, record: Record, now: datetime) -> Mapping[str, object]:
    match fix:
        case Fix.FORGET:
            return retirement(record, Status.FORGOTTEN, now)
        case Fix.EXPIRE:
            return {"status": Status.EXPIRED, "retired_at": now}
        case Fix.RELEASE:
            return {"backlog": Backlog.PENDING, "leased_until": None}
        case Fix.REDACT | Fix.REEMBED:
            raise AssertionError(f"{fix} is not a change of a memory")


def _handed_on(reader: Reader, findings: Sequence[Finding]) -> list[Write]:
    """The links of duplicates, handed on to those that stand."""
    heirs = {
        memory: one.ids[0]
        for one in findings
        if one.kind is Flaw.DUPLICATE
        for memory in one.affected
    }
    old = _links(reader, heirs)
    kept = {_ends(one) for heir in set(heirs.values()) for one in reader.links(heir)}
    writes: list[Write] = [DropLink(one) for one in old]
    for one in old:
        moved = _moved(one, heirs)
        if moved.source != moved.target and _ends(moved) not in kept:
            kept.add(_ends(moved))
            writes.append(AddLink(moved))
    return writes


def _links(reader: Reader, ids: Iterable[str]) -> list[Link]:
    """The links of some memories, each once; which versions there were is nobody else's."""
    found = {_ends(one): one for memory in ids for one in reader.links(memory)}
    return [one for one in found.values() if one.relation is not Relation.SUPERSEDES]


def _purge_secrets(call: Call) -> Repair:
    """Put memories without secrets in the place of those that have some, and destroy these."""
    with call.store.reading(call.owner) as reader:
        seen = looked_at(call, reader)
        found = [one for one in examined(seen, [Flaw.SECRET]) if one.fix is Fix.REDACT]
    if not found:
        return Repair((), None)
    clean = {one.ids[0]: redacted(seen.records[one.ids[0]])[0] for one in found}
    vectors = embedded(call, [units_of(one) for one in clean.values()])
    ready = dict(zip(clean, vectors, strict=True))
    with call.writing() as writer:
        fixed = _unchanged(writer, seen, found)
        if not fixed:
            return Repair((), None)
        old = _in_versions([seen.records[one.ids[0]] for one in fixed])
        heirs = {one.id: new_id(one.kind, one.recorded_at) for one in old}
        inserts = [Insert(_successor(clean[one.id], heirs), None, ready[one.id]) for one in old]
        writes = [*map(Purge, heirs), *inserts, *_restored(writer, heirs)]
        event = call.event(Action.PURGED, call.now(), note=_summed_up(fixed))
        return Repair(tuple(fixed), None, writer.apply(event, writes))


def _in_versions(records: Sequence[Record]) -> list[Record]:
    """Each after the one that it supersedes, as it can only then refer to it."""
    known = {one.id: one for one in records}

    def before(record: Record) -> int:
        count, older = 0, known.get(record.supersedes or "")
        while older is not None:
            count, older = count + 1, known.get(older.supersedes or "")
        return count

    return sorted(records, key=before)


def _successor(clean: Record, heirs: Mapping[str, str]) -> Record:
    """The same memory under another id, as what an id says never changes."""
    older = heirs.get(clean.supersedes or "", clean.supersedes)
    return replace(clean, id=heirs[clean.id], supersedes=older)


def _restored(reader: Reader, heirs: Mapping[str, str]) -> list[Write]:
    """What is destroyed with a memory and belongs to its successor: its links and its uses."""
    rules = [one for one in heirs if one.startswith("rule_")]
    uses = [replace(one, rule_id=heirs[one.rule_id]) for one in reader.applications(rules)]
    links = {_ends(one): one for memory in heirs for one in reader.links(memory)}
    moved = [_moved(one, heirs) for one in links.values()]
    return [*map(Apply, uses), *map(AddLink, moved)]


def _moved(link: Link, heirs: Mapping[str, str]) -> Link:
    source, target = (heirs.get(end, end) for end in (link.source, link.target))
    return replace(link, source=source, target=target)


def _ends(link: Link) -> tuple[str, str, Relation]:
    return link.source, link.target, link.relation


def _summed_up(findings: Sequence[Finding]) -> str:
    counts = Counter(one.kind for one in findings)
    return ", ".join(f"{count} {kind}" for kind, count in counts.items())
