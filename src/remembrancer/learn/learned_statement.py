"""Turns a checked fact into the statement that is stored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta

from remembrancer.call import Call
from remembrancer.learn.extracted_fact import Dates, ExtractedFact
from remembrancer.learn.profile_mapping import map_category, map_importance
from remembrancer.learn.transcript import Transcript
from remembrancer.remember.attributes import canonical_attribute, canonical_subject
from remembrancer.remember.doubt import UPDATES_KEY
from remembrancer.remember.pipeline import refuse_bare_secret
from remembrancer.remember.statement import Statement, redact_statement, validate_statement
from remembrancer.types import Evidence, Json, Origin, Session, Source, Turn


def build_statement(
    call: Call, session: Session, transcript: Transcript, fact: ExtractedFact, doubt: str | None
) -> Statement:
    """Raises InvalidInput if the fact cannot be stored."""
    turns = [one for one in map(transcript.find_turn, fact.turns) if one is not None]
    own = [one for one in turns if one.id in transcript.own_words]
    tainted = any(one.tainted for one in turns)
    explicit = fact.requested and not tainted
    valid_from, valid_until = valid_period(fact.dates, own or turns)
    statement = validate_statement(
        fact.content,
        {
            "source": Source.EXPLICIT if explicit else Source.EXTRACTED,
            "origin": Origin.DOCUMENT if tainted else Origin.USER,
            "confidence": 1.0 if explicit else fact.confidence,
            "category": map_category(call.profile, fact.category),
            "scope": session.scope,
            "session_id": session.id,
            "valid_from": valid_from,
            "evidence": tuple(Evidence(session.id, one.turn, one.words) for one in fact.quotes),
            "metadata": _describe_doubt(fact, doubt),
        },
        call.profile,
    )
    subject = canonical_subject(fact.subject, transcript.own_names) if fact.subject else None
    last = (own or turns)[-1]
    statement = replace(
        statement,
        subject=subject,
        predicate=canonical_attribute(fact.predicate) if subject and fact.predicate else None,
        permanence=fact.permanence,
        importance=map_importance(call.profile, fact.importance),
        valid_until=valid_until,
        agent=last.agent,
        surface=last.surface,
        author=last.author,
        said_at=max(one.said_at for one in turns),
        doubt=doubt,
    )
    clean, _ = redact_statement(statement)
    refuse_bare_secret(clean)
    return clean


def valid_period(dates: Dates | None, turns: Sequence[Turn]) -> tuple[datetime, datetime | None]:
    """When a fact holds: by its dates, otherwise since it was said.

    An end that was past when it was said is part of the story: the fact itself stays true.
    """
    said_at = min(one.said_at for one in turns)
    dates = _drop_placeholders(dates)
    if dates is None:
        return said_at, None
    is_past = dates.end is not None and dates.end < said_at.date()
    start = dates.start or (dates.end if is_past else None)
    valid_from = _start_of(start) if start is not None else said_at
    if dates.end is None or is_past:
        return valid_from, None
    valid_until = _start_of(dates.end + timedelta(days=1))
    return min(valid_from, valid_until - timedelta(days=1)), valid_until


def _drop_placeholders(dates: Dates | None) -> Dates | None:
    """The dates without the first and the last year of the calendar, which stand for no date."""
    if dates is None:
        return None
    start, end = (
        one if one is not None and date.min.year < one.year < date.max.year else None
        for one in (dates.start, dates.end)
    )
    return Dates(start, end) if start or end else None


def _start_of(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)


def _describe_doubt(fact: ExtractedFact, doubt: str | None) -> Mapping[str, Json]:
    return {UPDATES_KEY: fact.target} if doubt and fact.target else {}
