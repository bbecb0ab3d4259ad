"""Audits the memories of one owner and reports findings with the fixes on offer.

It changes nothing; `repair` applies the fixes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import combinations

from remembrancer.audit.findings import (
    AuditSnapshot,
    Finding,
    Fix,
    Flaw,
    format_date,
    format_quote,
    is_retained,
    load_snapshot,
)
from remembrancer.audit.orphans import find_orphans
from remembrancer.audit.redaction import redact_record
from remembrancer.audit.versions import find_misdated
from remembrancer.call import ROOT_SCOPE, Call
from remembrancer.decay import effective_confidence
from remembrancer.search.terms import fingerprint
from remembrancer.store.contract import Filter
from remembrancer.store.nearest import iter_records
from remembrancer.types import (
    GLOBAL_SCOPE,
    ConfidenceBand,
    Fact,
    Kind,
    Record,
    Relation,
    Source,
    Status,
    parse_enum,
)


@dataclass(frozen=True, slots=True)
class Audit:
    """The findings about visible memories, and the share of active memories they affect.

    `rates` has an entry for each flaw that was checked, and `junk` for unsupported or duplicate.
    """

    findings: tuple[Finding, ...]
    memories: int
    rates: Mapping[str, float]


def audit(call: Call, kinds: Sequence[Flaw | str] | None = None) -> Audit:
    """Check all visible memories for these flaws, by default for all."""
    flaws = select_flaws(kinds)
    with call.store.open_reader(call.owner) as reader:
        snapshot = load_snapshot(call, reader)
        findings = run_checks(snapshot, flaws)
    active = {one.id for one in snapshot.active}
    return Audit(findings, len(active), _compute_rates(findings, flaws, active))


def select_flaws(kinds: Sequence[Flaw | str] | None) -> tuple[Flaw, ...]:
    """Parse the names of flaws; without any, select all."""
    named = {parse_enum(Flaw, kind, "kinds") for kind in kinds} if kinds else set(Flaw)
    return tuple(flaw for flaw in Flaw if flaw in named)


def run_checks(snapshot: AuditSnapshot, flaws: Iterable[Flaw]) -> tuple[Finding, ...]:
    return tuple(finding for flaw in flaws for finding in CHECKS[flaw](snapshot))


def _compute_rates(
    findings: Sequence[Finding], flaws: Sequence[Flaw], active: set[str]
) -> dict[str, float]:
    affected: dict[str, set[str]] = {flaw.value: set() for flaw in flaws}
    for one in findings:
        affected[one.kind] |= active.intersection(one.affected)
    junk = [affected[flaw] for flaw in (Flaw.UNSUPPORTED, Flaw.DUPLICATE) if flaw in affected]
    if len(junk) == 2:
        affected["junk"] = junk[0] | junk[1]
    return {name: len(some) / len(active) if active else 0.0 for name, some in affected.items()}


def _find_duplicates(snapshot: AuditSnapshot) -> Iterator[Finding]:
    """Report memories that duplicate a more trusted one of the same scope."""
    from remembrancer.audit.duplicates import find_duplicates  # It loads numpy.

    scopes: dict[str, list[Record]] = {}
    for one in sorted(snapshot.in_force, key=lambda one: _trust_sort_key(snapshot, one)):
        if one.kind is not Kind.EPISODE:
            scopes.setdefault(one.scope, []).append(one)
    facts = [one.id for some in scopes.values() for one in some if one.kind is Kind.FACT]
    vectors = snapshot.reader.load_vectors(snapshot.call.embedder.model, facts)
    opposed = _load_contradictions(snapshot)
    for some in scopes.values():
        found = find_duplicates(
            some,
            vectors,
            snapshot.call.profile.dedup,
            lambda a, b: _are_distinct(a, b) or frozenset((a.id, b.id)) in opposed,
        )
        yield from _group_duplicates(snapshot, found)


def _group_duplicates(snapshot: AuditSnapshot, repeated: Mapping[str, str]) -> Iterator[Finding]:
    groups: dict[str, list[str]] = {}
    for one, first in repeated.items():
        groups.setdefault(first, []).append(one)
    for first, others in groups.items():
        times = "twice" if len(others) == 1 else f"{len(others) + 1} times"
        message = (
            f"{format_quote(snapshot.records[first])} is stored {times}; the first one is kept."
        )
        yield Finding(Flaw.DUPLICATE, (first, *sorted(others)), message, Fix.FORGET)


def _trust_sort_key(
    snapshot: AuditSnapshot, record: Record
) -> tuple[bool, bool, float, datetime, str]:
    """Sort the most trusted memory first."""
    inferred = record.source is not Source.EXPLICIT
    unsupported = snapshot.unsupported_reason(record) is not None
    return inferred, unsupported, -record.confidence, record.recorded_at, record.id


def _are_distinct(one: Record, other: Record) -> bool:
    """True if their topics differ, or if they say different things about the same topic.

    The latter is a contradiction, and only the user knows which one is true.
    """
    first, second = _topic(one), _topic(other)
    if first is None or second is None:
        return False
    return first != second or fingerprint(one.content) != fingerprint(other.content)


def _topic(record: Record) -> tuple[str, str] | None:
    if not isinstance(record, Fact) or record.subject is None or record.predicate is None:
        return None
    return record.subject.casefold(), record.predicate.casefold()


def _load_contradictions(snapshot: AuditSnapshot) -> set[frozenset[str]]:
    links = snapshot.reader.list_links_by_relation(Relation.CONTRADICTS)
    return {frozenset((one.source, one.target)) for one in links}


def _find_stale(snapshot: AuditSnapshot) -> Iterator[Finding]:
    """Report memories that are overdue, or whose confidence has decayed."""
    in_force = {one.id for one in snapshot.in_force}
    for one in snapshot.active:
        if snapshot.is_overdue(one):
            message = f"{format_quote(one)} has expired: {_describe_end(snapshot, one)}."
            yield Finding(Flaw.STALE, (one.id,), message, Fix.EXPIRE)
        elif one.id in in_force and _is_fading(snapshot, one):
            confidence = _describe_confidence(snapshot, one)
            message = f"{format_quote(one)} is fading: {confidence}. Confirm it or forget it."
            yield Finding(Flaw.STALE, (one.id,), message)


def _is_fading(snapshot: AuditSnapshot, record: Record) -> bool:
    return snapshot.get_confidence_band(record) is not ConfidenceBand.RECALLED


def _describe_end(snapshot: AuditSnapshot, record: Record) -> str:
    if record.expires_at is not None and record.expires_at <= snapshot.now:
        return f"its expiry date was {format_date(record.expires_at)}"
    return _describe_confidence(snapshot, record)


def _describe_confidence(snapshot: AuditSnapshot, record: Record) -> str:
    share = effective_confidence(record, snapshot.decay_in(record.scope), snapshot.now)
    return f"confidence {share:.0%}, last confirmed on {format_date(record.confirmed_at)}"


def _find_contradictions(snapshot: AuditSnapshot) -> Iterator[Finding]:
    """Report pairs of memories that cannot both be true."""
    in_force = {one.id: one for one in snapshot.in_force}
    linked = {pair for pair in _load_contradictions(snapshot) if pair <= in_force.keys()}
    for pair in sorted(map(sorted, linked)):
        first, second = (format_quote(in_force[one]) for one in pair)
        message = f"{first} and {second} are linked as contradicting each other."
        yield Finding(Flaw.CONTRADICTING, tuple(pair), message)
    for one, other in _find_rival_facts(snapshot, in_force.values()):
        if frozenset((one.id, other.id)) not in linked:
            both = f"{format_quote(one)} and {format_quote(other)}"
            message = f"{both} answer the same question differently."
            yield Finding(Flaw.CONTRADICTING, (one.id, other.id), message)


def _find_rival_facts(
    snapshot: AuditSnapshot, records: Iterable[Record]
) -> Iterator[tuple[Record, Record]]:
    """Pairs of different facts with the same subject and predicate that one agent can see."""
    topics: dict[tuple[str, str], list[Record]] = {}
    for one in records:
        if (topic := _topic(one)) is not None:
            topics.setdefault(topic, []).append(one)
    for some in topics.values():
        for one, other in combinations(sorted(some, key=lambda one: one.id), 2):
            differ = fingerprint(one.content) != fingerprint(other.content)
            if differ and _has_common_agent(snapshot.call, one.scope, other.scope):
                yield one, other


def _has_common_agent(call: Call, one: str, other: str) -> bool:
    """True if an agent can see both scopes."""
    match call.profile.scopes.visibility:
        case "isolated":
            return one == other
        case "shared":
            return one == other or GLOBAL_SCOPE in (one, other)
        case "nested":
            shorter, longer = sorted((one, other), key=len)
            return shorter == ROOT_SCOPE or f"{longer}/".startswith(f"{shorter}/")


def _find_unsupported(snapshot: AuditSnapshot) -> Iterator[Finding]:
    """Report inferred memories without valid evidence."""
    for one in snapshot.active:
        if (reason := snapshot.unsupported_reason(one)) is not None:
            message = f"{format_quote(one)} was {one.source}, but {reason}."
            yield Finding(Flaw.UNSUPPORTED, (one.id,), message, Fix.FORGET)


def _find_secrets(snapshot: AuditSnapshot) -> Iterator[Finding]:
    """Report memories of any status, and turns, that hold secrets."""
    for one in snapshot.records.values():
        clean, kinds = redact_record(one)
        if kinds:
            message = (
                f"{format_quote(clean)} holds a secret ({', '.join(kinds)}). The fix replaces it "
                "by a redacted copy and purges it, which cannot be undone."
            )
            yield Finding(Flaw.SECRET, (one.id,), message, Fix.REDACT)
    every = Filter(
        now=snapshot.now,
        kinds=(Kind.TURN,),
        visible=snapshot.call.resolve_visibility(),
        statuses=tuple(Status),
    )
    for turn in iter_records(snapshot.reader, every):
        clean, kinds = redact_record(turn)
        if kinds and is_retained(snapshot.call, turn):
            found = ", ".join(kinds)
            message = f"{format_quote(clean)} is a turn with a secret in it ({found}). Delete it."
            yield Finding(Flaw.SECRET, (turn.id,), message)


CHECKS: Mapping[Flaw, Callable[[AuditSnapshot], Iterator[Finding]]] = {
    Flaw.DUPLICATE: _find_duplicates,
    Flaw.STALE: _find_stale,
    Flaw.CONTRADICTING: _find_contradictions,
    Flaw.UNSUPPORTED: _find_unsupported,
    Flaw.SECRET: _find_secrets,
    Flaw.ORPHAN: find_orphans,
    Flaw.MISDATED: find_misdated,
}
