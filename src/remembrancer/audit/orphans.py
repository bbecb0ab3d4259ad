"""Finds what belongs to something that is not there.

Links and versions cannot point to nothing, as the database forbids it. What a memory names as its
evidence can, as that is only words to the database.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from remembrancer.audit.evidence import list_missing_turns
from remembrancer.audit.findings import AuditSnapshot, Finding, Fix, Flaw, format_quote
from remembrancer.types import Backlog, Episode, Relation, Status

LEASE_GRACE_PERIOD = timedelta(days=1)
"""How long after its lease a consolidation that has not reported back is taken for dead."""


def find_orphans(seen: AuditSnapshot) -> Iterator[Finding]:
    """What belongs to something that is not there."""
    yield from _find_missing_turns(seen)
    yield from _find_missing_successors(seen)
    yield from _find_stuck_episodes(seen)
    yield from _find_missing_vectors(seen)
    yield from _find_empty_sessions(seen)


def _find_missing_turns(seen: AuditSnapshot) -> Iterator[Finding]:
    """Evidence that is gone; what has no other is unsupported, and told as that."""
    for one in seen.active:
        gone = list_missing_turns(one, seen.cited_turns)
        if gone and seen.unsupported_reason(one) is None:
            message = f"{format_quote(one)} cites what is not there: {', '.join(gone)}."
            yield Finding(Flaw.ORPHAN, (one.id,), message)


def _find_missing_successors(seen: AuditSnapshot) -> Iterator[Finding]:
    """Old versions whose newer one was destroyed."""
    links = seen.reader.list_links_by_relation(Relation.SUPERSEDES)
    replaced = {one.target for one in links} | {one.supersedes for one in seen.records.values()}
    for one in seen.records.values():
        if one.status is Status.SUPERSEDED and one.id not in replaced:
            message = f"{format_quote(one)} was replaced by something that is gone."
            yield Finding(Flaw.ORPHAN, (one.id,), message, Fix.FORGET)


def _find_stuck_episodes(seen: AuditSnapshot) -> Iterator[Finding]:
    """Episodes that someone took to learn from, and never came back."""
    for one in seen.active:
        if not isinstance(one, Episode) or one.backlog is not Backlog.LEASED:
            continue
        if one.leased_until is None or one.leased_until <= seen.now - LEASE_GRACE_PERIOD:
            message = f"{format_quote(one)} was taken to be learned from and never given back."
            yield Finding(Flaw.ORPHAN, (one.id,), message, Fix.RELEASE)


def _find_missing_vectors(seen: AuditSnapshot) -> Iterator[Finding]:
    """What the model in use has not embedded: a single finding, as there may be many."""
    model = seen.call.embedder.model
    total = sum(one.count for one in seen.reader.tally(seen.now))
    missing = total - seen.reader.count_embedded().get(model, 0)
    found = seen.reader.list_unembedded(model, missing) if missing > 0 else []
    ids = tuple(one.id for one in found if seen.call.can_see(one))
    if ids:
        message = f"{len(ids)} have no vector of {model} and are found by their words only."
        yield Finding(Flaw.ORPHAN, ids, f"{message} Run: rem reembed", Fix.REEMBED)


def _find_empty_sessions(seen: AuditSnapshot) -> Iterator[Finding]:
    """Conversations in which nothing was said, and that are not about to begin."""
    since = seen.now - timedelta(minutes=seen.call.profile.sessions.idle_minutes)
    for one in seen.reader.list_empty_sessions():
        if one.active_at <= since and seen.call.can_read_scope(one.scope):
            message = f"In the conversation {one.id} nothing was said."
            yield Finding(Flaw.ORPHAN, (one.id,), message)
