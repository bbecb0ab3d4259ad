"""Bringing in what someone has elsewhere: all of it is read first, and then written step by step.

A step is one transaction, and what it brought is known again by where it came from. So whoever is
interrupted, at whatever moment, does it again, and nothing comes twice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
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
from remembrancer.types import Origin

if TYPE_CHECKING:
    from remembrancer.types import Progress

BATCH_SIZE = 250
"""How many memories or turns are written at once: no more is lost when it is interrupted."""

MAX_SAMPLES = 5
ALL_OWNERS = "*"


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportOptions:
    """How something is brought in.

    `of` is whose, where a source holds the memories of several. `learn`: at once or, if None, in
    the background.
    """

    format: str | None = None
    of: str | None = None
    origin: Origin | None = None
    learn: bool | None = None
    dry_run: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportResult:
    """What an import brought in, or would, and what it did not.

    `conversations` is how many there are; `turns` and `memories` came in. `present` came with an
    earlier import, `known` was remembered already, `quarantined` reads like an instruction of
    somebody else's; `left_out` says how much was left out for which reason, and
    `unread` which files were. `event` is what `undo` takes back the whole import by.
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
    left_out: Mapping[str, int]
    unread: tuple[str, ...] = ()
    samples: tuple[str, ...] = ()
    event: str | None = None
    dry_run: bool = False


def import_from(
    call: Call, place: str | Path, choices: ImportOptions, progress: Progress | None = None
) -> ImportResult:
    """Bring in what is at a place; nothing is written before all of it could be read."""
    with files.open_source(place) as source:
        format = choices.format or detect_format(source)
        if format == OWN_FORMAT:
            raise InvalidInput(
                "This is an export of Remembrancer itself, which comes back as a whole: "
                "use `rem import`, or `import_` of an open store."
            )
        read = get_reader(format)
        total = _count_items(source, read, choices.of)
        if source.files and not any(one.was_read for one in source.files):
            raise InvalidInput(f"{source.name} has nothing in the format {format}.")
        if not choices.dry_run:
            _check_embedding_model(call)
        under_way = _Import(call, source.name, format, choices, _ProgressReporter(progress, total))
        for piece in _filter_by_owner(read(source), choices.of):
            under_way.add(piece)
        under_way.finish()
        return under_way.build_result(source)


def _count_items(
    source: ImportSource, read: Callable[[ImportSource], Iterator[ImportItem]], of: str | None
) -> int:
    """How much there is, after all of it was read once; an error if it is not clear whose."""
    total = 0
    whose: Counter[str] = Counter()
    for piece in read(source):
        if isinstance(piece, SkippedItem):
            continue
        size = len(piece.turns) if isinstance(piece, ConversationItem) else 1
        total += size if _belongs_to(piece.source_owner, of) else 0
        if piece.source_owner is not None:
            whose[piece.source_owner] += size
    named = ", ".join(f"{name} ({count})" for name, count in whose.most_common(20))
    if of is None and len(whose) > 1:
        raise InvalidInput(
            f"{source.name} holds what belongs to several: {named}. Say whose is to be brought in "
            "(--of NAME), or that all of it is (--of '*')."
        )
    if of not in (None, ALL_OWNERS) and not total:
        raise InvalidInput(f"{source.name} holds nothing of {of!r}; there is {named or 'nothing'}.")
    return total


def _filter_by_owner(pieces: Iterator[ImportItem], of: str | None) -> Iterator[ImportItem]:
    for piece in pieces:
        if isinstance(piece, SkippedItem) or _belongs_to(piece.source_owner, of):
            yield piece
        else:
            yield SkippedItem(piece.place, "somebody else's")


def _belongs_to(whose: str | None, of: str | None) -> bool:
    """Whether it belongs to whom it should; a namespace holds those below it."""
    return of in (None, ALL_OWNERS, whose) or f"{whose}".startswith(f"{of}/")


def _check_embedding_model(call: Call) -> None:
    """What is known already could not be found: its vectors are of another model."""
    with call.store.open_reader(call.owner) as reader:
        counts = reader.count_embedded()
    model = call.embedder.model
    others = {name: count for name, count in counts.items() if name != model}
    if others and max(others.values()) > counts.get(model, 0):
        raise Conflict(
            f"The memories here have vectors of {max(others, key=others.__getitem__)}, and {model} "
            "is configured: run `rem reembed` first, or configure the model that was used."
        )


class _ProgressReporter:
    """Says how far it is, to whoever wants to know."""

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
    """An import under way: what waits to be written, and what has been."""

    def __init__(
        self, call: Call, name: str, format: str, choices: ImportOptions, tell: _ProgressReporter
    ) -> None:
        self._call = call
        self._name = redact_text(name)
        self._format = format
        self._choices = choices
        self._tell = tell
        self._batch = ImportBatch(new_id("batch", call.now()), f"{format}: {self._name}")
        self._memories: list[import_memories.PreparedMemory] = []
        self._talks: list[import_turns.PreparedConversation] = []
        self._links: list[tuple[str, str]] = []
        self._ids: dict[str, str] = {}
        self._counts: Counter[str] = Counter()
        self._left_out: Counter[str] = Counter()
        self._samples: list[str] = []
        self._event: str | None = None

    def add(self, piece: ImportItem) -> None:
        """Note one piece, and write what is waiting if that is enough."""
        match piece:
            case SkippedItem():
                self._left_out[piece.reason] += 1
            case MemoryItem():
                self._add_memory(piece)
            case ConversationItem():
                self._add_conversation(piece)

    def finish(self) -> None:
        """Write what is left, and the links between what was written."""
        self._write_memories()
        self._write_turns()
        wanted = [
            (self._ids[source], self._ids[target])
            for source, target in self._links
            if source in self._ids and target in self._ids
        ]
        if wanted and not self._choices.dry_run:
            self._event = import_memories.add_links(self._call, self._batch, wanted) or self._event

    def build_result(self, source: ImportSource) -> ImportResult:
        """What was done."""
        return ImportResult(
            source=self._name,
            format=self._format,
            **self._counts,
            left_out=dict(self._left_out.most_common()),
            unread=tuple(one.name for one in source.files if not one.was_read),
            samples=tuple(self._samples),
            event=self._event,
            dry_run=self._choices.dry_run,
        )

    def _add_memory(self, piece: MemoryItem) -> None:
        try:
            ready = import_memories.prepare_memory(
                self._call, self._format, piece, self._choices.origin
            )
        except (RemembrancerError, RecursionError) as error:
            self._left_out[str(error)] += 1
            self._tell(1)
            return
        self._links += [(piece.key, target) for target in piece.links]
        self._counts["secrets"] += ready.secrets
        self._add_sample(ready.statement.content)
        self._memories.append(ready)
        if len(self._memories) >= BATCH_SIZE:
            self._write_memories()

    def _add_conversation(self, piece: ConversationItem) -> None:
        talk, unfit = import_turns.prepare_conversation(
            self._call, self._format, piece, self._choices.origin
        )
        for one in unfit:
            self._left_out[one.reason] += 1
        self._tell(len(piece.turns) - len(talk.turns))
        if not talk.turns:
            return
        self._counts["conversations"] += 1
        self._add_sample(f"{talk.title or talk.turns[0].content} ({len(talk.turns)} turns)")
        for part in talk.split(BATCH_SIZE):
            self._talks.append(part)
            if sum(len(one.turns) for one in self._talks) >= BATCH_SIZE:
                self._write_turns()

    def _add_sample(self, sample: str) -> None:
        if len(self._samples) < MAX_SAMPLES:
            self._samples.append(sample)

    def _write_memories(self) -> None:
        some, self._memories = self._memories, []
        if self._choices.dry_run:
            self._add_result("memories", self._predict_result([one.id for one in some]))
        elif some:
            done = import_memories.store_memories(self._call, self._batch, some, self._tell)
            self._add_result("memories", done)

    def _write_turns(self) -> None:
        some, self._talks = self._talks, []
        if self._choices.dry_run:
            ids = [str(turn.id) for talk in some for turn in talk.turns]
            self._add_result("turns", self._predict_result(ids))
        elif some:
            learning = self._call.profile.learning.when != "never"
            learns = learning and self._choices.learn is not False
            done = import_turns.store_turns(
                self._call, self._batch, some, self._tell, learns=learns
            )
            self._add_result("turns", done)

    def _predict_result(self, ids: list[str]) -> ImportBatchResult:
        """What would become of them; what was undone would come again."""
        with self._call.store.open_reader(self._call.owner) as reader:
            found = reader.load(set(ids))
        there = sum(not import_memories.is_missing(one) for one in found.values())
        self._tell(len(ids))
        distinct = len(set(ids))
        return ImportBatchResult(distinct - there, there, len(ids) - distinct)

    def _add_result(self, what: str, outcome: ImportBatchResult) -> None:
        self._counts[what] += outcome.added
        self._counts["present"] += outcome.present
        self._counts["known"] += outcome.known
        self._counts["quarantined"] += outcome.quarantined
        self._ids |= outcome.ids
        self._event = outcome.event or self._event
