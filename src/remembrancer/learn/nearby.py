"""Loads the memories that are most similar to some texts, to show them to a model."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import zip_longest

from remembrancer.call import Call
from remembrancer.store.contract import Filter
from remembrancer.store.nearest import find_nearest
from remembrancer.types import Kind, Record


def load_nearby(
    call: Call, texts: Iterable[str], *, kinds: Sequence[Kind], scope: str, per_text: int
) -> list[Record]:
    """Returns the nearest memories of each kind for each text, each memory once.

    The nearest of every text come first, then the second nearest, and so on.
    Memories under a program's key are left out, because only that program changes them.
    """
    visible = call.resolve_visibility(scope)
    in_force = [Filter(now=call.now(), kinds=(kind,), visible=visible) for kind in kinds]
    vectors = [call.embed(text) for text in texts]
    with call.store.open_reader(call.owner) as reader:
        ranked = [
            find_nearest(reader, vector, criteria, per_text)
            for vector in vectors
            for criteria in in_force
        ]
        ids = dict.fromkeys(hit.id for rank in zip_longest(*ranked) for hit in rank if hit)
        found = reader.load(ids)
    records = (found.get(one) for one in ids)
    return [one for one in records if one is not None and not one.has_program_key]
