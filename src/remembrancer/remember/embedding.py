"""What of a memory gets a vector: all of it, or each sentence where a person speaks at length."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from remembrancer.call import Call
from remembrancer.search.sentences import Unit, units
from remembrancer.store.contract import (
    Embedding,
)
from remembrancer.types import (
    Progress,
    Record,
    Turn,
)

ROLES = ("user", "assistant", "system", "tool")


def units_of(record: Record) -> list[Unit]:
    """The texts to embed for a memory."""
    if isinstance(record, Turn):
        return spoken(record.role, record.speaker, record.content)
    return [Unit(record.searchable, 0, 0)]


def spoken(role: str, speaker: str | None, content: str) -> list[Unit]:
    """The texts to embed for something said."""
    named = speaker is not None and speaker.casefold() not in ROLES
    whole = f"{speaker or role}: {content}"
    return units(content, whole, by_sentence=role == "user" or named)


def embedded(call: Call, pieces: Sequence[Sequence[Unit]]) -> list[tuple[Embedding, ...]]:
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


EMBEDDED = 128
"""How many memories are embedded at a time: whoever writes meanwhile waits for none of it."""


def embed_anew(call: Call, progress: Progress | None = None) -> int:
    """Give a vector to what has none of the model in use; older vectors stay until dropped."""
    model, changed = call.embedder.model, 0
    with call.store.reading(call.owner) as reader:
        total = sum(one.count for one in reader.tally(call.now()))
        done = reader.embedded().get(model, 0)
    while True:
        with call.store.reading(call.owner) as reader:
            missing = reader.unembedded(model, EMBEDDED)
        if not missing:
            return changed
        vectors = embedded(call, [units_of(one) for one in missing])
        ready = dict(zip((one.id for one in missing), vectors, strict=True))
        with call.writing() as writer:
            # Another process may have been faster, or a memory may be gone.
            still = {one.id for one in writer.unembedded(model, EMBEDDED)}
            writer.embed({one: some for one, some in ready.items() if one in still})
        changed += len(still & ready.keys())
        if progress is not None:
            progress(min(done + changed, total), total)
