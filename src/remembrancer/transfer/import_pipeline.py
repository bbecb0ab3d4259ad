"""Imports memories and conversations from other products.

The source is read completely before anything is written. Each batch is one transaction, and ids
are derived from the source, so an interrupted import can be repeated without duplicates.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, tzinfo
from pathlib import Path
from typing import TYPE_CHECKING

from remembrancer.call import Call
from remembrancer.errors import Conflict, InvalidInput, RemembrancerError
from remembrancer.guard.redaction import redact_text
from remembrancer.ids import new_id
from remembrancer.transfer import import_memories, import_turns
from remembrancer.transfer.formats import files
from remembrancer.transfer.formats.detect import OWN_FORMAT, detect_format, get_reader
from remembrancer.transfer.formats.files import ImportSource
from remembrancer.transfer.formats.items import (
    ConversationItem,
    ImportItem,
    MemoryItem,
    SkippedItem,
)
from remembrancer.transfer.import_memories import ImportBatch, ImportBatchResult
from remembrancer.transfer.store_entries import convert_entry
from remembrancer.types import Origin

if TYPE_CHECKING:
    from remembrancer.types import Progress

BATCH_SIZE = 250
"""Memories or turns in one transaction, and thus the most that an interruption loses."""

MAX_SAMPLES = 5
ALL_OWNERS = "*"


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportOptions:
    """Options of an import.

    `of` selects one owner in a source that has several. `learn` says whether to learn from
    conversations at once; None means in the background.
    """

    format: str | None = None
    of: str | None = None
    origin: Origin | None = None
    learn: bool | None = None
    dry_run: bool = False
    zone: tzinfo = UTC


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportResult:
    """Counts of what an import stored, or would store in a dry run.

    `turns` and `memories` were stored. `present` came with an earlier import, `known` was
    remembered already, and `quarantined` reads like an instruction of a third party. `refused` maps
    rules that are disabled or have become warnings to the reason. `left_out` counts skipped items
    by reason, `unread` lists skipped files. `undo` takes `event` to undo the whole import.
    """

    source: str
    format: str
    conversations: int = 0
    turns: int = 0
    memories: int = 0
    present: int = 0
    known: int = 0
    quarantined: int = 0
    secrets: int = 0
    refused: Mapping[str, str]
    left_out: Mapping[str, int]
    unread: tuple[str, ...] = ()
    samples: tuple[str, ...] = ()
    event: str | None = None
    dry_run: bool = False


def import_from(
    call: Call, place: str | Path, choices: ImportOptions, progress: Progress | None = None
) -> ImportResult:
    """Import the files at a path or a database; nothing is written before all of it was read."""
    limits = call.services.settings.imports
    unpacked = files.UnpackLimits(limits.max_unpacked_bytes, limits.max_unpack_ratio)
    with files.open_source(place, unpacked) as opened:
        source = replace(opened, zone=choices.zone)
        format = choices.format or detect_format(source)
        if format == OWN_FORMAT:
            raise InvalidInput(
                "This is an export of Remembrancer: "
                "use `rem import`, or `import_` of an open store."
            )
        read = get_reader(format)
        total = _count_items(source, read, choices.of)
        if source.files and not any(one.was_read for one in source.files):
            raise InvalidInput(f"{source.name} has nothing in the format {format}.")
        if not choices.dry_run:
            _check_embedding_model(call)
        run = _Import(call, source.name, format, choices, _ProgressReporter(progress, total))
        for item in _filter_by_owner(read(source), choices.of):
            run.add(item)
        run.finish()
        return run.build_result(source)


def _count_items(
    source: ImportSource, read: Callable[[ImportSource], Iterator[ImportItem]], of: str | None
) -> int:
    """Read everything once and count it; raises `InvalidInput` if an owner must be chosen."""
    total = 0
    owners: Counter[str] = Counter()
    for item in read(source):
        if isinstance(item, SkippedItem):
            continue
        size = len(item.turns) if isinstance(item, ConversationItem) else 1
        total += size if _belongs_to(item.source_owner, of) else 0
        if item.source_owner is not None:
            owners[item.source_owner] += size
    listed = ", ".join(f"{name} ({count})" for name, count in owners.most_common(20))
    if of is None and len(owners) > 1:
        raise InvalidInput(
            f"{source.name} has several owners: {listed}. Choose one (--of NAME), "
            "or all of them (--of '*')."
        )
    if of not in (None, ALL_OWNERS) and not total:
        raise InvalidInput(f"{source.name} has nothing of {of!r}; it has {listed or 'nothing'}.")
    return total


def _filter_by_owner(items: Iterator[ImportItem], of: str | None) -> Iterator[ImportItem]:
    for item in items:
        if isinstance(item, SkippedItem) or _belongs_to(item.source_owner, of):
            yield item
        else:
            yield SkippedItem(item.place, "of another owner")


def _belongs_to(owner: str | None, of: str | None) -> bool:
    """True if an owner is selected; a namespace includes those below it."""
    return of in (None, ALL_OWNERS, owner) or f"{owner}".startswith(f"{of}/")


def _check_embedding_model(call: Call) -> None:
    """Raise `Conflict` if most embeddings are of another model, which would break dedup."""
    with call.store.open_reader(call.owner) as reader:
        counts = reader.count_embedded()
    model = call.embedder.model
    others = {name: count for name, count in counts.items() if name != model}
    if others and max(others.values()) > counts.get(model, 0):
        raise Conflict(
            f"The memories have embeddings of {max(others, key=others.__getitem__)}, but {model} "
            "is configured. Run `rem reembed` first, or configure the other model."
        )


class _ProgressReporter:
    def __init__(self, progress: Progress | None, total: int) -> None:
        self._progress = progress
        self._total = total
        self._done = 0
        self(0)

    def __call__(self, count: int) -> None:
        self._done += count
        if self._progress is not None:
            self._progress(min(self._done, self._total), self._total)


class _Import:
    """A running import: the batch that waits to be written, and the counts so far."""

    def __init__(
        self,
        call: Call,
        name: str,
        format: str,
        choices: ImportOptions,
        report_progress: _ProgressReporter,
    ) -> None:
        self._call = call
        self._name = redact_text(name)
        self._format = format
        self._choices = choices
        self._report_progress = report_progress
        self._batch = ImportBatch(new_id("batch", call.now()), f"{format}: {self._name}")
        self._memories: list[import_memories.PreparedMemory] = []
        self._conversations: list[import_turns.PreparedConversation] = []
        self._links: list[tuple[str, str]] = []
        self._ids: dict[str, str] = {}
        self._counts: Counter[str] = Counter()
        self._refused: dict[str, str] = {}
        self._left_out: Counter[str] = Counter()
        self._samples: list[str] = []
        self._event: str | None = None

    def add(self, item: ImportItem) -> None:
        """Add one item, and write the batch if it is full."""
        match item:
            case SkippedItem():
                self._left_out[item.reason] += 1
            case MemoryItem():
                self._add_memory(item)
            case ConversationItem():
                self._add_conversation(item)

    def finish(self) -> None:
        """Write the last batch, and the links between all imported memories."""
        self._write_memories()
        self._write_turns()
        links = [
            (self._ids[source], self._ids[target])
            for source, target in self._links
            if source in self._ids and target in self._ids
        ]
        if links and not self._choices.dry_run:
            self._event = import_memories.add_links(self._call, self._batch, links) or self._event

    def build_result(self, source: ImportSource) -> ImportResult:
        return ImportResult(
            source=self._name,
            format=self._format,
            **self._counts,
            refused=self._refused,
            left_out=dict(self._left_out.most_common()),
            unread=tuple(one.name for one in source.files if not one.was_read),
            samples=tuple(self._samples),
            event=self._event,
            dry_run=self._choices.dry_run,
        )

    def _add_memory(self, item: MemoryItem) -> None:
        try:
            prepared = import_memories.prepare_memory(
                self._call,
                self._format,
                convert_entry(self._call, item, self._choices.of),
                self._choices.origin,
            )
        except (RemembrancerError, RecursionError) as error:
            self._left_out[str(error)] += 1
            self._report_progress(1)
            return
        self._links += [(item.key, target) for target in item.links]
        self._counts["secrets"] += prepared.secrets
        self._add_sample(prepared.statement.content)
        self._memories.append(prepared)
        if len(self._memories) >= BATCH_SIZE:
            self._write_memories()

    def _add_conversation(self, item: ConversationItem) -> None:
        prepared, skipped = import_turns.prepare_conversation(
            self._call, self._format, item, self._choices.origin
        )
        for one in skipped:
            self._left_out[one.reason] += 1
        turns = prepared.turns
        self._report_progress(len(item.turns) - len(turns))
        if not turns:
            return
        self._counts["conversations"] += 1
        self._add_sample(f"{prepared.title or turns[0].content} ({len(turns)} turns)")
        for part in prepared.split(BATCH_SIZE):
            self._conversations.append(part)
            if sum(len(one.turns) for one in self._conversations) >= BATCH_SIZE:
                self._write_turns()

    def _add_sample(self, sample: str) -> None:
        if len(self._samples) < MAX_SAMPLES:
            self._samples.append(sample)

    def _write_memories(self) -> None:
        batch, self._memories = self._memories, []
        if self._choices.dry_run:
            self._add_result("memories", self._predict_result([one.id for one in batch]))
        elif batch:
            done = import_memories.store_memories(
                self._call, self._batch, batch, self._report_progress
            )
            self._add_result("memories", done)

    def _write_turns(self) -> None:
        batch, self._conversations = self._conversations, []
        if self._choices.dry_run:
            ids = [str(turn.id) for conversation in batch for turn in conversation.turns]
            self._add_result("turns", self._predict_result(ids))
        elif batch:
            learning = self._call.profile.learning.when != "never"
            learns = learning and self._choices.learn is not False
            done = import_turns.store_turns(
                self._call, self._batch, batch, self._report_progress, learns=learns
            )
            self._add_result("turns", done)

    def _predict_result(self, ids: list[str]) -> ImportBatchResult:
        """Return the result that storing these ids would have; undone ones count as new."""
        with self._call.store.open_reader(self._call.owner) as reader:
            found = reader.load(set(ids))
        present = sum(not import_memories.is_missing(one) for one in found.values())
        self._report_progress(len(ids))
        distinct = len(set(ids))
        return ImportBatchResult(distinct - present, present, len(ids) - distinct)

    def _add_result(self, field: str, outcome: ImportBatchResult) -> None:
        self._counts[field] += outcome.added
        self._counts["present"] += outcome.present
        self._counts["known"] += outcome.known
        self._counts["quarantined"] += outcome.quarantined
        self._refused |= outcome.refused
        self._ids |= outcome.ids
        self._event = outcome.event or self._event
