"""Finds dangling references and incomplete data.

Foreign keys protect links and versions. Evidence is stored as JSON, so its turns can be missing.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from remembrancer.audit.evidence import list_missing_turns
from remembrancer.audit.findings import AuditSnapshot, Finding, Fix, Flaw, format_quote
from remembrancer.types import Backlog, Episode, Relation, Status

LEASE_GRACE_PERIOD = timedelta(days=1)
"""Time after the end of a lease from which a consolidation counts as dead."""


def find_orphans(snapshot: AuditSnapshot) -> Iterator[Finding]:
    yield from _find_missing_turns(snapshot)
    yield from _find_missing_successors(snapshot)
    yield from _find_stuck_episodes(snapshot)
    yield from _find_missing_vectors(snapshot)
    yield from _find_empty_sessions(snapshot)


def _find_missing_turns(snapshot: AuditSnapshot) -> Iterator[Finding]:
    """Report missing evidence; memories without any other are reported as unsupported instead."""
    for one in snapshot.active:
        missing = list_missing_turns(one, snapshot.cited_turns)
        if missing and snapshot.unsupported_reason(one) is None:
            message = f"{format_quote(one)} cites turns that do not exist: {', '.join(missing)}."
            yield Finding(Flaw.ORPHAN, (one.id,), message)


def _find_missing_successors(snapshot: AuditSnapshot) -> Iterator[Finding]:
    """Report superseded versions whose successor was purged."""
    links = snapshot.reader.list_links_by_relation(Relation.SUPERSEDES)
    replaced = {one.target for one in links} | {one.supersedes for one in snapshot.records.values()}
    for one in snapshot.records.values():
        if one.status is Status.SUPERSEDED and one.id not in replaced:
            message = f"{format_quote(one)} was superseded by a memory that is gone."
            yield Finding(Flaw.ORPHAN, (one.id,), message, Fix.FORGET)


def _find_stuck_episodes(snapshot: AuditSnapshot) -> Iterator[Finding]:
    """Report episodes whose consolidation never finished."""
    for one in snapshot.active:
        if not isinstance(one, Episode) or one.backlog is not Backlog.LEASED:
            continue
        if one.leased_until is None or one.leased_until <= snapshot.now - LEASE_GRACE_PERIOD:
            message = f"{format_quote(one)} was leased for consolidation and never released."
            yield Finding(Flaw.ORPHAN, (one.id,), message, Fix.RELEASE)


def _find_missing_vectors(snapshot: AuditSnapshot) -> Iterator[Finding]:
    """Report memories without a vector of the current model, in one finding for all."""
    model = snapshot.call.embedder.model
    total = sum(one.count for one in snapshot.reader.tally(snapshot.now))
    missing = total - snapshot.reader.count_embedded().get(model, 0)
    found = snapshot.reader.list_unembedded(model, missing) if missing > 0 else []
    ids = tuple(one.id for one in found if snapshot.call.can_see(one))
    if ids:
        message = f"{len(ids)} memories have no vector of {model}; only text search finds them."
        yield Finding(Flaw.ORPHAN, ids, f"{message} Run: rem reembed", Fix.REEMBED)


def _find_empty_sessions(snapshot: AuditSnapshot) -> Iterator[Finding]:
    """Report sessions without turns that have been idle for a while."""
    since = snapshot.now - timedelta(minutes=snapshot.call.profile.sessions.idle_minutes)
    for one in snapshot.reader.list_empty_sessions():
        if one.active_at <= since and snapshot.call.can_read_scope(one.scope):
            message = f"The conversation {one.id} has no turns."
            yield Finding(Flaw.ORPHAN, (one.id,), message)
