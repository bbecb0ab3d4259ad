"""Ids name their kind and sort as they were made."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from remembrancer.ids import new_id
from remembrancer.types import Kind, kind_of, looks_like_id

NOW = datetime(2026, 3, 2, tzinfo=UTC)


def test_an_id_tells_its_kind() -> None:
    for kind in Kind:
        assert kind_of(new_id(kind, NOW)) is kind
        assert looks_like_id(new_id(kind, NOW))


def test_ids_sort_by_time_even_within_a_millisecond() -> None:
    made = [new_id("fact", NOW) for _ in range(1000)]
    made.append(new_id("fact", NOW + timedelta(milliseconds=1)))
    assert made == sorted(made)
    assert len(set(made)) == len(made)


def test_words_are_not_taken_for_ids() -> None:
    for words in ("fact", "fact_", "fact_check my claims today ok", "Fact_" + "0" * 26, ""):
        assert not looks_like_id(words)
