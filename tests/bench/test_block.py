"""What is counted as shown in a prompt block."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

from bench.block import Block, fill_block, judge, read_block, summarise
from bench.data import History, Question, history_from
from remembrancer.recall.prompt_block import Context
from tests.bench.made_up import ADA, write

ROOT = Path(__file__).parents[2]


def ada(answer: str = "") -> tuple[History, Question]:
    history = history_from(ADA)
    return history, replace(history.questions[1], answer=answer)


def test_all_evidence_must_be_in_the_block() -> None:
    history, question = ada()

    part = judge(history, question, Block({"s2:1": "plays"}, 10), 0.1)
    whole = judge(history, question, Block({"s2:1": "plays", "s2:2": "visit"}, 10), 0.1)

    assert (part.all_evidence, whole.all_evidence) == (False, True)
    assert summarise([part, whole])["all_evidence"] == 50


def test_an_answer_is_visible_when_its_words_are_shown() -> None:
    history, question = ada("Clara, in Vienna")

    shown = judge(history, question, Block({"s2:1": "sister Clara … in Vienna"}, 9), 0.1)
    hidden = judge(history, question, Block({"s2:1": "… plays the cello …"}, 9), 0.1)

    assert (shown.visible, hidden.visible) == (True, False)


def test_nobody_can_tell_whether_other_words_are_visible() -> None:
    history, question = ada("a violinist")

    assert judge(history, question, Block({"s2:1": "plays"}, 9), 0.1).visible is None


def test_whole_turns_fill_a_block_and_the_last_is_cut() -> None:
    history, _ = ada()

    block = fill_block(history.turns, 15)

    assert list(block.shown) == ["s1:1", "s1:2"]
    assert block.shown["s1:1"] == "Ada: I bought a red bicycle last week.\n"
    assert block.tokens == 15


def test_the_lines_of_a_block_belong_to_its_memories_in_order() -> None:
    context = Context("<remembered>\n- one\n### Said\n- two\n</remembered>", ("m1", "m2"), 12)

    assert read_block(context, {"m1": "a", "m2": "b"}).shown == {"a": "- one", "b": "- two"}


def test_both_systems_run_side_by_side(tmp_path: Path) -> None:
    tiny, out = write(tmp_path / "tiny.jsonl.gz"), tmp_path / "out.json"

    subprocess.run(
        [sys.executable, "-m", "bench", "block", str(tiny), "--json", str(out)],
        check=True,
        cwd=ROOT,
        capture_output=True,
    )

    results = json.loads(out.read_text())["results"]["tiny"]
    assert list(results) == ["ours", "rrf"]
    assert results["ours"]["all_evidence"] == 100
    assert results["ours"]["tokens"] <= 1500
    assert out.with_suffix(".md").exists()
