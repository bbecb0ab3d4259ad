"""X12: retrieval on a file of one's own, with baselines and ourselves in the same run."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.bench.made_up import write

pytestmark = pytest.mark.feature("X12")

ROOT = Path(__file__).parents[2]


def test_X12_ours_and_the_baselines_run_side_by_side(tmp_path: Path) -> None:
    tiny = write(tmp_path / "tiny.jsonl.gz")
    out = tmp_path / "out.json"
    systems = "ours,bm25,fts5,dense,rrf,grep"

    subprocess.run(
        [
            *(sys.executable, "-m", "bench", "retrieval", str(tiny)),
            *("--systems", systems, "--json", str(out)),
        ],
        check=True,
        cwd=ROOT,
        capture_output=True,
    )

    results = json.loads(out.read_text())["results"]["tiny"]
    assert list(results) == systems.split(",")
    for name, result in results.items():
        assert "error" not in result, (name, result)
        assert 0 <= result["turn"]["R@10"] <= 100
        assert result["ms"]["p50"] > 0
    assert results["ours"]["turn"]["R@10"] >= results["grep"]["turn"]["R@10"]
    assert out.with_suffix(".md").exists()
    assert out.with_suffix(".svg").exists()
