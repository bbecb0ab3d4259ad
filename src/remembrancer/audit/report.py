"""What is wrong in the data of one person, in sentences, and which fix is offered for it.

It only looks; `repair` acts.
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
    """All findings about what may be seen, and the share of the active memories that they affect.

    `rates` has the flaws that were looked for and `junk`, which is what nobody would miss: the
    unsupported and the duplicate.
    """

    findings: tuple[Finding, ...]
    memories: int
    rates: Mapping[str, float]


def audit(call: Call, kinds: Sequence[Flaw | str] | None = None) -> Audit:
    """Look through everything one may see for these flaws, by default for all."""
    wanted = select_flaws(kinds)
    with call.store.open_reader(call.owner) as reader:
        seen = load_snapshot(call, reader)
        findings = run_checks(seen, wanted)
    active = {one.id for one in seen.active}
    return Audit(findings, len(active), _compute_rates(findings, wanted, active))


def select_flaws(kinds: Sequence[Flaw | str] | None) -> tuple[Flaw, ...]:
    """The flaws that are meant, in their order."""
    named = {parse_enum(Flaw, kind, "kinds") for kind in kinds} if kinds else set(Flaw)
    return tuple(flaw for flaw in Flaw if flaw in named)


def run_checks(seen: AuditSnapshot, wanted: Iterable[Flaw]) -> tuple[Finding, ...]:
    """What is wrong with what was read."""
    return tuple(finding for flaw in wanted for finding in CHECKS[flaw](seen))


def _compute_rates(
    findings: Sequence[Finding], wanted: Sequence[Flaw], active: set[str]
) -> dict[str, float]:
    affected: dict[str, set[str]] = {flaw.value: set() for flaw in wanted}
    for one in findings:
        affected[one.kind] |= active.intersection(one.affected)
    junk = [affected[flaw] for flaw in (Flaw.UNSUPPORTED, Flaw.DUPLICATE) if flaw in affected]
    if len(junk) == 2:
        affected["junk"] = junk[0] | junk[1]
    return {name: len(some) / len(active) if active else 0.0 for name, some in affected.items()}


def _find_duplicates(seen: AuditSnapshot) -> Iterator[Finding]:
    """What says the same as something more trusted of the same scope."""
    from remembrancer.audit.duplicates import find_duplicates

    scopes: dict[str, list[Record]] = {}
    for one in sorted(seen.in_force, key=lambda one: _trust_sort_key(seen, one)):
        if one.kind is not Kind.EPISODE:
            scopes.setdefault(one.scope, []).append(one)
    facts = [one.id for some in scopes.values() for one in some if one.kind is Kind.FACT]
    vectors = seen.reader.load_vectors(seen.call.embedder.model, facts)
    opposed = _load_contradictions(seen)
    for some in scopes.values():
        found = find_duplicates(
            some,
            vectors,
            seen.call.profile.dedup,
            lambda a, b: _are_distinct(a, b) or frozenset((a.id, b.id)) in opposed,
        )
        yield from _group_duplicates(seen, found)


def _group_duplicates(seen: AuditSnapshot, repeated: Mapping[str, str]) -> Iterator[Finding]:
    groups: dict[str, list[str]] = {}
    for one, first in repeated.items():
        groups.setdefault(first, []).append(one)
    for first, others in groups.items():
        times = "twice" if len(others) == 1 else f"{len(others) + 1} times"
        message = (
            f"{format_quote(seen.records[first])} is remembered {times}; the first one stands."
        )
        yield Finding(Flaw.DUPLICATE, (first, *sorted(others)), message, Fix.FORGET)


def _trust_sort_key(seen: AuditSnapshot, record: Record) -> tuple[bool, bool, float, datetime, str]:
    """Sorts what is trusted most before what is trusted less."""
    concluded = record.source is not Source.EXPLICIT
    unsupported = seen.unsupported_reason(record) is not None
    return concluded, unsupported, -record.confidence, record.recorded_at, record.id


def _are_distinct(one: Record, other: Record) -> bool:
    """Whether both say what they are about, and not the same; or the same, in other words.

    The latter is a contradiction, of which nobody but the person knows which half is true.
    """
    first, second = _topic(one), _topic(other)
    if first is None or second is None:
        return False
    return first != second or fingerprint(one.content) != fingerprint(other.content)


def _topic(record: Record) -> tuple[str, str] | None:
    if not isinstance(record, Fact) or record.subject is None or record.predicate is None:
        return None
    return record.subject.casefold(), record.predicate.casefold()


def _load_contradictions(seen: AuditSnapshot) -> set[frozenset[str]]:
    links = seen.reader.list_links_by_relation(Relation.CONTRADICTS)
    return {frozenset((one.source, one.target)) for one in links}


def _find_stale(seen: AuditSnapshot) -> Iterator[Finding]:
    """What nobody has confirmed for long, and what should have ended by now."""
    in_force = {one.id for one in seen.in_force}
    for one in seen.active:
        if seen.is_overdue(one):
            message = f"{format_quote(one)} is over: {_describe_end(seen, one)}."
            yield Finding(Flaw.STALE, (one.id,), message, Fix.EXPIRE)
        elif one.id in in_force and seen.get_confidence_band(one) is not ConfidenceBand.RECALLED:
            confidence = _describe_confidence(seen, one)
            message = f"{format_quote(one)} is fading: {confidence}; confirm it or forget it."
            yield Finding(Flaw.STALE, (one.id,), message)


def _describe_end(seen: AuditSnapshot, record: Record) -> str:
    if record.expires_at is not None and record.expires_at <= seen.now:
        return f"it was to expire on {format_date(record.expires_at)}"
    return _describe_confidence(seen, record)


def _describe_confidence(seen: AuditSnapshot, record: Record) -> str:
    share = effective_confidence(record, seen.decay_in(record.scope), seen.now)
    return f"believed to {share:.0%}, confirmed on {format_date(record.confirmed_at)}"


def _find_contradictions(seen: AuditSnapshot) -> Iterator[Finding]:
    """What cannot both be true; only the person can say which is."""
    in_force = {one.id: one for one in seen.in_force}
    told = {pair for pair in _load_contradictions(seen) if pair <= in_force.keys()}
    for pair in sorted(map(sorted, told)):
        first, second = (format_quote(in_force[one]) for one in pair)
        message = f"{first} and {second} are linked as contradicting each other."
        yield Finding(Flaw.CONTRADICTING, tuple(pair), message)
    for one, other in _find_rival_facts(seen, in_force.values()):
        if frozenset((one.id, other.id)) not in told:
            both = f"{format_quote(one)} and {format_quote(other)}"
            message = f"{both} answer the same question differently."
            yield Finding(Flaw.CONTRADICTING, (one.id, other.id), message)


def _find_rival_facts(
    seen: AuditSnapshot, records: Iterable[Record]
) -> Iterator[tuple[Record, Record]]:
    """Facts of the same subject and predicate that say different things to the same reader."""
    topics: dict[tuple[str, str], list[Record]] = {}
    for one in records:
        if (topic := _topic(one)) is not None:
            topics.setdefault(topic, []).append(one)
    for some in topics.values():
        for one, other in combinations(sorted(some, key=lambda one: one.id), 2):
            differ = fingerprint(one.content) != fingerprint(other.content)
            if differ and _has_common_agent(seen.call, one.scope, other.scope):
                yield one, other


def _has_common_agent(call: Call, one: str, other: str) -> bool:
    """Whether some agent sees what is in both scopes."""
    match call.profile.scopes.visibility:
        case "isolated":
            return one == other
        case "shared":
            return one == other or GLOBAL_SCOPE in (one, other)
        case "nested":
            shorter, longer = sorted((one, other), key=len)
            return shorter == ROOT_SCOPE or f"{longer}/".startswith(f"{shorter}/")


def _find_unsupported(seen: AuditSnapshot) -> Iterator[Finding]:
    """What software concluded without words of the person that support it."""
    for one in seen.active:
        if (reason := seen.unsupported_reason(one)) is not None:
            message = f"{format_quote(one)} was {one.source}, but {reason}."
            yield Finding(Flaw.UNSUPPORTED, (one.id,), message, Fix.FORGET)


def _find_secrets(seen: AuditSnapshot) -> Iterator[Finding]:
    """Passwords, keys and tokens, in whatever state; what has them now came in past the guard."""
    for one in seen.records.values():
        clean, kinds = redact_record(one)
        if kinds:
            message = (
                f"{format_quote(clean)} holds a secret ({', '.join(kinds)}). To fix it, a version "
                "without it takes its place and this one is destroyed, which cannot be undone."
            )
            yield Finding(Flaw.SECRET, (one.id,), message, Fix.REDACT)
    every = Filter(
        now=seen.now,
        kinds=(Kind.TURN,),
        visible=seen.call.resolve_visibility(),
        statuses=tuple(Status),
    )
    for turn in iter_records(seen.reader, every):
        clean, kinds = redact_record(turn)
        if kinds and is_retained(seen.call, turn):
            found = ", ".join(kinds)
            message = f"{format_quote(clean)} was said with a secret in it ({found}); delete it."
            yield Finding(Flaw.SECRET, (turn.id,), message)


CHECKS: Mapping[Flaw, Callable[[AuditSnapshot], Iterator[Finding]]] = {
    Flaw.DUPLICATE: _find_duplicates,
    Flaw.STALE: _find_stale,
    Flaw.CONTRADICTING: _find_contradictions,
    Flaw.UNSUPPORTED: _find_unsupported,
    Flaw.SECRET: _find_secrets,
    Flaw.ORPHAN: find_orphans,
}
