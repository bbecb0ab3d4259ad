"""What a filter lets through, by itself."""

from __future__ import annotations

from typing import Any

import pytest

from remembrancer.errors import InvalidInput
from remembrancer.integrations.langgraph.filters import check_filter, matches_filter

VALUE: dict[str, Any] = {
    "n": 3,
    "half": 2.5,
    "yes": True,
    "name": "Ada",
    "none": None,
    "tags": ["a", {"b": 1}],
    "deep": {"er": {"n": 1}, "er.n": 2},
    "dotted.name": 4,
}


@pytest.mark.parametrize(
    "wanted",
    [
        None,
        {},
        {"n": 3, "name": "Ada"},
        {"n": 3.0},
        {"yes": True},
        {"none": None},
        {"absent": None},
        {"tags": ["a", {"b": 1}]},
        {"tags": ("a", {"b": {"$lt": 2}})},
        {"deep": {"er": {"n": 1}}},
        {"deep.er": {"n": 1}},
        {"deep.er.n": 2},
        {"dotted.name": 4},
        {"n": {"$eq": 3, "$ne": 4, "$gt": 2.9, "$gte": 3, "$lt": float("inf"), "$lte": 10**100}},
        {"name": {"$gt": "Aaa", "$lt": "B"}},
        {"absent": {"$ne": 1}},
        {"name' OR '1'='1": None},
    ],
)
def test_what_it_asks_for_is_there(wanted: dict[str, Any] | None) -> None:
    assert matches_filter(VALUE, wanted)


@pytest.mark.parametrize(
    "wanted",
    [
        {"n": 4},
        {"n": "3"},
        {"n": True},
        {"yes": 1},
        {"name": "ada"},
        {"absent": 1},
        {"n": 3, "name": "Bob"},
        {"tags": ["a"]},
        {"tags": "a"},
        {"deep": {"er": {"n": 2}}},
        {"deep.no.such": 1},
        {"n.er": 1},
        {"n": {"$gt": 3}},
        {"n": {"$gt": 1, "$lt": 2}},
        {"n": {"$eq": float("nan")}},
        {"n": {"$gt": "2"}},
        {"yes": {"$gte": 0}},
        {"none": {"$lt": 1}},
        {"absent": {"$gt": 0}},
        {"tags": {"$gt": 0}},
    ],
)
def test_what_it_asks_for_is_not_there(wanted: dict[str, Any]) -> None:
    assert not matches_filter(VALUE, wanted)


def test_an_operator_that_nobody_knows_is_refused() -> None:
    with pytest.raises(InvalidInput, match=r"\$like"):
        check_filter({"name": {"$like": "A%"}})
