"""The conversations of an import, a few hundred turns at a time, each step one event."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from remembrancer.call import Call
from remembrancer.errors import InvalidInput, RemembrancerError
from remembrancer.guard.redaction import redact_text, validate_text
from remembrancer.ids import stable_id
from remembrancer.remember.embedding import embed_units, split_turn
from remembrancer.remember.lifecycle import restoration_values
from remembrancer.sessions.turns import MAX_TITLE_CHARS, CleanTurn, clean_turn, continue_session
from remembrancer.store.contract import Embedding, Insert, Patch, Write, Writer
from remembrancer.transfer.formats.items import ConversationItem, SkippedItem, TurnItem
from remembrancer.transfer.import_memories import (
    EMBEDDING_BATCH_SIZE,
    AdvanceCallback,
    ImportBatch,
    ImportBatchResult,
    new_import_event,
    provenance,
)
from remembrancer.types import Origin, Record, Session, SessionStatus, Status

TurnEmbeddings = tuple[Embedding, ...]


@dataclass(frozen=True, slots=True)
class PreparedConversation:
    """A conversation, or a part of it, that is fit to be stored."""

    session_id: str
    scope: str
    title: str | None
    turns: tuple[CleanTurn, ...]

    def split(self, size: int) -> Iterator[PreparedConversation]:
        """The same in parts of so many turns at most."""
        for start in range(0, len(self.turns), size):
            yield replace(self, turns=self.turns[start : start + size])


def prepare_conversation(
    call: Call, format: str, piece: ConversationItem, origin: Origin | None
) -> tuple[PreparedConversation, list[SkippedItem]]:
    """A conversation whose turns were checked and cleaned, and those that cannot be stored."""
    scope = call.resolve_write_scope()
    told = (call.owner.id, scope, format, piece.key)
    turns: dict[str, CleanTurn] = {}
    unfit: list[SkippedItem] = []
    for number, one in enumerate(piece.turns, 1):
        try:
            turn = _prepare_turn(call, format, one, number, origin)
        except (RemembrancerError, RecursionError) as error:
            unfit.append(SkippedItem(one.place, str(error).partition(": ")[2] or str(error)))
            continue
        at = one.turn.get("said_at")
        id = stable_id("turn", at, *told, one.key)
        turns.setdefault(id, replace(turn, id=id))
    session_id = stable_id("session", None, *told)
    return PreparedConversation(
        session_id, scope, _clean_title(piece.title), tuple(turns.values())
    ), unfit


def store_turns(
    call: Call,
    batch: ImportBatch,
    talks: Sequence[PreparedConversation],
    report_progress: AdvanceCallback,
    *,
    learns: bool,
) -> ImportBatchResult:
    """Store some turns, but for those that came before."""
    outcome = ImportBatchResult()
    turns = [one for talk in talks for one in talk.turns]
    with call.store.open_reader(call.owner) as reader:
        there = reader.load(str(one.id) for one in turns)
    fresh = [one for one in turns if one.id not in there]
    report_progress(len(turns) - len(fresh))
    vectors = _embed_turns(call, fresh, report_progress)
    with call.open_writer() as writer:
        there = writer.load(str(one.id) for one in turns)
        writes: list[Write] = [
            Patch(one.id, restoration_values(writer, one))
            for one in there.values()
            if one.status is Status.RETRACTED
        ]
        for talk in talks:
            writes += _append_new_turns(call, writer, talk, there, vectors, learns=learns)
        if writes:
            event = new_import_event(call, batch, call.now())
            outcome.event = writer.apply(event, writes).id
    outcome.added = len(writes)
    outcome.present = len(turns) - len(writes)
    return outcome


def _prepare_turn(
    call: Call, format: str, one: TurnItem, number: int, origin: Origin | None
) -> CleanTurn:
    said = one.turn
    if origin is not None and said["role"] == "user":
        said = {**said, "origin": origin}
    turn = clean_turn(said, call.now(), number)
    return replace(turn, metadata={**turn.metadata, **provenance(format, one.place)})


def _clean_title(title: str | None) -> str | None:
    try:
        return redact_text(
            validate_text((title or "")[:MAX_TITLE_CHARS], "The title", MAX_TITLE_CHARS)
        )
    except InvalidInput:
        return None


def _embed_turns(
    call: Call, turns: Sequence[CleanTurn], report_progress: AdvanceCallback
) -> dict[str, TurnEmbeddings]:
    vectors: dict[str, TurnEmbeddings] = {}
    for start in range(0, len(turns), EMBEDDING_BATCH_SIZE):
        few = turns[start : start + EMBEDDING_BATCH_SIZE]
        units = [split_turn(one.role, one.speaker, one.content) for one in few]
        found = embed_units(call, units)
        vectors |= {str(one.id): parts for one, parts in zip(few, found, strict=True)}
        report_progress(len(few))
    return vectors


def _append_new_turns(
    call: Call,
    writer: Writer,
    talk: PreparedConversation,
    there: Mapping[str, Record],
    vectors: Mapping[str, TurnEmbeddings],
    *,
    learns: bool,
) -> list[Write]:
    """The turns of a conversation that are new, after those that it has."""
    new = [one for one in talk.turns if one.id not in there]
    if not new:
        return []
    title = None if writer.get_session(talk.session_id) else talk.title
    heard = continue_session(call, writer, new, talk.session_id, talk.scope, title)
    writer.save_session(_mark_idle(call, heard.session, learns=learns))
    return [Insert(one, None, vectors.get(one.id, ())) for one in heard.turns]


def _mark_idle(call: Call, session: Session, *, learns: bool) -> Session:
    """It is over; what was said in it is learned from in the background, if at all."""
    due = session.due_at or call.now() if learns else session.due_at
    return replace(session, status=SessionStatus.IDLE, due_at=due)
