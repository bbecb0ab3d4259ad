"""What of a memory gets a vector: all of it, or each sentence where a person speaks at length."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from remembrancer.call import Call
from remembrancer.search.sentences import EmbeddingUnit, split_into_units
from remembrancer.store.contract import (
    Embedding,
)
from remembrancer.types import (
    Progress,
    Record,
    Turn,
)

ROLES = ("user", "assistant", "system", "tool")


def split_record(record: Record) -> list[EmbeddingUnit]:
    """The texts to embed for a memory."""
    if isinstance(record, Turn):
        return split_turn(record.role, record.speaker, record.content)
    return [EmbeddingUnit(record.search_text, 0, 0)]


def split_turn(role: str, speaker: str | None, content: str) -> list[EmbeddingUnit]:
    """The texts to embed for something said."""
    named = speaker is not None and speaker.casefold() not in ROLES
    whole = f"{speaker or role}: {content}"
    return split_into_units(content, whole, by_sentence=role == "user" or named)


def embed_units(
    call: Call, pieces: Sequence[Sequence[EmbeddingUnit]]
) -> list[tuple[Embedding, ...]]:
    """The vectors of several memories' texts, in one go."""
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


EMBED_BATCH_SIZE = 128
"""How many memories are embedded at a time: whoever writes meanwhile waits for none of it."""


def embed_missing(call: Call, progress: Progress | None = None) -> int:
    """Give a vector to what has none of the model in use; older vectors stay until dropped."""
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
        with call.open_writer() as writer:
            # Another process may have been faster, or a memory may be gone.
            still = {one.id for one in writer.list_unembedded(model, EMBED_BATCH_SIZE)}
            writer.add_embeddings({one: some for one, some in ready.items() if one in still})
        changed += len(still & ready.keys())
        if progress is not None:
            progress(min(done + changed, total), total)
