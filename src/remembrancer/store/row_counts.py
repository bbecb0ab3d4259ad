"""Counts a person's rows and samples what is unique in them."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from remembrancer.types import Owner

if TYPE_CHECKING:
    from remembrancer.store.contract import DumpRow, Store


MAX_SAMPLES = 200
"""How many ids, and how many texts, are searched for in the end."""


MIN_SAMPLE_CHARS, MAX_SAMPLE_CHARS = 16, 40
"""Of a text, so many characters are searched for; a shorter one could be anyone's."""


OWN_ID_PATTERN = re.compile(r"[a-z]+_[0-9a-z]{26}")
"""An id that we made, which nobody else has; a conversation may have a name that anyone could."""


TEXT_COLUMNS = frozenset({"content", "quote", "title", "summary", "body", "note"})


@dataclass(slots=True)
class RowSample:
    """Rows counted as they pass, and a fair sample of what only they have."""

    counts: Counter[str] = field(default_factory=Counter)
    ids: list[str] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    _seen: Counter[str] = field(default_factory=Counter)
    _random: random.Random = field(default_factory=lambda: random.Random(0))  # noqa: S311

    def add(self, row: DumpRow) -> None:
        table, columns = row
        self.counts[table] += 1
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
    """How many rows there are of someone, by table."""
    return dict(sample_rows(store, owner).counts)


def count_keys(store: Store, owner: Owner) -> int:
    """How many keys there are to someone's memory."""
    return sum(one.owner == owner for one in store.system.list_keys())


def sample_rows(store: Store, owner: Owner) -> RowSample:
    survey = RowSample()
    with store.dump(owner) as rows:
        for row in rows:
            survey.add(row)
    return survey
