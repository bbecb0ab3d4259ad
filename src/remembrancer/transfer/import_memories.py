"""The memories of an import, a few hundred at a time, by the same way as any other memory.

A step is written as one event in which no memory occurs twice, so that it can be undone as a whole:
what may be about the same as something before it waits until that is stored.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import Any

from remembrancer.call import Call
from remembrancer.errors import InvalidInput
from remembrancer.guard.redaction import redact_text
from remembrancer.ids import stable_id
from remembrancer.remember.embedding import TextVectors, write_with_vectors
from remembrancer.remember.lifecycle import restoration_values
from remembrancer.remember.pipeline import Add, Supersede, WritePlan, plan_write, refuse_bare_secret
from remembrancer.remember.statement import (
    Statement,
    build_record,
    redact_statement,
    validate_statement,
)
from remembrancer.search.terms import fingerprint
from remembrancer.store.contract import (
    AddLink,
    DropLink,
    Insert,
    Patch,
    Write,
    Writer,
)
from remembrancer.transfer.formats.items import FileLocation, MemoryItem
from remembrancer.types import (
    Action,
    Event,
    Fact,
    Json,
    Kind,
    Link,
    Origin,
    Record,
    Relation,
    Source,
    Status,
)

EMBEDDING_BATCH_SIZE = 64
"""How many are embedded between two words about how far it is."""

MAX_METADATA_DEPTH = 30

WRITE_ORDER: tuple[type[Write], ...] = (Patch, Insert, DropLink, AddLink)
"""What makes room comes before what takes it."""

AdvanceCallback = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class PreparedMemory:
    """A memory that is fit to be stored, under an id that tells where it came from."""

    key: str
    id: str
    statement: Statement
    links: tuple[str, ...] = ()
    secrets: int = 0


@dataclass(frozen=True, slots=True)
class ImportBatch:
    """Groups the events of one import, so that undo takes all of them back."""

    id: str
    note: str


@dataclass(slots=True)
class ImportBatchResult:
    """What became of some memories; `ids` are the memories that stand for their keys."""

    added: int = 0
    present: int = 0
    known: int = 0
    quarantined: int = 0
    event: str | None = None
    ids: dict[str, str] = field(default_factory=dict)


def provenance(format: str, place: FileLocation) -> dict[str, Json]:
    """Where a memory came from, as metadata."""
    file, where = redact_text(place.file), redact_text(place.where)
    return {"imported": {"from": format, "file": file, "place": where}}


def prepare_memory(
    call: Call, format: str, piece: MemoryItem, origin: Origin | None
) -> PreparedMemory:
    """A memory that was checked and cleaned, or an error that says what is wrong with it."""
    details: dict[str, Any] = {"source": Source.IMPORTED, **piece.details}
    if _is_deep(details.get("metadata"), MAX_METADATA_DEPTH):
        raise InvalidInput(f"The metadata is nested more than {MAX_METADATA_DEPTH} deep.")
    if origin is not None:
        details["origin"] = origin
    category = details.get("category")
    if category is not None and category not in call.profile.categories:
        del details["category"]
        details["tags"] = [*details.get("tags", ()), category]
    content = piece.content.strip()
    statement, secrets = redact_statement(validate_statement(content, details, call.profile))  # type: ignore[arg-type]
    refuse_bare_secret(statement, secrets)
    metadata = {**statement.metadata, **provenance(format, piece.place)}
    scope = call.resolve_write_scope(statement.scope)
    told = (call.owner.id, scope, format, piece.key, content)
    return PreparedMemory(
        piece.key,
        stable_id(statement.kind, statement.valid_from, *told),
        replace(statement, metadata=metadata),
        piece.links,
        len(secrets),
    )


def _is_deep(value: object, left: int) -> bool:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return not left or any(_is_deep(one, left - 1) for one in inner)


def store_memories(
    call: Call, batch: ImportBatch, some: Sequence[PreparedMemory], report_progress: AdvanceCallback
) -> ImportBatchResult:
    """Store some memories, but for those that came before and those that are known."""
    unique: dict[str, PreparedMemory] = {}
    for one in some:
        unique.setdefault(one.id, one)
    with call.store.open_reader(call.owner) as reader:
        there = reader.load(unique)
    fresh = [one for one in unique.values() if is_missing(there.get(one.id))]
    report_progress(len(some) - len(fresh))
    vectors = _embed_memories(call, fresh, report_progress)
    outcome = ImportBatchResult(
        present=len(unique) - len(fresh),
        known=len(some) - len(unique),
        ids={one.key: one.id for one in unique.values()},
    )
    while fresh:
        fresh = write_with_vectors(call, vectors, partial(_write_batch, call, batch, fresh, outcome))
    return outcome


def add_links(call: Call, batch: ImportBatch, wanted: Sequence[tuple[str, str]]) -> str | None:
    """Relate memories that are not related yet; the event, if there was anything to do."""
    now = call.now()
    with call.open_writer() as writer:
        known = writer.load({end for pair in wanted for end in pair})
        writes = [
            AddLink(Link(source, target, Relation.RELATED_TO, now))
            for source, target in dict.fromkeys(wanted)
            if source != target
            and {source, target} <= known.keys()
            and not _are_related(writer, source, target)
        ]
        if not writes:
            return None
        return writer.apply(new_import_event(call, batch, now), writes).id


def new_import_event(call: Call, batch: ImportBatch, now: datetime) -> Event:
    return call.new_event(Action.IMPORTED, now, note=batch.note, batch_id=batch.id)


def _are_related(writer: Writer, source: str, target: str) -> bool:
    return any({one.source, one.target} == {source, target} for one in writer.list_links(source))


def is_missing(record: Record | None) -> bool:
    """Whether it is to be stored: it is not there, or it was and the import was undone."""
    return record is None or record.status is Status.RETRACTED


def _embed_memories(
    call: Call, some: Sequence[PreparedMemory], report_progress: AdvanceCallback
) -> TextVectors:
    vectors, now = TextVectors(call), call.now()
    for start in range(0, len(some), EMBEDDING_BATCH_SIZE):
        few = some[start : start + EMBEDDING_BATCH_SIZE]
        vectors.add(build_record(call, one.statement, now).search_text for one in few)
        report_progress(len(few))
    return vectors


def _write_batch(
    call: Call,
    batch: ImportBatch,
    waiting: Sequence[PreparedMemory],
    outcome: ImportBatchResult,
    writer: Writer,
    vectors: TextVectors,
) -> list[PreparedMemory]:
    """Store as many as can be told by one event; the others are left for the next."""
    now, there = call.now(), writer.load(one.id for one in waiting)
    plans: list[tuple[PreparedMemory, WritePlan]] = []
    so_far = _PendingEvent()
    present = 0
    rest: list[PreparedMemory] = []
    for at, one in enumerate(waiting):
        old = there.get(one.id)
        if not is_missing(old):  # Another process was faster.
            present += 1
            continue
        statement = replace(one.statement, id=None if old else one.id)
        new = build_record(call, statement, now)
        intent = _plan_import(call, writer, new, statement, vectors, old)
        if not so_far.try_add(new, intent):
            rest = list(waiting[at:])
            break
        plans.append((one, intent))
    outcome.present += present
    for one, intent in plans:
        outcome.ids[one.key] = intent.memory.id
        _count(outcome, intent)
    if writes := [write for _, intent in plans for write in intent.writes]:
        writes.sort(key=lambda write: WRITE_ORDER.index(type(write)))
        outcome.event = writer.apply(new_import_event(call, batch, now), writes).id
    return rest


def _plan_import(
    call: Call,
    writer: Writer,
    new: Record,
    statement: Statement,
    vectors: TextVectors,
    old: Record | None,
) -> WritePlan:
    """What is to be written; `old` is the same from an import that was undone."""
    intent = plan_write(call, writer, new, statement, vectors)
    match intent.decision:
        case Supersede(other) if _is_separate_entry(new, other):
            intent = WritePlan(
                Add(), new, Action.REMEMBERED, (Insert(new, vectors.get(new.search_text)),)
            )
    if old is not None and isinstance(intent.decision, Add):
        return replace(intent, memory=old, writes=(Patch(old.id, restoration_values(writer, old)),))
    return intent


def _is_separate_entry(new: Record, old: Record) -> bool:
    """Whether both stand in the same file, which tells them apart however alike they are."""
    if _identity_keys(new) & _identity_keys(old):
        return False
    here, there = (one.metadata.get("imported") for one in (new, old))
    if not isinstance(here, dict) or not isinstance(there, dict):
        return False
    same_file = (here["from"], here["file"]) == (there.get("from"), there.get("file"))
    return same_file and here["place"] != there.get("place")


def _count(outcome: ImportBatchResult, intent: WritePlan) -> None:
    if not intent.writes:
        outcome.known += 1
    elif intent.memory.status is Status.QUARANTINED:
        outcome.quarantined += 1
    else:
        outcome.added += 1


class _PendingEvent:
    """What an event holds so far, which the store cannot tell of yet."""

    def __init__(self) -> None:
        self._touched: set[str] = set()
        self._marks: set[tuple[str, ...]] = set()

    def try_add(self, new: Record, intent: WritePlan) -> bool:
        """Add what is to be written, unless it has to do with what is there already."""
        ids = {one for write in intent.writes for one in _touched_ids(write)}
        marks = set() if new.kind is Kind.EPISODE else _identity_keys(new)
        if ids & self._touched or marks & self._marks:
            return False
        self._touched |= ids
        self._marks |= marks
        return True


def _identity_keys(record: Record) -> set[tuple[str, ...]]:
    """By what a memory is known to be the same as another: its words, or what it is about."""
    marks: set[tuple[str, ...]] = {("words", record.scope, fingerprint(record.content))}
    if isinstance(record, Fact) and record.key is not None:
        marks.add(("about", *record.key))
    return marks


def _touched_ids(write: Write) -> tuple[str, ...]:
    match write:
        case Insert(record):
            return (record.id,)
        case Patch(id):
            return (id,)
        case AddLink(link) | DropLink(link):
            return (link.source, link.target)
        case _:
            return ()
