"""Stores the conversations of an import in batches of turns, each batch as one event."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from remembrancer.call import Call
from remembrancer.errors import InvalidInput, RemembrancerError
from remembrancer.guard.redaction import redact_text, validate_text
from remembrancer.guard.secrets.replies import REMEMBERED_TURNS
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
from remembrancer.transfer.purged import find_purged
from remembrancer.types import Origin, Session, SessionStatus, Status

TurnEmbeddings = tuple[Embedding, ...]


@dataclass(frozen=True, slots=True)
class PreparedConversation:
    """A conversation, or a part of one, whose turns are validated."""

    session_id: str
    scope: str
    title: str | None
    turns: tuple[CleanTurn, ...]

    def split(self, size: int) -> Iterator[PreparedConversation]:
        for start in range(0, len(self.turns), size):
            yield replace(self, turns=self.turns[start : start + size])


def prepare_conversation(
    call: Call, format: str, item: ConversationItem, origin: Origin | None
) -> tuple[PreparedConversation, list[SkippedItem]]:
    """Validate and redact the turns of a conversation; returns those that cannot be stored too."""
    scope = call.resolve_write_scope()
    identity = (call.owner.id, scope, format, item.key)
    turns: dict[str, CleanTurn] = {}
    skipped: list[SkippedItem] = []
    for number, one in enumerate(item.turns, 1):
        try:
            said = [
                str(before.turn.get("content", ""))
                for before in item.turns[: number - 1][-REMEMBERED_TURNS:]
            ]
            turn = _prepare_turn(call, format, one, number, origin, said)
        except (RemembrancerError, RecursionError) as error:
            skipped.append(SkippedItem(one.place, str(error).partition(": ")[2] or str(error)))
            continue
        id = stable_id("turn", one.turn.get("said_at"), *identity, one.key)
        turns.setdefault(id, replace(turn, id=id))
    session_id = stable_id("session", None, *identity)
    return PreparedConversation(
        session_id, scope, _clean_title(item.title), tuple(turns.values())
    ), skipped


def store_turns(
    call: Call,
    batch: ImportBatch,
    conversations: Sequence[PreparedConversation],
    report_progress: AdvanceCallback,
    *,
    learns: bool,
) -> ImportBatchResult:
    """Store turns, except those that are present already."""
    outcome = ImportBatchResult()
    turns = [one for conversation in conversations for one in conversation.turns]
    ids = {str(one.id) for one in turns}
    with call.store.open_reader(call.owner) as reader:
        stored = reader.load(ids)
        purged = find_purged(reader, ids - stored.keys())
    fresh = [one for one in turns if one.id not in stored and one.id not in purged]
    report_progress(len(turns) - len(fresh))
    vectors = _embed_turns(call, fresh, report_progress)
    with call.open_writer(alone=True) as writer:
        stored = writer.load(str(one.id) for one in turns)
        writes: list[Write] = [
            Patch(one.id, restoration_values(writer, one))
            for one in stored.values()
            if one.status is Status.RETRACTED
        ]
        for conversation in conversations:
            known = stored.keys() | purged
            writes += _append_new_turns(call, writer, conversation, known, vectors, learns=learns)
        if writes:
            event = new_import_event(call, batch, call.now())
            outcome.event = writer.apply(event, writes).id
    outcome.added = len(writes)
    outcome.present = len(turns) - len(writes)
    return outcome


def _prepare_turn(
    call: Call,
    format: str,
    one: TurnItem,
    number: int,
    origin: Origin | None,
    previous: Sequence[str],
) -> CleanTurn:
    given = one.turn
    if origin is not None and given["role"] == "user":
        given = {**given, "origin": origin}
    turn = clean_turn(given, call.now(), number, previous)
    return replace(turn, metadata={**turn.metadata, **provenance(format, one.place, origin)})


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
    conversation: PreparedConversation,
    known: Collection[str],
    vectors: Mapping[str, TurnEmbeddings],
    *,
    learns: bool,
) -> list[Write]:
    """Return the writes that append the new turns of a conversation."""
    new = [one for one in conversation.turns if str(one.id) not in known]
    if not new:
        return []
    title = None if writer.get_session(conversation.session_id) else conversation.title
    appended = continue_session(
        call, writer, new, conversation.session_id, conversation.scope, title
    )
    writer.save_session(_mark_idle(call, appended.session, learns=learns))
    return [Insert(one, None, vectors.get(one.id, ())) for one in appended.turns]


def _mark_idle(call: Call, session: Session, *, learns: bool) -> Session:
    """Return the session as idle, and due for learning in the background if `learns`."""
    due = session.due_at or call.now() if learns else session.due_at
    return replace(session, status=SessionStatus.IDLE, due_at=due)
