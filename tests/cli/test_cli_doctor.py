"""`rem doctor` finds what is wrong and says what to do."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

import remembrancer
from remembrancer.cli.app import app
from remembrancer.config import Settings, load
from remembrancer.doctor import CheckResult, Level, run_checks
from remembrancer.embed.local import WEIGHTS_DIRECTORY


def settings_at(path: Path) -> Settings:
    return Settings.model_validate({"store": {"path": path}})


def levels(findings: tuple[CheckResult, ...]) -> dict[str, Level]:
    """The worst level under each name."""
    order = list(Level)
    found: dict[str, Level] = {}
    for one in findings:
        found[one.name] = max(found.get(one.name, Level.OK), one.level, key=order.index)
    return found


def message(findings: tuple[CheckResult, ...], name: str) -> str:
    return next(one.message for one in findings if one.name == name)


def test_a_fresh_installation_is_healthy_and_stays_untouched(tmp_path: Path) -> None:
    place = tmp_path / "not" / "yet"
    findings = run_checks(lambda: settings_at(place))
    assert set(levels(findings).values()) == {Level.OK}
    assert "will be made" in message(findings, "data directory")
    assert not place.exists()


def test_a_used_store_is_described(tmp_path: Path) -> None:
    place = tmp_path / "memory"
    with remembrancer.open(place) as store:
        store.for_user("ada").remember("The boat is red.")
    findings = run_checks(lambda: settings_at(place))
    assert Level.PROBLEM not in levels(findings).values()
    assert "private" in message(findings, "data directory")
    assert "sqlite 3." in message(findings, "store")
    assert "Revision" in message(findings, "schema")
    assert "FTS5" in message(findings, "full text")
    assert "384" in message(findings, "embedding")
    assert "recalled" in message(findings, "round trip")


def test_a_directory_that_others_can_read_is_a_warning(tmp_path: Path) -> None:
    place = tmp_path / "memory"
    place.mkdir()
    place.chmod(0o755)
    findings = run_checks(lambda: settings_at(place))
    assert levels(findings)["data directory"] is Level.WARNING
    assert f"chmod 700 {place}" in message(findings, "data directory")


@pytest.mark.parametrize("place", ["file", "file/below"])
def test_a_directory_that_cannot_be_written_is_a_problem(tmp_path: Path, place: str) -> None:
    (tmp_path / "file").write_text("in the way")
    findings = run_checks(lambda: settings_at(tmp_path / place))
    assert levels(findings)["data directory"] is Level.PROBLEM
    assert "--store" in message(findings, "data directory")
    assert "store" not in levels(findings), "there is nothing to open"


def test_a_damaged_store_is_a_problem(tmp_path: Path) -> None:
    place = tmp_path / "memory"
    place.mkdir(mode=0o700)
    (place / "system.db").write_bytes(b"this is not a database " * 100)
    findings = run_checks(lambda: settings_at(place))
    assert levels(findings)["store"] is Level.PROBLEM
    assert "backup" in message(findings, "store")


def test_damaged_weights_are_a_problem(tmp_path: Path) -> None:
    weights = tmp_path / "weights"
    shutil.copytree(WEIGHTS_DIRECTORY, weights)
    with (weights / "model.onnx").open("r+b") as file:
        file.truncate(1000)
    findings = run_checks(Settings, in_memory=True, weights=weights)
    found = levels(findings)
    assert found["model files"] is Level.PROBLEM
    assert found["embedding"] is Level.PROBLEM
    assert found["round trip"] is Level.PROBLEM
    assert "reinstall" in message(findings, "model files")


def test_an_invalid_configuration_is_a_problem_but_not_the_end(tmp_path: Path) -> None:
    file = tmp_path / "remembrancer.toml"
    file.write_text("colour = 'blue'")
    findings = run_checks(lambda: load(file), file=file)
    assert levels(findings)["configuration"] is Level.PROBLEM
    assert "colour: unknown key" in message(findings, "configuration")
    assert levels(findings)["round trip"] is Level.OK


def test_a_server_that_does_not_answer_is_a_problem() -> None:
    url = "postgresql://nobody:hunter2@localhost:1/nowhere"
    findings = run_checks(lambda: Settings.model_validate({"store": {"url": url}}))
    assert levels(findings)["store"] is Level.PROBLEM
    assert "hunter2" not in str(findings)


def test_the_command_shows_the_findings(tmp_path: Path) -> None:
    file = tmp_path / "remembrancer.toml"
    file.write_text("profile = 'assistant'")
    args = ["--config", str(file), "--store", str(tmp_path / "memory"), "doctor"]
    told = CliRunner().invoke(app, args)
    assert told.exit_code == 0
    unwrapped = "".join(told.stdout.split())
    assert "remembrancer.tomlisvalid;profileassistant" in unwrapped
    assert told.stdout.endswith("Everything works.\n")


def test_a_problem_is_exit_code_1(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    told = CliRunner().invoke(app, ["--store", str(tmp_path / "file"), "doctor", "--json"])
    assert told.exit_code == 1
    answer = json.loads(told.stdout)
    assert answer["ok"] is False
    assert {"name", "level", "message"} == set(answer["findings"][0])
    problems = [one["name"] for one in answer["findings"] if one["level"] == "problem"]
    assert problems == ["data directory"]


def test_episodes_that_wait_for_a_model_are_a_warning(tmp_path: Path) -> None:
    place = tmp_path / "memory"
    with remembrancer.open(place) as store:
        for number in range(2):
            store.for_user("ada").remember(f"Watered the basil, {number}.", kind="episode")
    findings = run_checks(lambda: settings_at(place))
    assert levels(findings)["consolidation"] is Level.WARNING
    assert "2 episodes wait: no model is configured" in message(findings, "consolidation")
    chosen = {"models": {"fast": {"url": "http://127.0.0.1:9/v1", "model": "some"}}}
    with_model = Settings.model_validate({"store": {"path": place}} | chosen)
    assert "consolidation" not in levels(run_checks(lambda: with_model))
