"""Stores the memories of an import in batches, through the same pipeline as any other write.

A batch is one event in which no memory occurs twice, so that it can be undone as a whole. A memory
that may duplicate an earlier one of the batch waits for the next batch.
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
from remembrancer.remember.pipeline import (
    Add,
    Refuse,
    Supersede,
    WritePlan,
    plan_write,
    refuse_bare_secret,
)
from remembrancer.remember.provenance import IMPORT_KEY, VOUCHED_KEY, drop_request
from remembrancer.remember.statement import (
    Statement,
    build_record,
    redact_statement,
    validate_statement,
)
from remembrancer.search.terms import fingerprint
from remembrancer.store.contract import AddLink, DropLink, Insert, Patch, Write, Writer
from remembrancer.transfer.formats.items import FileLocation, MemoryItem
from remembrancer.transfer.purged import find_purged
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
"""Memories that are embedded between two progress reports."""

MAX_METADATA_DEPTH = 30

WRITE_ORDER: tuple[type[Write], ...] = (Patch, Insert, DropLink, AddLink)
"""Writes that free a unique key come before writes that take it."""

AdvanceCallback = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class PreparedMemory:
    """A validated memory with an id that is derived from its source."""

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
    """The result of a batch.

    `refused` maps rules to the reason, and `ids` the keys of the source to memories.
    """

    added: int = 0
    present: int = 0
    known: int = 0
    quarantined: int = 0
    refused: dict[str, str] = field(default_factory=dict)
    event: str | None = None
    ids: dict[str, str] = field(default_factory=dict)


def provenance(format: str, place: FileLocation, origin: Origin | None = None) -> dict[str, Json]:
    """The metadata of a memory of a file; it says so if the person vouches for that."""
    file, where = redact_text(place.file), redact_text(place.where)
    vouched: dict[str, Json] = {VOUCHED_KEY: True} if origin is Origin.USER else {}
    return {IMPORT_KEY: {"from": format, "file": file, "place": where, **vouched}}


def prepare_memory(
    call: Call, format: str, item: MemoryItem, origin: Origin | None
) -> PreparedMemory:
    """Validate and redact a memory; raises an error that says what is wrong with it."""
    details: dict[str, Any] = {**item.details, "source": Source.IMPORTED}
    if _is_deep(details.get("metadata"), MAX_METADATA_DEPTH):
        raise InvalidInput(f"The metadata is nested more than {MAX_METADATA_DEPTH} levels deep.")
    if origin is not None:
        details["origin"] = origin
    category = details.get("category")
    if category is not None and category not in call.profile.categories:
        del details["category"]
        details["tags"] = [*details.get("tags", ()), category]
    content = item.content.strip()
    statement, secrets = redact_statement(validate_statement(content, details, call.profile))  # type: ignore[arg-type]
    refuse_bare_secret(statement)
    metadata = {**drop_request(statement.metadata), **provenance(format, item.place, origin)}
    scope = call.resolve_write_scope(statement.scope)
    identity = (call.owner.id, scope, format, item.key, content)
    return PreparedMemory(
        item.key,
        stable_id(statement.kind, statement.valid_from, *identity),
        replace(statement, metadata=metadata),
        item.links,
        len(secrets),
    )


def _is_deep(value: object, left: int) -> bool:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return not left or any(_is_deep(one, left - 1) for one in inner)


def store_memories(
    call: Call, batch: ImportBatch, some: Sequence[PreparedMemory], report_progress: AdvanceCallback
) -> ImportBatchResult:
    """Store memories, except those that are present or known already."""
    unique: dict[str, PreparedMemory] = {}
    for one in some:
        unique.setdefault(one.id, one)
    with call.store.open_reader(call.owner) as reader:
        stored = reader.load(unique)
        purged = find_purged(reader, unique.keys() - stored.keys())
    missing = [one for one in unique.values() if is_missing(stored.get(one.id))]
    fresh = [one for one in missing if one.id not in purged]
    report_progress(len(some) - len(fresh))
    vectors = _embed_memories(call, fresh, report_progress)
    outcome = ImportBatchResult(
        present=len(unique) - len(fresh),
        known=len(some) - len(unique),
        ids={one.key: one.id for one in unique.values()},
    )
    while fresh:
        fresh = write_with_vectors(
            call, vectors, partial(_write_batch, call, batch, fresh, outcome), alone=True
        )
    return outcome


def add_links(call: Call, batch: ImportBatch, pairs: Sequence[tuple[str, str]]) -> str | None:
    """Link memories that are not linked yet, and return the event if there was any."""
    now = call.now()
    with call.open_writer() as writer:
        known = writer.load({end for pair in pairs for end in pair})
        writes = [
            AddLink(Link(source, target, Relation.RELATED_TO, now))
            for source, target in dict.fromkeys(pairs)
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
    """True if a memory is not stored, or was retracted when its import was undone."""
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
    """Store as many memories as fit into one event, and return the others."""
    now, stored = call.now(), writer.load(one.id for one in waiting)
    plans: list[tuple[PreparedMemory, WritePlan]] = []
    event = _PendingEvent()
    present = 0
    rest: list[PreparedMemory] = []
    for at, one in enumerate(waiting):
        old = stored.get(one.id)
        if not is_missing(old):  # Another process stored it meanwhile.
            present += 1
            continue
        statement = replace(one.statement, id=None if old else one.id)
        new = build_record(call, statement, now)
        plan = _plan_import(call, writer, new, statement, vectors, old)
        if not event.try_add(new, plan):
            rest = list(waiting[at:])
            break
        plans.append((one, plan))
    outcome.present += present
    for one, plan in plans:
        if isinstance(plan.decision, Refuse):
            outcome.refused[one.statement.content] = plan.decision.old.explain_refusal()
            continue
        outcome.ids[one.key] = plan.memory.id
        _count(outcome, plan)
    if writes := [write for _, plan in plans for write in plan.writes]:
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
    """Plan the write; `old` is the same memory of an import that was undone."""
    plan = plan_write(call, writer, new, statement, vectors)
    match plan.decision:
        case Supersede(other) if _is_separate_entry(new, other):
            plan = WritePlan(
                Add(), new, Action.REMEMBERED, (Insert(new, vectors.get(new.search_text)),)
            )
    if old is not None and isinstance(plan.decision, Add):
        return replace(plan, memory=old, writes=(Patch(old.id, restoration_values(writer, old)),))
    return plan


def _is_separate_entry(new: Record, old: Record) -> bool:
    """True if both are entries of one file, which are distinct however similar they are."""
    if _identity_keys(new) & _identity_keys(old):
        return False
    mine, other = (one.metadata.get(IMPORT_KEY) for one in (new, old))
    if not isinstance(mine, dict) or not isinstance(other, dict):
        return False
    same_file = (mine["from"], mine["file"]) == (other.get("from"), other.get("file"))
    return same_file and mine["place"] != other.get("place")


def _count(outcome: ImportBatchResult, plan: WritePlan) -> None:
    if not plan.writes:
        outcome.known += 1
    elif plan.memory.status is Status.QUARANTINED:
        outcome.quarantined += 1
    else:
        outcome.added += 1


class _PendingEvent:
    """The memories of an event that is not written yet, so the store cannot find them."""

    def __init__(self) -> None:
        self._touched: set[str] = set()
        self._keys: set[tuple[str, ...]] = set()

    def try_add(self, new: Record, plan: WritePlan) -> bool:
        """Add a write and return True, unless it touches a memory of the event."""
        ids = {one for write in plan.writes for one in _touched_ids(write)}
        keys = set() if new.kind is Kind.EPISODE else _identity_keys(new)
        if ids & self._touched or keys & self._keys:
            return False
        self._touched |= ids
        self._keys |= keys
        return True


def _identity_keys(record: Record) -> set[tuple[str, ...]]:
    """Return the keys by which two memories count as the same: their text, or their subject."""
    keys: set[tuple[str, ...]] = {("words", record.scope, fingerprint(record.content))}
    if isinstance(record, Fact) and record.key is not None:
        keys.add(("about", *record.key))
    return keys


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
