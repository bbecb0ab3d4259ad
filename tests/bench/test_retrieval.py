"""The command from end to end, on the systems that need no model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from bench.__main__ import main
from bench.data import load
from bench.retrieval import attempt
from bench.systems import Entry
from tests.bench.made_up import write


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the command left its JSON; the other two files lie beside it."""
    folder = tmp_path_factory.mktemp("retrieval")
    tiny = write(folder / "tiny.jsonl.gz")
    main(["retrieval", str(tiny), "--systems", "bm25,grep,fts5", "--json", str(folder / "o.json")])
    return folder / "o.json"


@pytest.fixture(scope="module")
def outcome(out: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(out.read_text())
    return found


def test_every_measure_is_there_for_every_system(outcome: dict[str, Any]) -> None:
    assert list(outcome["results"]) == ["tiny"]
    assert list(outcome["results"]["tiny"]) == ["bm25", "grep", "fts5"]
    for result in outcome["results"]["tiny"].values():
        assert result["turn"].keys() == result["turn_interval"].keys()
        assert result["turn"].keys() >= {"R@1", "any@20", "all@5", "MRR", "nDCG@10"}
        assert result["session"].keys() == {"any@5", "all@5", "any@10", "all@10"}
        assert result["categories"]["multi-hop"]["questions"] == 1
        assert result["ms"]["p50"] <= result["ms"]["p95"]
        assert result["ms"]["embed_p50"] is None
        assert result["ingest"]["turns"] == 5
        assert result["ingest"]["turns_per_second"] > 0
        assert 0 < result["memory_after_ingest_mb"] <= result["memory_mb"]
        assert result["context_tokens"] > 0


def test_the_numbers_are_those_of_the_questions(outcome: dict[str, Any]) -> None:
    bm25 = outcome["results"]["tiny"]["bm25"]

    assert bm25["questions"] == {"asked": 6, "answerable": 3, "unanswerable": 2}
    assert bm25["turn"]["R@10"] == 100
    assert bm25["session"]["all@5"] == 100
    low, high = bm25["turn_interval"]["R@10"]
    assert low == high == 100
    assert bm25["nothing"] == {"unanswerable": 50, "answerable": 0}


def test_the_outcome_says_how_it_was_measured_but_not_where(out: Path) -> None:
    outcome = json.loads(out.read_text())

    assert outcome["command"] == "python -m bench retrieval tiny.jsonl.gz --systems bm25,grep,fts5"
    assert outcome["machine"]["cores"] >= 1
    for file in (out, out.with_suffix(".md"), out.with_suffix(".svg")):
        assert str(out.parent) not in file.read_text()


def test_the_tables_and_the_picture_show_the_same_number(out: Path) -> None:
    assert "100.0 (100.0–100.0)" in out.with_suffix(".md").read_text()
    svg = ElementTree.fromstring(out.with_suffix(".svg").read_text())
    assert "bm25: 100.0" in {title.text for title in svg.iter("{http://www.w3.org/2000/svg}title")}


def test_without_a_file_the_tables_are_printed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tiny = write(tmp_path / "tiny.jsonl")

    main(["retrieval", str(tiny), "--systems", "grep", "--limit-questions", "1"])

    printed = capsys.readouterr()
    assert "2 answerable questions" in printed.out
    assert "tiny: grep" in printed.err


def test_an_unknown_system_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["retrieval", "tiny.jsonl", "--systems", "nowhere"])

    assert "no system nowhere" in capsys.readouterr().err


def test_a_system_that_fails_is_reported_with_its_error(tmp_path: Path) -> None:
    histories = load(write(tmp_path / "tiny.jsonl"))

    assert attempt(Entry("nowhere", ""), histories, "sqlite") == {"error": "KeyError: 'nowhere'"}


def test_what_was_measured_is_kept_when_the_run_is_cut_short(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(entry: Entry, *_: object) -> dict[str, Any]:
        if entry.name == "fts5":
            raise KeyboardInterrupt
        return {"error": "none"}

    monkeypatch.setattr("bench.retrieval.attempt", interrupted)
    tiny, out = write(tmp_path / "tiny.jsonl"), tmp_path / "o.json"
    with pytest.raises(KeyboardInterrupt):
        main(["retrieval", str(tiny), "--systems", "grep,fts5", "--json", str(out)])

    assert json.loads(out.read_text())["results"] == {"tiny": {"grep": {"error": "none"}}}
