"""Embeds memories: which texts get a vector, and vectors that a write transaction needs.

A remote embedder can take seconds, so nothing is embedded while a write transaction is open.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate
from typing import TypeVar

from remembrancer.call import Call
from remembrancer.search.sentences import EmbeddingUnit, split_into_units
from remembrancer.store.contract import Embedding, Writer
from remembrancer.types import Progress, Record, Turn

ROLES = ("user", "assistant", "system", "tool")
EMBED_BATCH_SIZE = 128

ResultT = TypeVar("ResultT")


class MissingVector(Exception):
    """A write needs the vector of a text that was not embedded before its transaction."""

    def __init__(self, text: str) -> None:
        super().__init__("a text was not embedded before the write")
        self.text = text


class TextVectors:
    """Vectors by text, computed outside write transactions."""

    def __init__(self, call: Call, texts: Iterable[str] = ()) -> None:
        self._embedder = call.embedder
        self._known: dict[str, Embedding] = {}
        self.add(texts)

    def add(self, texts: Iterable[str]) -> None:
        missing = [text for text in dict.fromkeys(texts) if text not in self._known]
        if missing:
            rows = self._embedder.embed(missing)
            for text, row in zip(missing, rows, strict=True):
                self._known[text] = Embedding(self._embedder.model, row)

    def get(self, text: str) -> Embedding:
        if text not in self._known:
            raise MissingVector(text)
        return self._known[text]


def write_with_vectors(
    call: Call,
    vectors: TextVectors,
    write: Callable[[Writer, TextVectors], ResultT],
    *,
    alone: bool = False,
) -> ResultT:
    """Run `write` in one transaction with vectors that were computed before it.

    If it turns out to need another vector, the transaction is rolled back, the text is embedded
    and `write` runs again, so it must not change anything but the store before it succeeds.
    """
    while True:
        try:
            with call.open_writer(alone=alone) as writer:
                return write(writer, vectors)
        except MissingVector as missing:
            vectors.add([missing.text])


def split_record(record: Record) -> list[EmbeddingUnit]:
    if isinstance(record, Turn):
        return split_turn(record.role, record.speaker, record.content)
    return [EmbeddingUnit(record.search_text, 0, 0)]


def split_turn(role: str, speaker: str | None, content: str) -> list[EmbeddingUnit]:
    named = speaker is not None and speaker.casefold() not in ROLES
    whole = f"{speaker or role}: {content}"
    return split_into_units(content, whole, by_sentence=role == "user" or named)


def embed_units(
    call: Call, pieces: Sequence[Sequence[EmbeddingUnit]]
) -> list[tuple[Embedding, ...]]:
    """The vectors of several memories, computed in one batch."""
    texts = [unit.text for some in pieces for unit in some]
    if not texts:
        return [() for _ in pieces]
    vectors = call.embedder.embed(texts)
    ends = accumulate(map(len, pieces))
    return [
        tuple(
            Embedding(call.embedder.model, vector, unit.part, unit.marks)
            for unit, vector in zip(some, vectors[end - len(some) : end], strict=True)
        )
        for some, end in zip(pieces, ends, strict=True)
    ]


def embed_missing(call: Call, progress: Progress | None = None) -> int:
    """Embed the memories without a vector of the current model; returns how many.

    Vectors of other models stay until they are dropped.
    """
    model, changed = call.embedder.model, 0
    with call.store.open_reader(call.owner) as reader:
        total = sum(one.count for one in reader.tally(call.now()))
        done = reader.count_embedded().get(model, 0)
    while True:
        with call.store.open_reader(call.owner) as reader:
            missing = reader.list_unembedded(model, EMBED_BATCH_SIZE)
        if not missing:
            return changed
        vectors = embed_units(call, [split_record(one) for one in missing])
        ready = dict(zip((one.id for one in missing), vectors, strict=True))
        with call.open_writer(alone=True) as writer:
            # Another process may have embedded or removed some meanwhile.
            still = {one.id for one in writer.list_unembedded(model, EMBED_BATCH_SIZE)}
            writer.add_embeddings({one: some for one, some in ready.items() if one in still})
        changed += len(still & ready.keys())
        if progress is not None:
            progress(min(done + changed, total), total)
