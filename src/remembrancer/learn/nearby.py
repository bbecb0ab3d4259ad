"""Loads the memories that are most similar to some texts, to show them to a model."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from remembrancer.call import Call
from remembrancer.store.contract import Filter
from remembrancer.store.nearest import find_nearest
from remembrancer.types import Kind, Record


def load_nearby(
    call: Call, texts: Iterable[str], *, kinds: Sequence[Kind], scope: str, per_text: int
) -> list[Record]:
    """Returns the nearest memories of each text, each memory once.

    Memories under a program's key are left out, because only that program changes them.
    """
    visible = call.resolve_visibility(scope)
    in_force = Filter(now=call.now(), kinds=tuple(kinds), visible=visible)
    vectors = [call.embed(text) for text in texts]
    found: dict[str, Record] = {}
    with call.store.open_reader(call.owner) as reader:
        for vector in vectors:
            hits = find_nearest(reader, vector, in_force, per_text)
            found |= reader.load(hit.id for hit in hits)
    return [one for one in found.values() if not one.has_program_key]
