"""Counts a person's rows and samples values that only they have."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from remembrancer.types import Owner

if TYPE_CHECKING:
    from remembrancer.store.contract import DumpRow, Store


MAX_SAMPLES = 200
"""The number of ids, and of texts, that the final scan searches for."""


MIN_SAMPLE_CHARS, MAX_SAMPLE_CHARS = 16, 40
"""The length of a sampled text; a shorter one could be anyone's."""


OWN_ID_PATTERN = re.compile(r"[a-z]+_[0-9a-z]{26}")
"""An id that was generated here; the id of a session can be a name that others use too."""


MEMORY_TABLES = frozenset({"facts", "rules", "episodes"})
TEXT_COLUMNS = frozenset({"content", "quote", "title", "summary", "body", "note"})


@dataclass(slots=True)
class RowSample:
    """Counts of rows, the memories that the rows are versions of, and a uniform sample of ids and
    texts.
    """

    counts: Counter[str] = field(default_factory=Counter)
    lineages: set[str] = field(default_factory=set)
    ids: list[str] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    _seen: Counter[str] = field(default_factory=Counter)
    _random: random.Random = field(default_factory=lambda: random.Random(0))  # noqa: S311

    def add(self, row: DumpRow) -> None:
        table, columns = row
        self.counts[table] += 1
        if table in MEMORY_TABLES:
            self.lineages.add(str(columns["lineage"]))
        name = columns.get("id")
        if isinstance(name, str) and OWN_ID_PATTERN.fullmatch(name):
            self._add_to_sample(self.ids, name, "ids")
        for column in TEXT_COLUMNS & columns.keys():
            text = columns[column]
            if isinstance(text, str) and len(text) >= MIN_SAMPLE_CHARS:
                self._add_to_sample(self.words, text[:MAX_SAMPLE_CHARS], "words")

    def _add_to_sample(self, sample: list[str], text: str, sort: str) -> None:
        self._seen[sort] += 1
        if len(sample) < MAX_SAMPLES:
            sample.append(text)
        elif (place := self._random.randrange(self._seen[sort])) < MAX_SAMPLES:
            sample[place] = text


def count_rows(store: Store, owner: Owner) -> Mapping[str, int]:
    """The number of an owner's rows, by table."""
    return dict(sample_rows(store, owner).counts)


def count_keys(store: Store, owner: Owner) -> int:
    return sum(one.owner == owner for one in store.system.list_keys())


def count_traced_rows(store: Store, owner: Owner, traces: Iterable[str]) -> tuple[int, int]:
    """The number of an owner's rows, and of those whose id is among the traces."""
    ids, total, traced = frozenset(traces), 0, 0
    with store.dump(owner) as rows:
        for _, columns in rows:
            total += 1
            traced += columns.get("id") in ids
    return total, traced


def sample_rows(store: Store, owner: Owner) -> RowSample:
    survey = RowSample()
    with store.dump(owner) as rows:
        for row in rows:
            survey.add(row)
    return survey
