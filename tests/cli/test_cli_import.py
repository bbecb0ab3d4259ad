"""Bringing in and taking along from the shell."""

from __future__ import annotations

import json
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

Run = Callable[..., Any]
EXAMPLES = Path(__file__).parents[2] / "examples" / "import"


def test_an_import_is_shown_first_then_done_and_taken_back(rem: Run) -> None:
    path = str(EXAMPLES / "chatgpt")

    foreseen = rem("import", path, "--dry-run").stdout
    done = rem("import", path).stdout
    again = rem("import", path).stdout

    came = "3 turns of conversations and 1 memory from chatgpt (chatgpt)."
    assert foreseen.startswith(f"Would bring in {came}\n")
    assert "      1  hidden from the conversation\n" in foreseen
    assert "“A garden in the shade (3 turns)”\n" in foreseen
    assert done.startswith(f"Brought in {came}\n")
    assert "To take it back: rem undo event_" in done
    assert "nothing new" in again
    assert "4 came with an earlier import.\n" in again
    assert "Has a garden that faces north." in rem("list").stdout
    rem("undo")
    assert "Has a garden" not in rem("list").stdout


def test_what_is_wrong_is_said_in_a_sentence(rem: Run, ask: Run, tmp_path: Path) -> None:
    (tmp_path / "what.bin").write_bytes(b"?")
    assert "format is not recognised; give --from" in rem("import", str(tmp_path), code=2).stderr
    assert "There is no format 'x'" in rem("import", str(tmp_path), "--from", "x", code=2).stderr
    assert ask("import", str(tmp_path / "none"), code=2)["error"]["code"] == "bad_input"
    rows = [{"memory": name, "id": name, "user_id": name} for name in ("ada", "bob")]
    (tmp_path / "two.json").write_text(json.dumps(rows))
    assert "ada (1), bob (1)" in rem("import", str(tmp_path), code=2).stderr
    assert ask("import", str(tmp_path), "--of", "bob")["memories"] == 1


def test_all_of_one_person_goes_into_a_file_and_comes_back(
    rem: Run, ask: Run, tmp_path: Path
) -> None:
    rem("remember", "Ada prefers tea", "--user", "ada")
    rem("update", "tea", "Ada prefers coffee", "--user", "ada")
    file = tmp_path / "ada.jsonl"

    assert rem("export", str(file), "--user", "ada").stdout.startswith("Wrote what is remembered")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert rem("import", str(file), "--user", "bob").stdout == "Brought back 15 rows of bob.\n"
    assert "has other memories here" in rem("import", str(file), "--user", "bob", code=4).stderr
    assert ask("import", str(file), "--user", "bob", "--replace") == {"rows": 15}
    here, there = (rem("export", "--user", name).stdout for name in ("ada", "bob"))
    assert there.replace('"bob"', '"ada"') == here
    assert "- Ada prefers coffee *(" in rem("export", "--markdown", "--user", "bob").stdout


def test_an_import_names_the_rules_that_it_refused(rem: Run, ask: Run, tmp_path: Path) -> None:
    ask("remember", "Use tabs", "--kind", "rule")
    ask("disable", "Use tabs")
    path = tmp_path / "rules.jsonl"
    path.write_text(json.dumps({"content": "Use tabs", "kind": "rule"}) + "\n")

    told = rem("import", str(path)).stdout
    done = ask("import", str(path))

    assert "Refused: 1 rule" in told
    assert "“Use tabs” Not stored: that rule is disabled" in told
    assert "known already" not in told
    assert list(done["refused"]) == ["Use tabs"]
    assert (done["memories"], done["known"]) == (0, 0)
