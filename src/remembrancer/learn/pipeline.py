"""Learning from a conversation: read what is new, check it, store it, and move the watermark.

All of it in one transaction, so that each turn is learned from exactly once, whoever is killed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from remembrancer.call import Call
from remembrancer.errors import RemembrancerError, UnknownPerson
from remembrancer.guard.redaction import without_secrets
from remembrancer.ids import new_id
from remembrancer.learn import extract
from remembrancer.learn.evidence_check import Reason, objection
from remembrancer.learn.extract import Reading
from remembrancer.learn.extracted import Candidate, overlap, placed
from remembrancer.learn.profile_mapping import category_in, importance_in
from remembrancer.learn.rules.extractor import read
from remembrancer.learn.team_extractor import propose_from
from remembrancer.learn.transcript import Transcript, holds, transcript
from remembrancer.remember.lifecycle import renewal
from remembrancer.remember.pipeline import (
    Known,
    Stands,
    is_less_trusted,
    keep,
    refuse_bare_secret,
    supersede,
    version_of,
)
from remembrancer.remember.statement import Statement, checked, cleaned, record_of
from remembrancer.sessions.titles import BY_MODEL, BY_WORDS, TITLED
from remembrancer.sessions.turns import titled
from remembrancer.store.contract import Filter, Patch, Writer
from remembrancer.store.nearest import nearest
from remembrancer.team.service import withdraw
from remembrancer.types import (
    Action,
    Evidence,
    Kind,
    Origin,
    Record,
    Rejection,
    Session,
    Source,
    Status,
    Tenant,
    Turn,
)

AT_ONCE = 60
"""How many new turns are read together."""

LEASED = timedelta(minutes=5)
"""For how long one process has a conversation to itself while it waits for a model."""

SHOWN_PER_TURN = 5
SHOWN = 30
"""How many memories a model is shown: the nearest to each new turn, and of all of these at most."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """The next part of a conversation to learn from."""

    session: Session
    said: Transcript
    end: int


@dataclass(frozen=True, slots=True)
class Learned:
    """What a stretch of a conversation taught: ids of memories, and how much was rejected."""

    kept: tuple[str, ...] = ()
    confirmed: tuple[str, ...] = ()
    rejected: tuple[Rejection, ...] = ()


@dataclass(frozen=True, slots=True)
class Proposal:
    """A candidate as a statement that can be stored; or why it cannot be."""

    candidate: Candidate
    statement: Statement | None
    reason: Reason | None = None


def learn(call: Call, session_id: str) -> list[Learned]:
    """Learn from all turns of a conversation that are new."""
    done: list[Learned] = []
    while (stretch := _next(call, session_id)) is not None:
        known = _nearby(call, stretch) if call.models.fast else []
        reading, proposals = Reading(), list[Proposal]()
        if _learns_personally(call):
            reading = _read(call, stretch, known)
            proposals = _proposals(call, stretch, known, reading)
        propose_from(call, stretch.said)
        for one in proposals:
            if one.statement is not None:
                call.embed(record_of(call, one.statement, call.now()).searchable)
        try:
            with call.writing() as writer:
                outcome = _stored(call, writer, stretch, reading, proposals)
        except UnknownPerson:  # They were erased meanwhile, and so is what was just proposed.
            withdraw(call, call.owner, call.profile)
            break
        if outcome is None:
            break
        done.append(outcome)
    return done


def _learns_personally(call: Call) -> bool:
    tenant = Tenant(call.owner.tenant)
    return call.switches.of(tenant, call.profile).personal_learning


def _next(call: Call, session_id: str) -> Stretch | None:
    """What is to be learned now; None if there is nothing or another process is at it."""
    window, now = call.profile.learning.window, call.now()
    with call.writing() as writer:
        session = writer.session(session_id)
        if session is None or (session.leased_until and session.leased_until > now):
            return None
        before = session.watermark - window - 1
        turns = writer.turns(session_id, before, window + AT_ONCE)
        if not turns or turns[-1].position < session.watermark:
            writer.keep_session(replace(session, due_at=None, leased_until=None))
            return None
        if call.models.fast is not None:
            session = replace(session, leased_until=now + LEASED)
            writer.keep_session(session)
    said = transcript(turns, session.watermark)
    return Stretch(session, said, turns[-1].position + 1)


def _nearby(call: Call, stretch: Stretch) -> list[Record]:
    """What is remembered already of what the person speaks about."""
    visible = call.visible(stretch.session.scope)
    near = Filter(now=call.now(), kinds=(Kind.FACT,), visible=visible)
    found: dict[str, Record] = {}
    vectors = [call.embed(one.content) for one in stretch.said.spoken]
    with call.store.reading(call.owner) as reader:
        for vector in vectors:
            hits = nearest(reader, vector, near, SHOWN_PER_TURN)
            found |= reader.load(hit.id for hit in hits)
    # What a program keeps at an address is its own to change.
    return [one for one in found.values() if not one.is_addressed][:SHOWN]


def _read(call: Call, stretch: Stretch, known: Sequence[Record]) -> Reading:
    """What a model makes of it; without one, or with nothing said, nothing."""
    if not stretch.said.spoken or call.models.fast is None:
        return Reading()
    summary, categories = stretch.session.summary, list(call.profile.categories)
    return extract.ask(call.models.fast, stretch.said, known, categories, summary)


def _proposals(
    call: Call, stretch: Stretch, known: Sequence[Record], reading: Reading
) -> list[Proposal]:
    """What a model found, and what was said so plainly that it needs no model.

    Where both found the same, the model's words are kept, in the place that the reader knows; but
    what the person asked to have remembered is kept as they put it.
    """
    plain = read(stretch.said.spoken)
    asked = [one for one in plain if one.asked]
    found = [
        placed(one, plain)
        for one in reading.candidates
        if not any(overlap(one, other) for other in asked)
    ]
    proposals = [_proposal(call, stretch, known, one) for one in found]
    accepted = [one.candidate for one in proposals if one.statement is not None]
    missed = [one for one in plain if not any(overlap(one, other) for other in accepted)]
    return [*proposals, *(_proposal(call, stretch, (), one) for one in missed)]


def _proposal(
    call: Call, stretch: Stretch, known: Sequence[Record], candidate: Candidate
) -> Proposal:
    words = [one.content for one in known]
    reason = objection(candidate, stretch.said, words, call.profile.learning)
    if reason is not None:
        return Proposal(candidate, None, reason)
    try:
        return Proposal(candidate, _statement(call, stretch, candidate))
    except RemembrancerError:
        return Proposal(candidate, None, Reason.REFUSED)


def _statement(call: Call, stretch: Stretch, candidate: Candidate) -> Statement:
    session, profile = stretch.session, call.profile
    turns = [one for one in map(stretch.said.turn, candidate.turns) if one is not None]
    tainted = any(one.tainted for one in turns)
    own = candidate.asked and not tainted
    statement = checked(
        candidate.content,
        {
            "source": Source.EXPLICIT if own else Source.EXTRACTED,
            "origin": Origin.DOCUMENT if tainted else Origin.USER,
            "confidence": 1.0 if own else candidate.confidence,
            "category": category_in(profile, candidate.category),
            "scope": session.scope,
            "session_id": session.id,
            "valid_from": min(one.said_at for one in turns),
            "evidence": tuple(_evidence(session, one, candidate, stretch.said) for one in turns),
        },
        profile,
    )
    statement = replace(
        statement,
        subject=candidate.subject,
        predicate=candidate.predicate,
        permanence=candidate.permanence,
        importance=importance_in(profile, candidate.importance),
        agent=turns[-1].agent,
        surface=turns[-1].surface,
    )
    clean, secrets = cleaned(statement)
    refuse_bare_secret(clean, secrets)
    return clean


def _evidence(session: Session, turn: Turn, candidate: Candidate, said: Transcript) -> Evidence:
    """The turn and, if it is the one that was quoted, the quotation."""
    quoted = holds(said.own[turn.id], candidate.quote)
    return Evidence(session.id, turn.id, candidate.quote if quoted else "")


def _stored(
    call: Call,
    writer: Writer,
    stretch: Stretch,
    reading: Reading,
    proposals: Sequence[Proposal],
) -> Learned | None:
    """Store all of it and move the watermark; None if someone else has moved it."""
    session, now = writer.session(stretch.session.id), call.now()
    if session is None or session.watermark != stretch.session.watermark:
        return None
    kept: list[str] = []
    confirmed: list[str] = []
    rejected = [_rejection(session, one.content, one.reason, now) for one in reading.refused]
    for one in proposals:
        reason = one.reason
        if one.statement is not None:
            reason = _kept(call, writer, one.candidate, one.statement, kept, confirmed)
        if reason is not None:
            candidate = one.candidate
            told = _rejection(session, candidate.content, reason, now)
            rejected.append(
                replace(told, quote=without_secrets(candidate.quote), turns=candidate.turns)
            )
    writer.reject(rejected)
    outcome = Learned(tuple(kept), tuple(confirmed), tuple(rejected))
    writer.apply(call.event(Action.LEARNED, now, note=_note(outcome, reading)), [])
    more = writer.next_position(session.id) > stretch.end
    writer.keep_session(_advanced(session, stretch, reading, more=more))
    return outcome


def _kept(
    call: Call,
    writer: Writer,
    candidate: Candidate,
    statement: Statement,
    kept: list[str],
    confirmed: list[str],
) -> Reason | None:
    """Store one thing, or say what speaks against it."""
    if candidate.target is not None:
        return _updated(call, writer, candidate.target, statement, kept)
    new = record_of(call, statement, call.now())
    decision, written = keep(call, writer, new, call.embed(new.searchable), statement)
    match decision:
        case Stands():
            return Reason.STANDS
        case Known(old) if not new.tainted and old.id not in (*kept, *confirmed):
            values = renewal(old, new.recorded_at)
            writer.apply(call.event(Action.CONFIRMED, new.recorded_at), [Patch(old.id, values)])
            confirmed.append(old.id)
        case Known():
            pass
        case _:
            kept.append(written.memory.id)
    return None


def _updated(
    call: Call, writer: Writer, target: str, statement: Statement, kept: list[str]
) -> Reason | None:
    old = writer.get(target)
    if old is None or old.status is not Status.ACTIVE:
        return Reason.UNKNOWN_MEMORY
    statement = replace(statement, scope=old.scope)
    new = version_of(call, old, statement)
    if is_less_trusted(new, old):
        return Reason.STANDS
    if new.status is Status.QUARANTINED:
        return Reason.REFUSED
    kept.append(supersede(call, writer, old, statement).memory.id)
    return None


def _advanced(session: Session, stretch: Stretch, reading: Reading, *, more: bool) -> Session:
    """The conversation after it was learned from; what was said meanwhile is still to come."""
    advanced = replace(
        session,
        watermark=stretch.end,
        due_at=session.due_at if more else None,
        leased_until=None,
        attempts=0,
        failure=None,
    )
    if reading.summary is not None:
        summary = without_secrets(reading.summary)
        advanced = replace(advanced, summary=summary, summarised=stretch.end)
    if reading.title is not None and session.metadata.get(TITLED) == BY_WORDS:
        advanced = titled(advanced, without_secrets(reading.title), BY_MODEL)
    return advanced


def _rejection(session: Session, content: str, reason: Reason, now: datetime) -> Rejection:
    return Rejection(
        id=new_id("rejection", now),
        at=now,
        session_id=session.id,
        reason=reason,
        content=without_secrets(content),
    )


def _note(outcome: Learned, reading: Reading) -> str:
    counts = {"kept": len(outcome.kept), "confirmed": len(outcome.confirmed)}
    parts = [f"{count} {name}" for name, count in counts.items() if count] or ["nothing new"]
    reasons = Counter(one.reason for one in outcome.rejected)
    parts += [f"{count} rejected: {reason}" for reason, count in sorted(reasons.items())]
    if reading.model is not None:
        parts.append(f"{reading.tokens} tokens of {reading.model}")
    return "; ".join(parts)
