"""Hides in recalled turns what was learned from them and is forgotten, until it is purged there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from remembrancer.recall.recipes import Scored
from remembrancer.remember.forgotten_words import (
    ForgottenWords,
    build_forgotten_words,
    says_nothing,
)
from remembrancer.remember.purge import HELD_STATUSES, REMOVED_STATUSES
from remembrancer.store.contract import Filter, Reader
from remembrancer.types import Kind, Record, Status

LEARNED_KINDS = (Kind.FACT, Kind.RULE)
MAX_FORGOTTEN = 1000


def hide_forgotten(reader: Reader, found: Sequence[Scored], now: datetime) -> list[Scored]:
    """The results without what was forgotten; turns that say nothing else are left out."""
    turns = [one.candidate.record for one in found if one.candidate.record.kind is Kind.TURN]
    sessions = sorted({one.session_id for one in turns if one.session_id is not None})
    removed = _find(reader, sessions, REMOVED_STATUSES, now)
    cited = {source.turn_id for one in removed for source in one.evidence}
    if cited.isdisjoint(one.id for one in turns):
        return list(found)
    words = build_forgotten_words(removed, _find(reader, sessions, HELD_STATUSES, now))
    shown = (_mask(one, words) if one.candidate.record.id in cited else one for one in found)
    return [one for one in shown if one is not None]


def _mask(found: Scored, words: ForgottenWords) -> Scored | None:
    """The result with its words masked; None if it says nothing else."""
    record = found.candidate.record
    masked = replace(record, content=words.mask(record.content, record.id))
    if says_nothing(masked.content):
        return None
    return replace(found, candidate=replace(found.candidate, record=masked))


def _find(
    reader: Reader, sessions: Sequence[str], statuses: tuple[Status, ...], now: datetime
) -> list[Record]:
    learned = Filter(now=now, kinds=LEARNED_KINDS, statuses=statuses)
    return [
        one
        for name in sessions
        for one in reader.find(replace(learned, session_id=name), MAX_FORGOTTEN)
        if one.evidence
    ]
