"""What is wrong in the data of one person, in sentences, and which fix is offered for it.

It only looks; `repair` acts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import combinations

from remembrancer.audit.finding import Finding, Fix, Flaw, Seen, day, is_there, looked_at, quoted
from remembrancer.audit.orphans import orphans
from remembrancer.audit.redaction import redacted
from remembrancer.call import ROOT, Call
from remembrancer.decay import effective_confidence
from remembrancer.search.terms import fingerprint
from remembrancer.store.contract import Filter
from remembrancer.store.nearest import everything
from remembrancer.types import (
    GLOBAL,
    Fact,
    Kind,
    Record,
    Relation,
    Source,
    Standing,
    Status,
    member,
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
    wanted = chosen(kinds)
    with call.store.reading(call.owner) as reader:
        seen = looked_at(call, reader)
        findings = examined(seen, wanted)
    active = {one.id for one in seen.active}
    return Audit(findings, len(active), _rates(findings, wanted, active))


def chosen(kinds: Sequence[Flaw | str] | None) -> tuple[Flaw, ...]:
    """The flaws that are meant, in their order."""
    named = {member(Flaw, kind, "kinds") for kind in kinds} if kinds else set(Flaw)
    return tuple(flaw for flaw in Flaw if flaw in named)


def examined(seen: Seen, wanted: Iterable[Flaw]) -> tuple[Finding, ...]:
    """What is wrong with what was read."""
    return tuple(finding for flaw in wanted for finding in CHECKS[flaw](seen))


def _rates(
    findings: Sequence[Finding], wanted: Sequence[Flaw], active: set[str]
) -> dict[str, float]:
    affected: dict[str, set[str]] = {flaw.value: set() for flaw in wanted}
    for one in findings:
        affected[one.kind] |= active.intersection(one.affected)
    junk = [affected[flaw] for flaw in (Flaw.UNSUPPORTED, Flaw.DUPLICATE) if flaw in affected]
    if len(junk) == 2:
        affected["junk"] = junk[0] | junk[1]
    return {name: len(some) / len(active) if active else 0.0 for name, some in affected.items()}


def _duplicates(seen: Seen) -> Iterator[Finding]:
    """What says the same as something more trusted of the same scope."""
    from remembrancer.audit.duplicates import repeated

    scopes: dict[str, list[Record]] = {}
    for one in sorted(seen.in_force, key=lambda one: _distrust(seen, one)):
        if one.kind is not Kind.EPISODE:
            scopes.setdefault(one.scope, []).append(one)
    facts = [one.id for some in scopes.values() for one in some if one.kind is Kind.FACT]
    vectors = seen.reader.vectors(seen.call.embedder.model, facts)
    opposed = _opposed(seen)
    for some in scopes.values():
        found = repeated(
            some,
            vectors,
            seen.call.profile.dedup,
            lambda a, b: _are_apart(a, b) or frozenset((a.id, b.id)) in opposed,
        )
        yield from _told_together(seen, found)


def _told_together(seen: Seen, repeated: Mapping[str, str]) -> Iterator[Finding]:
    groups: dict[str, list[str]] = {}
    for one, first in repeated.items():
        groups.setdefault(first, []).append(one)
    for first, others in groups.items():
        times = "twice" if len(others) == 1 else f"{len(others) + 1} times"
        message = f"{quoted(seen.records[first])} is remembered {times}; the first one stands."
        yield Finding(Flaw.DUPLICATE, (first, *sorted(others)), message, Fix.FORGET)


def _distrust(seen: Seen, record: Record) -> tuple[bool, bool, float, datetime, str]:
    """Sorts what is trusted most before what is trusted less."""
    concluded = record.source is not Source.EXPLICIT
    unsupported = seen.lacking(record) is not None
    return concluded, unsupported, -record.confidence, record.recorded_at, record.id


def _are_apart(one: Record, other: Record) -> bool:
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


def _opposed(seen: Seen) -> set[frozenset[str]]:
    links = seen.reader.related(Relation.CONTRADICTS)
    return {frozenset((one.source, one.target)) for one in links}


def _stale(seen: Seen) -> Iterator[Finding]:
    """What nobody has confirmed for long, and what should have ended by now."""
    in_force = {one.id for one in seen.in_force}
    for one in seen.active:
        if seen.is_overdue(one):
            message = f"{quoted(one)} is over: {_ended(seen, one)}."
            yield Finding(Flaw.STALE, (one.id,), message, Fix.EXPIRE)
        elif one.id in in_force and seen.standing(one) is not Standing.RECALLED:
            message = f"{quoted(one)} is fading: {_believed(seen, one)}; confirm it or forget it."
            yield Finding(Flaw.STALE, (one.id,), message)


def _ended(seen: Seen, record: Record) -> str:
    if record.expires_at is not None and record.expires_at <= seen.now:
        return f"it was to expire on {day(record.expires_at)}"
    return _believed(seen, record)


def _believed(seen: Seen, record: Record) -> str:
    share = effective_confidence(record, seen.decay_in(record.scope), seen.now)
    return f"believed to {share:.0%}, confirmed on {day(record.confirmed_at)}"


def _contradicting(seen: Seen) -> Iterator[Finding]:
    """What cannot both be true; only the person can say which is."""
    in_force = {one.id: one for one in seen.in_force}
    told = {pair for pair in _opposed(seen) if pair <= in_force.keys()}
    for pair in sorted(map(sorted, told)):
        first, second = (quoted(in_force[one]) for one in pair)
        message = f"{first} and {second} are linked as contradicting each other."
        yield Finding(Flaw.CONTRADICTING, tuple(pair), message)
    for one, other in _rivals(seen, in_force.values()):
        if frozenset((one.id, other.id)) not in told:
            message = f"{quoted(one)} and {quoted(other)} answer the same question differently."
            yield Finding(Flaw.CONTRADICTING, (one.id, other.id), message)


def _rivals(seen: Seen, records: Iterable[Record]) -> Iterator[tuple[Record, Record]]:
    """Facts of the same subject and predicate that say different things to the same reader."""
    topics: dict[tuple[str, str], list[Record]] = {}
    for one in records:
        if (topic := _topic(one)) is not None:
            topics.setdefault(topic, []).append(one)
    for some in topics.values():
        for one, other in combinations(sorted(some, key=lambda one: one.id), 2):
            differ = fingerprint(one.content) != fingerprint(other.content)
            if differ and _meet(seen.call, one.scope, other.scope):
                yield one, other


def _meet(call: Call, one: str, other: str) -> bool:
    """Whether some agent sees what is in both scopes."""
    match call.profile.scopes.visibility:
        case "isolated":
            return one == other
        case "shared":
            return one == other or GLOBAL in (one, other)
        case "nested":
            shorter, longer = sorted((one, other), key=len)
            return shorter == ROOT or f"{longer}/".startswith(f"{shorter}/")


def _unsupported(seen: Seen) -> Iterator[Finding]:
    """What software concluded without words of the person that support it."""
    for one in seen.active:
        if (reason := seen.lacking(one)) is not None:
            message = f"{quoted(one)} was {one.source}, but {reason}."
            yield Finding(Flaw.UNSUPPORTED, (one.id,), message, Fix.FORGET)


def _secrets(seen: Seen) -> Iterator[Finding]:
    """Passwords, keys and tokens, in whatever state; what has them now came in past the guard."""
    for one in seen.records.values():
        clean, kinds = redacted(one)
        if kinds:
            message = (
                f"{quoted(clean)} holds a secret ({', '.join(kinds)}). To fix it, a version "
                "without it takes its place and this one is destroyed, which cannot be undone."
            )
            yield Finding(Flaw.SECRET, (one.id,), message, Fix.REDACT)
    every = Filter(
        now=seen.now, kinds=(Kind.TURN,), visible=seen.call.visible(), statuses=tuple(Status)
    )
    for turn in everything(seen.reader, every):
        clean, kinds = redacted(turn)
        if kinds and is_there(seen.call, turn):
            message = (
                f"{quoted(clean)} was said with a secret in it ({', '.join(kinds)}); delete it."
            )
            yield Finding(Flaw.SECRET, (turn.id,), message)


CHECKS: Mapping[Flaw, Callable[[Seen], Iterator[Finding]]] = {
    Flaw.DUPLICATE: _duplicates,
    Flaw.STALE: _stale,
    Flaw.CONTRADICTING: _contradicting,
    Flaw.UNSUPPORTED: _unsupported,
    Flaw.SECRET: _secrets,
    Flaw.ORPHAN: orphans,
}
