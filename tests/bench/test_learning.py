"""The benchmark of learning: its scripted model, its scores, and the command from end to end."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest

from bench.__main__ import main
from bench.learning_data import Person, parse_person
from bench.learning_model import ProposalScript
from bench.learning_run import BlockLine, BlockOutcome, is_same_day
from bench.learning_scores import score_blocks
from tests.bench.learning_person import ADA, write

CONVERSATION = """<conversation>
[t1] person "Ada" new: I live in Porto. Ben wrote: I live in Faro.
[t2] assistant: Porto is lovely. How can I help?
</conversation>"""
REST = """<conversation>
[t1] assistant: Porto is lovely. How can I help?
[t2] person "Ada" new: Please always answer in one sentence.
</conversation>"""


@pytest.fixture
def ada() -> Person:
    return parse_person(ADA)


def ask(script: ProposalScript, name: str, prompt: str) -> Any:
    """The answer of the scripted model to a request of the product."""
    answer = script(
        {
            "messages": [{"role": "system", "content": ""}, {"role": "user", "content": prompt}],
            "response_format": {"json_schema": {"name": name}},
        }
    )
    assert script.error is None
    return answer.content


def start(person: Person, conversation: int) -> ProposalScript:
    script = ProposalScript("natural", wrong=True)
    script.start(person.conversations[conversation])
    return script


def test_proposals_are_handed_over_when_their_turns_are_shown(ada: Person) -> None:
    script = start(ada, 0)

    first = ask(script, "memory", CONVERSATION)["operations"]
    second = ask(script, "memory", REST)["operations"]

    assert [one["content"] for one in first] == ["Lives in Porto", "Lives in Faro"]
    assert first[0]["evidence"] == [{"turn": "t1", "quote": "I live in Porto"}]
    assert [one["content"] for one in second] == ["Wants answers in one sentence"]
    assert second[0]["evidence"][0]["turn"] == "t2"


def test_a_change_names_the_memory_that_is_shown(ada: Person) -> None:
    script = start(ada, 1)
    script.kept["g1"] = ["Lives in Porto"]
    shown = "<remembered>\n[m1] Likes tea\n[m2] Lives in Porto\n</remembered>\n\n"
    turns = '<conversation>\n[t1] person "Ada" new: News: I live in Braga now.\n</conversation>'

    (update,) = ask(script, "memory", shown + turns)["operations"]
    (addition,) = ask(script, "memory", turns)["operations"]

    assert (update["op"], update["target"]) == ("update", "m2")
    assert addition["op"] == "add"
    assert "target" not in addition


def test_the_second_question_is_answered_as_the_data_says(ada: Person) -> None:
    claims = "\n[c1] (about user) Lives in Porto\n[c2] (about user) Lives in Faro"

    told = ask(start(ada, 0), "verification", CONVERSATION + claims)["verdicts"]

    assert [(one["claim"], one["supported"]) for one in told] == [("c1", True), ("c2", False)]
    assert [one["manner"] for one in told] == ["stated", "quoted"]


def test_a_claim_of_the_rule_based_extractor_is_judged_by_its_words(ada: Person) -> None:
    claims = "\n[c1] (about user) I live in Faro\n[c2] (about user) Porto is my home"

    told = ask(start(ada, 0), "verification", CONVERSATION + claims)["verdicts"]

    assert [one["supported"] for one in told] == [False, True]


def test_standing_instructions_count_neither_way_and_a_marked_line_is_not_stale(
    ada: Person,
) -> None:
    where, other = ada.questions
    instruction = BlockLine("- One sentence", frozenset({"g2"}))
    old = BlockLine("- [2026-02-01] Ada: I live in Porto", frozenset({"g1"}), is_turn=True)
    marked = BlockLine("- Lived in Porto until 2026-03-01", frozenset({"g1"}), is_past=True)
    new = BlockLine("- Lives in Braga", frozenset({"g1b"}))
    blocks = [
        BlockOutcome(where, (instruction, old, new), 30, ada.instructions),
        BlockOutcome(where, (marked,), 10, ada.instructions),
        BlockOutcome(other, (instruction,), 8, ada.instructions),
    ]

    scores = score_blocks(blocks)

    assert (scores["needed"]["count"], scores["needed"]["of"]) == (1, 2)
    assert (scores["relevant_lines"]["count"], scores["relevant_lines"]["of"]) == (1, 3)
    assert scores["relevant_lines"]["mean_of_blocks"] == 25
    assert scores["stale"]["count"] == 1
    assert scores["turn_lines"]["max"] == 1
    assert scores["empty_where_nothing_is_needed"]["share"] == 100
    assert scores["tokens"] == {"median": 10, "mean": 16, "max": 30}


def test_a_day_ends_at_the_next_midnight() -> None:
    assert is_same_day(datetime(2026, 3, 1, 8, tzinfo=UTC), date(2026, 3, 1))
    assert is_same_day(datetime(2026, 3, 2, tzinfo=UTC), date(2026, 3, 1))
    assert not is_same_day(datetime(2026, 3, 2, 1, tzinfo=UTC), date(2026, 3, 1))
    assert not is_same_day(None, date(2026, 3, 1))


def test_the_command_counts_every_proposal_and_question(tmp_path: Path) -> None:
    file, out, details = write(tmp_path / "tiny.jsonl"), tmp_path / "o.json", tmp_path / "d.txt"

    main(
        [
            *("learning", str(file), "--style", "natural"),
            *("--json", str(out), "--details", str(details)),
        ]
    )

    outcome = json.loads(out.read_text())
    assert outcome["command"] == "python -m bench learning tiny.jsonl --style natural"
    runs = outcome["results"]["tiny"]["default"]
    assert list(runs) == [
        "verify data",
        "verify off",
        "verify data, only right proposals",
        "no model",
    ]
    total = runs["verify data"]["total"]
    assert total["right"]["of"] == 3
    assert total["right"]["count"] >= 2
    assert total["wrong"]["of"] == 1
    assert total["updates"]["of"] == 1
    assert total["coexist"]["of"] == 1
    assert total["block"]["needed"]["share"] == 100
    assert runs["verify data, only right proposals"]["total"]["wrong"]["of"] == 0
    assert runs["verify data"]["by_fault"].keys() == {"quoted_text"}
    assert runs["no model"]["total"]["recall"]["of"] == 3
    assert runs["no model"]["total"]["recall_of_distinct_facts"]["of"] == 2
    assert "What is seven times eight?" in details.read_text()
    for written in (out, out.with_suffix(".md"), out.with_suffix(".svg")):
        assert str(tmp_path) not in written.read_text()
