"""Learns from a session: extracts facts from new turns, checks them and stores them.

The facts and the new watermark are written in one transaction, so that each turn is learned from
exactly once even if a process is killed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial

from remembrancer.call import Call
from remembrancer.errors import RemembrancerError, UnknownPerson
from remembrancer.guard.redaction import redact_text
from remembrancer.ids import new_id
from remembrancer.learn import extract
from remembrancer.learn.evidence_check import RejectionReason, find_objection
from remembrancer.learn.extract import Extraction
from remembrancer.learn.extracted_fact import ExtractedFact, inherit_key, overlaps
from remembrancer.learn.nearby import load_nearby
from remembrancer.learn.profile_mapping import map_category, map_importance
from remembrancer.learn.rules.extractor import extract_facts
from remembrancer.learn.team_extractor import propose_for_team
from remembrancer.learn.transcript import Transcript, build_transcript, contains_quote
from remembrancer.remember.embedding import TextVectors, write_with_vectors
from remembrancer.remember.lifecycle import renewal_values
from remembrancer.remember.pipeline import (
    Duplicate,
    Reject,
    build_version,
    commit,
    is_less_trusted,
    refuse_bare_secret,
    supersede,
)
from remembrancer.remember.statement import (
    Statement,
    build_record,
    redact_statement,
    validate_statement,
)
from remembrancer.sessions.titles import BY_MODEL, BY_WORDS, TITLE_SOURCE_KEY
from remembrancer.sessions.turns import set_title
from remembrancer.store.contract import Patch, Writer
from remembrancer.team.service import withdraw_contributions
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

BATCH_SIZE = 60
"""New turns per batch."""

LEASE_DURATION = timedelta(minutes=5)
"""How long a process holds a session while it waits for a model."""

MAX_MEMORIES_PER_TURN = 5
MAX_MEMORIES_SHOWN = 30
"""Limits of the memories shown to a model: nearest to each new turn, and in total."""


@dataclass(frozen=True, slots=True)
class TurnBatch:
    """The next turns of a session to learn from; `end` is the watermark after them."""

    session: Session
    transcript: Transcript
    end: int


@dataclass(frozen=True, slots=True)
class LearnedBatch:
    """The result of learning from the turns of a session from position `start` up to `end`.

    `kept` and `confirmed` are ids of memories.
    """

    session_id: str
    start: int
    end: int
    kept: tuple[str, ...]
    confirmed: tuple[str, ...]
    rejected: tuple[Rejection, ...]


@dataclass(frozen=True, slots=True)
class CheckedFact:
    """A candidate with the statement to store, or with the reason for its rejection."""

    candidate: ExtractedFact
    statement: Statement | None
    reason: RejectionReason | None = None


def learn(call: Call, session_id: str) -> Iterator[LearnedBatch]:
    """Learn from all new turns of a session; yields each batch after it is committed."""
    while (batch := _claim_next_batch(call, session_id)) is not None:
        memories = _load_memories_to_show(call, batch) if call.models.fast else []
        extraction, checked = Extraction(), list[CheckedFact]()
        if _is_personal_learning_enabled(call):
            extraction = _extract_with_model(call, batch, memories)
            checked = _collect_checked_facts(call, batch, memories, extraction)
        propose_for_team(call, batch.transcript)
        statements = [fact.statement for fact in checked if fact.statement is not None]
        texts = [build_record(call, one, call.now()).search_text for one in statements]
        store = partial(_store_batch, call, batch, extraction, checked)
        try:
            learned = write_with_vectors(call, TextVectors(call, texts), store)
        except UnknownPerson:  # The owner was erased meanwhile: withdraw the team proposals, too.
            withdraw_contributions(call.services, call.owner, call.profile)
            return
        if learned is None:
            return
        yield learned


def _is_personal_learning_enabled(call: Call) -> bool:
    tenant = Tenant(call.owner.tenant)
    return call.services.live_settings.get(tenant, call.profile).personal_learning


def _claim_next_batch(call: Call, session_id: str) -> TurnBatch | None:
    """Returns None if nothing is left to learn or another process holds the session."""
    window, now = call.profile.learning.window, call.now()
    with call.open_writer() as writer:
        session = writer.get_session(session_id)
        if session is None or (session.leased_until and session.leased_until > now):
            return None
        before = session.watermark - window - 1
        turns = writer.list_turns(session_id, before, window + BATCH_SIZE)
        if not turns or turns[-1].position < session.watermark:
            writer.save_session(replace(session, due_at=None, leased_until=None))
            return None
        if call.models.fast is not None:
            session = replace(session, leased_until=now + LEASE_DURATION)
            writer.save_session(session)
    transcript = build_transcript(turns, session.watermark)
    return TurnBatch(session, transcript, turns[-1].position + 1)


def _load_memories_to_show(call: Call, batch: TurnBatch) -> list[Record]:
    return load_nearby(
        call,
        [one.content for one in batch.transcript.new_own_turns],
        kinds=(Kind.FACT,),
        scope=batch.session.scope,
        per_text=MAX_MEMORIES_PER_TURN,
    )[:MAX_MEMORIES_SHOWN]


def _extract_with_model(call: Call, batch: TurnBatch, memories: Sequence[Record]) -> Extraction:
    if not batch.transcript.new_own_turns or call.models.fast is None:
        return Extraction()
    summary, categories = batch.session.summary, list(call.profile.categories)
    return extract.extract_with_model(
        call.models.fast, batch.transcript, memories, categories, summary
    )


def _collect_checked_facts(
    call: Call, batch: TurnBatch, memories: Sequence[Record], extraction: Extraction
) -> list[CheckedFact]:
    """Combine the facts found by the model and by rules, and check them.

    Where both found the same fact, the model's wording is kept under the key found by the rules. A
    fact that the user asked to have remembered keeps the user's wording.
    """
    by_rules = extract_facts(batch.transcript.new_own_turns)
    requested = [one for one in by_rules if one.requested]
    by_model = [
        inherit_key(one, by_rules)
        for one in extraction.candidates
        if not any(overlaps(one, other) for other in requested)
    ]
    checked = [_check_candidate(call, batch, memories, one) for one in by_model]
    accepted = [one.candidate for one in checked if one.statement is not None]
    missed = [one for one in by_rules if not any(overlaps(one, other) for other in accepted)]
    return [*checked, *(_check_candidate(call, batch, (), one) for one in missed)]


def _check_candidate(
    call: Call, batch: TurnBatch, memories: Sequence[Record], candidate: ExtractedFact
) -> CheckedFact:
    remembered = [one.content for one in memories]
    reason = find_objection(candidate, batch.transcript, remembered, call.profile.learning)
    if reason is not None:
        return CheckedFact(candidate, None, reason)
    try:
        return CheckedFact(candidate, _build_statement(call, batch, candidate))
    except RemembrancerError:
        return CheckedFact(candidate, None, RejectionReason.REFUSED)


def _build_statement(call: Call, batch: TurnBatch, candidate: ExtractedFact) -> Statement:
    session, profile = batch.session, call.profile
    turns = [one for one in map(batch.transcript.find_turn, candidate.turns) if one is not None]
    tainted = any(one.tainted for one in turns)
    explicit = candidate.requested and not tainted
    statement = validate_statement(
        candidate.content,
        {
            "source": Source.EXPLICIT if explicit else Source.EXTRACTED,
            "origin": Origin.DOCUMENT if tainted else Origin.USER,
            "confidence": 1.0 if explicit else candidate.confidence,
            "category": map_category(profile, candidate.category),
            "scope": session.scope,
            "session_id": session.id,
            "valid_from": min(one.said_at for one in turns),
            "evidence": tuple(
                _build_evidence(session, one, candidate, batch.transcript) for one in turns
            ),
        },
        profile,
    )
    statement = replace(
        statement,
        subject=candidate.subject,
        predicate=candidate.predicate,
        permanence=candidate.permanence,
        importance=map_importance(profile, candidate.importance),
        agent=turns[-1].agent,
        surface=turns[-1].surface,
    )
    clean, secrets = redact_statement(statement)
    refuse_bare_secret(clean, secrets)
    return clean


def _build_evidence(
    session: Session, turn: Turn, candidate: ExtractedFact, transcript: Transcript
) -> Evidence:
    """Cite the turn, with the quote only if this turn contains it."""
    words = next(one.words for one in candidate.quotes if one.turn == turn.id)
    quoted = contains_quote(transcript.own_words[turn.id], words)
    return Evidence(session.id, turn.id, words if quoted else "")


def _store_batch(
    call: Call,
    batch: TurnBatch,
    extraction: Extraction,
    checked: Sequence[CheckedFact],
    writer: Writer,
    vectors: TextVectors,
) -> LearnedBatch | None:
    """Store the facts and move the watermark; returns None if another process has moved it."""
    session, now = writer.get_session(batch.session.id), call.now()
    if session is None or session.watermark != batch.session.watermark:
        return None
    kept: list[str] = []
    confirmed: list[str] = []
    rejected = [
        _build_rejection(session, one.content, one.reason, now) for one in extraction.refused
    ]
    for one in checked:
        reason = one.reason
        if one.statement is not None:
            reason = _store_fact(
                call, writer, vectors, one.candidate, one.statement, kept, confirmed
            )
        if reason is not None:
            candidate = one.candidate
            rejection = _build_rejection(session, candidate.content, reason, now)
            rejected.append(
                replace(
                    rejection,
                    quote=redact_text(candidate.quotes[0].words),
                    turns=candidate.turns,
                )
            )
    writer.save_rejections(rejected)
    learned = LearnedBatch(
        session_id=session.id,
        start=session.watermark,
        end=batch.end,
        kept=tuple(kept),
        confirmed=tuple(confirmed),
        rejected=tuple(rejected),
    )
    writer.apply(call.new_event(Action.LEARNED, now, note=_format_note(learned, extraction)), [])
    has_more = writer.next_position(session.id) > batch.end
    writer.save_session(_advance_session(session, batch, extraction, has_more=has_more))
    return learned


def _store_fact(
    call: Call,
    writer: Writer,
    vectors: TextVectors,
    candidate: ExtractedFact,
    statement: Statement,
    kept: list[str],
    confirmed: list[str],
) -> RejectionReason | None:
    """Add the memory's id to `kept` or `confirmed`, or return the reason for a rejection."""
    if candidate.target is not None:
        return _update_memory(call, writer, vectors, candidate.target, statement, kept)
    new = build_record(call, statement, call.now())
    decision, written = commit(call, writer, new, statement, vectors)
    match decision:
        case Reject():
            return RejectionReason.STANDS
        case Duplicate(old) if not new.tainted and old.id not in (*kept, *confirmed):
            values = renewal_values(old, new.recorded_at)
            writer.apply(call.new_event(Action.CONFIRMED, new.recorded_at), [Patch(old.id, values)])
            confirmed.append(old.id)
        case Duplicate():
            pass
        case _:
            kept.append(written.memory.id)
    return None


def _update_memory(
    call: Call,
    writer: Writer,
    vectors: TextVectors,
    target: str,
    statement: Statement,
    kept: list[str],
) -> RejectionReason | None:
    old = writer.get(target)
    if old is None or old.status is not Status.ACTIVE:
        return RejectionReason.UNKNOWN_MEMORY
    statement = replace(statement, scope=old.scope)
    new = build_version(call, old, statement)
    if is_less_trusted(new, old):
        return RejectionReason.STANDS
    if new.status is Status.QUARANTINED:
        return RejectionReason.REFUSED
    kept.append(supersede(call, writer, old, statement, vectors).memory.id)
    return None


def _advance_session(
    session: Session, batch: TurnBatch, extraction: Extraction, *, has_more: bool
) -> Session:
    """Move the watermark; a session with more new turns stays due."""
    advanced = replace(
        session,
        watermark=batch.end,
        due_at=session.due_at if has_more else None,
        leased_until=None,
        attempts=0,
        failure=None,
    )
    if extraction.summary is not None:
        summary = redact_text(extraction.summary)
        advanced = replace(advanced, summary=summary, summarised=batch.end)
    if extraction.title is not None and session.metadata.get(TITLE_SOURCE_KEY) == BY_WORDS:
        advanced = set_title(advanced, redact_text(extraction.title), BY_MODEL)
    return advanced


def _build_rejection(
    session: Session, content: str, reason: RejectionReason, now: datetime
) -> Rejection:
    return Rejection(
        id=new_id("rejection", now),
        at=now,
        session_id=session.id,
        reason=reason,
        content=redact_text(content),
    )


def _format_note(learned: LearnedBatch, extraction: Extraction) -> str:
    counts = {"kept": len(learned.kept), "confirmed": len(learned.confirmed)}
    parts = [f"{count} {name}" for name, count in counts.items() if count] or ["nothing new"]
    reasons = Counter(one.reason for one in learned.rejected)
    parts += [f"{count} rejected: {reason}" for reason, count in sorted(reasons.items())]
    if extraction.model is not None:
        parts.append(f"{extraction.tokens} tokens of {extraction.model}")
    return "; ".join(parts)
