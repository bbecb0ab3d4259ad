"""Learns from a session: extracts facts from new turns, checks them and stores them.

The facts and the new watermark are written in one transaction, so that each turn is learned from
exactly once even if a process is killed.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial

from remembrancer.call import Call
from remembrancer.errors import Conflict, EmbeddingFailed, InvalidInput, UnknownPerson
from remembrancer.guard.redaction import redact_text
from remembrancer.ids import new_id
from remembrancer.learn.check import Check, CheckedFact
from remembrancer.learn.earlier import EarlierFacts, load_earlier
from remembrancer.learn.evidence_check import RejectionReason
from remembrancer.learn.extract import Extraction, InstructionChoices, extract_with_model
from remembrancer.learn.extracted_fact import ExtractedFact, overlaps
from remembrancer.learn.learned_facts import FactWriter
from remembrancer.learn.nearby import load_nearby
from remembrancer.learn.rules.domain_statement import extract_domain_facts
from remembrancer.learn.rules.extractor import extract_facts
from remembrancer.learn.skipped_turns import (
    SkippedTurns,
    Stretch,
    can_narrow,
    describe_error,
    find_read_by_rules,
    is_about_turns,
    list_unread,
    note_learned,
)
from remembrancer.learn.team_extractor import propose_for_team
from remembrancer.learn.transcript import Transcript, build_transcript
from remembrancer.llm import InvalidModelResponse, ModelUnavailable
from remembrancer.profiles import LearningPolicy
from remembrancer.remember.embedding import TextVectors, write_with_vectors
from remembrancer.remember.session_texts import TITLE_SOURCE_KEY
from remembrancer.remember.statement import Statement, build_record
from remembrancer.sessions.titles import BY_MODEL, BY_WORDS
from remembrancer.sessions.turns import set_title
from remembrancer.store.contract import Filter, Writer
from remembrancer.store.erasure_marks import is_erased_since
from remembrancer.team.service import withdraw_contributions
from remembrancer.types import Action, Kind, Record, Rejection, Session, Tenant, Turn

BATCH_SIZE = 60
"""New turns per batch."""

LEASE_DURATION = timedelta(minutes=5)
"""How long a process holds a session while it waits for a model."""

MAX_MEMORIES_SHOWN = 60
"""Memories shown to a model: all of them if there are no more, otherwise the nearest."""

MAX_MEMORIES_PER_TURN = 5

PROBE_TEXT = "user"
"""A text that any working embedder can embed."""


@dataclass(frozen=True, slots=True)
class TurnBatch:
    """The next turns of a session to learn from; `end` is the watermark after them.

    `unread` says why the model does not read them.
    """

    session: Session
    transcript: Transcript
    end: int
    unread: str | None = None

    @property
    def size(self) -> int:
        """The number of new turns."""
        return sum(one.position >= self.session.watermark for one in self.transcript.turns)


@dataclass(frozen=True, slots=True)
class LearnedBatch:
    """The result of learning from the turns of a session from position `start` up to `end`.

    `kept`, `confirmed` and `unconfirmed` are ids of memories.
    """

    session_id: str
    start: int
    end: int
    kept: tuple[str, ...]
    confirmed: tuple[str, ...]
    rejected: tuple[Rejection, ...]
    unconfirmed: tuple[str, ...] = ()
    is_read_by_model: bool = False


@dataclass(frozen=True, slots=True)
class CheckedBatch:
    """The model's response, and each fact with the statement to store, if it can be stored."""

    extraction: Extraction
    facts: Sequence[tuple[CheckedFact, Statement | None]]
    by_rules: Sequence[ExtractedFact] = ()


def learn(
    call: Call, session_id: str, *, with_model: bool = True, skip_unanswered: bool = False
) -> Iterator[LearnedBatch]:
    """Learn from all new turns of a session; yields each batch after it is committed.

    If a model's answer is cut off or the request is refused, it is asked again about half of the
    turns. With `skip_unanswered`, it is so after any invalid answer, and rules read a single turn
    that gets none.
    """
    if not with_model:
        call = call.without_models()
    whole = stretch = _plan_stretch(call.profile.learning)
    skipped = SkippedTurns(call)
    started = call.now()
    while (batch := _claim_next_batch(call, session_id, stretch)) is not None:
        try:
            learned = _learn_batch(call, batch, started)
        except (InvalidModelResponse, ModelUnavailable) as error:
            narrower = replace(stretch, size=batch.size).narrow()
            if narrower is not None and can_narrow(error, skip_unanswered=skip_unanswered):
                _release(call, batch.session)
                stretch = narrower
                continue
            if not skip_unanswered or not is_about_turns(error) or skipped.is_full:
                skipped.take_back()
                raise
            skipped.add(batch.session, error)
            unread = replace(batch, unread=describe_error(error))
            learned = _learn_batch(call.without_models(), unread, started)
        if learned is None:
            return
        if learned.is_read_by_model:
            skipped.accept()
        stretch = replace(whole, size=1) if skipped.count else whole
        yield learned
    skipped.finish()


def _plan_stretch(learning: LearningPolicy) -> Stretch:
    size = min(BATCH_SIZE, learning.window) if learning.window_includes_new else BATCH_SIZE
    return Stretch(size, learning.window)


def _learn_batch(call: Call, batch: TurnBatch, started: datetime) -> LearnedBatch | None:
    """Returns None if another process has learned from it, or the owner was erased meanwhile.

    The team proposals of who was erased are withdrawn, too.
    """
    checked = CheckedBatch(Extraction(), ())
    if _is_personal_learning_enabled(call):
        checked = _extract_and_check(call, batch)
    propose_for_team(call, batch.transcript)
    vectors, checked = _embed_statements(call, checked)
    with contextlib.suppress(UnknownPerson):
        store = partial(_store_batch, call, batch, checked)
        learned = write_with_vectors(call, vectors, store)
        if learned is not None or not is_erased_since(call.store, call.owner, started):
            return learned
    withdraw_contributions(call.services, call.owner, call.profile)
    return None


def _embed_statements(call: Call, checked: CheckedBatch) -> tuple[TextVectors, CheckedBatch]:
    """The vectors of what is to be stored, without statements that cannot be embedded."""
    statements = [statement for _, statement in checked.facts if statement is not None]
    texts = {id(one): build_record(call, one, call.now()).search_text for one in statements}
    try:
        return TextVectors(call, texts.values()), checked
    except EmbeddingFailed:
        vectors = TextVectors(call, [PROBE_TEXT])  # Raises if the embedder fails for any text.
    kept = {one for one, text in texts.items() if _can_embed(vectors, text)}
    facts = [(fact, one if id(one) in kept else None) for fact, one in checked.facts]
    return vectors, replace(checked, facts=facts)


def _can_embed(vectors: TextVectors, text: str) -> bool:
    try:
        vectors.add([text])
    except EmbeddingFailed:
        return False
    return True


def _extract_and_check(call: Call, batch: TurnBatch) -> CheckedBatch:
    memories = _load_memories_to_show(call, batch) if call.models.fast else []
    extraction = _extract_with_model(call, batch, memories)
    check = Check(
        call, batch.session, batch.transcript, memories, is_model_weak=call.models.is_fast_weak
    )
    own, earlier = batch.transcript.new_own_turns, batch.transcript.earlier_own_turns
    by_rules = _extract_with_rules(own, earlier)
    if call.profile.learning.about == "domain":
        by_rules = _add_domain_facts(by_rules, extract_domain_facts(own))
    beside_model = [one for one in by_rules if not one.is_plain]
    facts = check.check_all(extraction.candidates, beside_model if call.models.fast else by_rules)
    if call.profile.learning.verify and not check.is_model_weak:
        facts, tokens = check.verify(facts)
        extraction = replace(extraction, tokens=extraction.tokens + tokens)
    facts = check.drop_repeated(facts)
    statements = [(one, check.build_statement(one)) for one in facts]
    return CheckedBatch(extraction, statements, by_rules)


def _extract_with_rules(turns: Sequence[Turn], earlier: Sequence[Turn]) -> list[ExtractedFact]:
    """What rules find; a turn that they cannot read does not keep them from the others."""
    try:
        return extract_facts(turns, earlier)
    except Exception:
        if len(turns) < 2:
            return []
    return [fact for one in turns for fact in _extract_with_rules([one], ())]


def _add_domain_facts(
    by_rules: Sequence[ExtractedFact], found: Sequence[ExtractedFact]
) -> list[ExtractedFact]:
    """The facts about a domain beside what the other rules make of other sentences."""
    more = [one for one in found if not any(overlaps(one, other) for other in by_rules)]
    return [*by_rules, *more]


def _is_personal_learning_enabled(call: Call) -> bool:
    tenant = Tenant(call.owner.tenant)
    settings = call.services.live_settings.get(tenant, call.profile)
    return settings.personal_learning and call.is_memory_enabled


def _is_leased(session: Session, now: datetime) -> bool:
    """True if another process learns from it; a lease from a clock that was ahead is void."""
    until = session.leased_until
    return until is not None and timedelta() < until - now <= 2 * LEASE_DURATION


def _claim_next_batch(call: Call, session_id: str, stretch: Stretch) -> TurnBatch | None:
    """Returns None if nothing is left to learn or another process holds the session."""
    size, window, now = stretch.size, stretch.window, call.now()
    with call.open_writer() as writer:
        session = writer.get_session(session_id)
        if session is None or _is_leased(session, now):
            return None
        before = session.watermark - window - 1
        listed = writer.list_turns(session_id, before, window + size)
        known = [one for one in listed if one.position < session.watermark]
        new = listed[len(known) : len(known) + size]
        if call.profile.learning.window_includes_new:
            known = known[max(0, len(known) + len(new) - max(window, len(new))) :]
        if not new:
            writer.save_session(replace(session, due_at=None, leased_until=None))
            return None
        if call.models.fast is not None:
            session = replace(session, leased_until=now + LEASE_DURATION)
            writer.save_session(session)
    unread = list_unread(session)
    shown = [one for one in known if one.position not in unread]
    transcript = build_transcript([*shown, *new], session.watermark)
    return TurnBatch(session, transcript, new[-1].position + 1)


def _release(call: Call, session: Session) -> None:
    with call.open_writer() as writer:
        current = writer.get_session(session.id)
        if current is not None and current.leased_until == session.leased_until:
            writer.save_session(replace(current, leased_until=None))


def _load_memories_to_show(call: Call, batch: TurnBatch) -> list[Record]:
    scope = batch.session.scope
    known = Filter(now=call.now(), kinds=(Kind.FACT,), visible=call.resolve_visibility(scope))
    with call.store.open_reader(call.owner) as reader:
        found = reader.find(known, MAX_MEMORIES_SHOWN + 1)
    if len(found) <= MAX_MEMORIES_SHOWN:
        return [one for one in found if not one.has_program_key]
    return load_nearby(
        call,
        [one.content for one in batch.transcript.new_own_turns],
        kinds=(Kind.FACT,),
        scope=scope,
        per_text=MAX_MEMORIES_PER_TURN,
    )[:MAX_MEMORIES_SHOWN]


def _extract_with_model(call: Call, batch: TurnBatch, memories: Sequence[Record]) -> Extraction:
    if not batch.transcript.new_own_turns or call.models.fast is None:
        return Extraction()
    categories = {name: one.description for name, one in call.profile.categories.items()}
    return extract_with_model(
        call.models.fast,
        batch.transcript,
        memories,
        InstructionChoices(categories, call.profile.learning.about),
        batch.session.summary,
        call.now(),
    )


def _store_batch(
    call: Call, batch: TurnBatch, checked: CheckedBatch, writer: Writer, vectors: TextVectors
) -> LearnedBatch | None:
    """Store the facts and move the watermark; returns None if another process has moved it."""
    session, now = writer.get_session(batch.session.id), call.now()
    if session is None or session.watermark != batch.session.watermark:
        return None
    if writer.get(batch.transcript.turns[-1].id) is None:  # Another session has its name.
        return None
    facts = FactWriter(call, writer, vectors)
    earlier = _load_earlier(call, writer, batch, checked)
    rejected = [
        _build_rejection(session, one.content, one.reason, now)
        for one in checked.extraction.refused
    ]
    for one, statement in checked.facts:
        reason = one.reason or _store_fact(facts, earlier, one, statement)
        if reason is not None:
            rejected.append(_reject(session, one.candidate, reason, now))
    for confirmation in checked.extraction.confirmations:
        facts.confirm(confirmation, batch.transcript)
    writer.save_rejections(rejected)
    learned = LearnedBatch(
        session_id=session.id,
        start=session.watermark,
        end=batch.end,
        kept=tuple(facts.kept),
        confirmed=tuple(facts.confirmed),
        rejected=tuple(rejected),
        unconfirmed=tuple(facts.unconfirmed),
        is_read_by_model=checked.extraction.model is not None,
    )
    note = _format_note(learned, checked.extraction)
    if batch.unread is not None:
        note = f"{note}; not read by the model: {batch.unread}"
    writer.apply(call.new_event(Action.LEARNED, now, note=note), [])
    has_more = writer.next_position(session.id) > batch.end
    writer.save_session(_advance_session(session, batch, checked.extraction, has_more=has_more))
    return learned


def _load_earlier(
    call: Call, writer: Writer, batch: TurnBatch, checked: CheckedBatch
) -> EarlierFacts:
    """What was learned from the session before; rules may have read these turns already."""
    end = find_read_by_rules(batch.session)
    read = {one.id for one in batch.transcript.turns if one.position < end}
    found_before = [one for one in checked.by_rules if read.issuperset(one.turns)]
    return load_earlier(call, writer, batch.session, batch.transcript, found_before)


def _store_fact(
    facts: FactWriter, earlier: EarlierFacts, fact: CheckedFact, statement: Statement | None
) -> RejectionReason | None:
    """Returns the reason if the fact is not stored."""
    candidate = fact.candidate
    if earlier.is_dismissed(candidate):
        return RejectionReason.DISMISSED
    if not fact.by_model and (earlier.was_found_before(candidate) or earlier.is_saved(candidate)):
        return None
    if candidate.target is None and fact.by_model and fact.doubt is None:
        candidate = replace(candidate, target=earlier.find_restated(candidate))
    try:
        return facts.store(candidate, statement)
    except (InvalidInput, Conflict, ArithmeticError, ValueError):
        return RejectionReason.REFUSED


def _advance_session(
    session: Session, batch: TurnBatch, extraction: Extraction, *, has_more: bool
) -> Session:
    """Move the watermark; a session with more new turns stays due."""
    last = batch.transcript.turns[-1].position
    unread = {last: batch.unread} if batch.unread else {}
    advanced = replace(
        note_learned(session, batch.end, unread),
        due_at=session.due_at if has_more else None,
        leased_until=None,
        attempts=0,
    )
    if extraction.summary is not None:
        advanced = replace(advanced, summary=redact_text(extraction.summary))
    is_untitled = session.title is None or session.metadata.get(TITLE_SOURCE_KEY) == BY_WORDS
    if extraction.title is not None and is_untitled:
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


def _reject(
    session: Session, candidate: ExtractedFact, reason: RejectionReason, now: datetime
) -> Rejection:
    rejection = _build_rejection(session, candidate.content, reason, now)
    quote = redact_text(candidate.quotes[0].words)
    return replace(rejection, quote=quote, turns=candidate.turns)


def _format_note(learned: LearnedBatch, extraction: Extraction) -> str:
    counts = {
        "kept": len(learned.kept),
        "confirmed": len(learned.confirmed),
        "to review": len(learned.unconfirmed),
    }
    parts = [f"{count} {name}" for name, count in counts.items() if count] or ["nothing new"]
    reasons = Counter(one.reason for one in learned.rejected)
    parts += [f"{count} rejected: {reason}" for reason, count in sorted(reasons.items())]
    if extraction.model is not None:
        parts.append(f"{extraction.tokens} tokens of {extraction.model}")
    return "; ".join(parts)
