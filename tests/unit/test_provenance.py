"""Where a memory comes from, in one phrase that is true."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from remembrancer.ids import new_id
from remembrancer.remember.provenance import describe_provenance, trace_provenance
from remembrancer.types import (
    Episode,
    Evidence,
    Fact,
    Link,
    Origin,
    ProvenanceKind,
    Record,
    Relation,
    Source,
    Turn,
)

pytestmark = pytest.mark.feature("P1", "P8", "M15", "X3")

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
MOMENTS = dict.fromkeys(("valid_from", "recorded_at", "confirmed_at"), NOON)
CITED = {"session_id": "monday", "evidence": (Evidence("monday", "turn_1", "I am vegetarian"),)}
EPISODES = [new_id("episode", NOON), new_id("episode", NOON)]
CONCLUDED = {"source": Source.CONSOLIDATED, "agent": "health"}
IMPORTED = {"imported": {"from": "mem0", "file": "dump.json", "place": "line 3"}}


def fact(**details: Any) -> Fact:
    common = {"content": "Is vegetarian", "importance": 5.0, "category": "fact", **MOMENTS}
    return Fact(id=new_id("fact", NOON), **{**common, **details})


def episode(**details: Any) -> Episode:
    common = {"content": "Spoke of food.", "importance": 5.0, **MOMENTS}
    return Episode(id=new_id("episode", NOON), **{**common, **details})


def turn(role: str, **details: Any) -> Turn:
    common = {"content": "Hello.", "importance": 5.0, "position": 0, **MOMENTS}
    return Turn(id=new_id("turn", NOON), role=role, **{**common, **details})


@pytest.mark.parametrize(
    ("record", "phrase"),
    [
        (fact(), "saved directly"),
        (fact(session_id="monday"), "saved in a conversation"),
        (fact(**CITED), "you said so"),
        (fact(**CITED, agent="health"), "you said so"),
        (fact(**CITED, metadata={"requested": True}), "saved by the assistant because you asked"),
        (fact(**CITED, metadata={"requested": False}), "saved by the assistant"),
        (fact(agent="health", surface="mcp"), "stored by health"),
        (fact(surface="mcp"), "stored by an assistant"),
        (fact(surface="langgraph", metadata={"requested": False}), "stored by an assistant"),
        (fact(surface="rest", metadata={"requested": True}), "stored by an assistant"),
        (fact(agent="health", surface="web"), "saved directly"),
        (fact(**CITED, source=Source.EXTRACTED), "learned from a conversation"),
        (
            fact(**CITED, source=Source.EXTRACTED, agent="health"),
            "learned from a conversation with health",
        ),
        (
            fact(**CONCLUDED, metadata={"episodes": EPISODES}),
            "concluded from 2 episodes of health",
        ),
        (fact(source=Source.CONSOLIDATED), "concluded from several memories"),
        (fact(source=Source.IMPORTED, metadata=IMPORTED), "imported from mem0"),
        (fact(source=Source.IMPORTED, metadata=IMPORTED, tainted=True), "imported from mem0"),
        (fact(source=Source.IMPORTED, tainted=True), "from a tool or a document"),
        (
            fact(source=Source.IMPORTED, tainted=True, agent="health"),
            "from a tool or a document, stored by health",
        ),
        (episode(tags=("codex",), agent="coder"), "recorded in a session of coder"),
        (episode(tags=("run",)), "recorded in a session"),
        (
            episode(tags=("note",), metadata={"note": new_id("turn", NOON)}),
            "a reply that you bookmarked",
        ),
        (turn("assistant"), "said in a conversation"),
        (turn("tool", origin=Origin.TOOL, tainted=True), "from a tool or a document"),
    ],
)
def test_a_phrase_says_on_whose_word_a_memory_is(record: Record, phrase: str) -> None:
    assert describe_provenance(trace_provenance(record)) == phrase


def test_links_name_the_episodes_that_the_row_does_not() -> None:
    one = fact(**CONCLUDED, session_id="monday", metadata={"episodes": EPISODES[:1]})
    other = fact()
    links = [Link(one.id, target, Relation.DERIVED_FROM, NOON) for target in (*EPISODES, other.id)]

    found = trace_provenance(one, links)

    assert found.kind is ProvenanceKind.CONCLUDED
    assert found.episodes == tuple(EPISODES)
    assert (found.agent, found.session_id) == ("health", "monday")
