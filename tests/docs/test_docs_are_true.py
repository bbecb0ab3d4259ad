"""What the documents show is run as it stands."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.processes import rem

ROOT = Path(__file__).parents[2]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/**/*.md")])
PYTHON = {
    path: re.findall(r"```python\n(.*?)```", path.read_text("utf-8"), re.S) for path in DOCUMENTS
}


@pytest.mark.parametrize(
    "path",
    [path for path, blocks in PYTHON.items() if blocks],
    ids=lambda path: str(path.relative_to(ROOT)),
)
def test_python_examples_run(path: Path, tmp_path: Path) -> None:
    script = tmp_path / "example.py"
    script.write_text("\n".join(PYTHON[path]), encoding="utf-8")
    subprocess.run([sys.executable, str(script)], check=True, env=home(tmp_path), cwd=tmp_path)


def test_the_readme_example_is_short() -> None:
    (block,) = PYTHON[ROOT / "README.md"]
    statements = [line for line in block.splitlines() if line.strip()]
    assert len(statements) <= 12


@pytest.mark.parametrize("name", ["README.md", "docs/team.md", "docs/claude-code.md"])
def test_shell_examples_run(name: str, tmp_path: Path) -> None:
    shown = re.findall(r"^\$ (rem .*)$", (ROOT / name).read_text("utf-8"), re.M)
    assert len(shown) >= 6
    for line in shown:
        done = rem(*shlex.split(line)[1:], env=home(tmp_path), cwd=tmp_path)
        assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"


def test_the_tutorial_runs_and_prints_what_it_shows(tmp_path: Path) -> None:
    text = (ROOT / "docs" / "tutorial.md").read_text("utf-8")
    blocks = re.findall(r"```console\n(.*?)```", text, re.S)
    steps = [step for block in blocks for step in re.findall(r"\$ (.*)\n((?:[^$].*\n)*)", block)]
    path = f"{Path(sys.executable).parent}:/usr/bin:/bin"
    for command, shown in steps:
        done = subprocess.run(
            ["/bin/sh", "-c", command],
            env={**home(tmp_path), "PATH": path},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
        for line in shown.splitlines():
            assert line in done.stdout, f"{command}: {line} is not in\n{done.stdout}"


def test_the_index_lists_every_page() -> None:
    index = (ROOT / "docs" / "README.md").read_text("utf-8")
    pages = {path.relative_to(ROOT / "docs").as_posix() for path in ROOT.glob("docs/**/*.md")}
    linked = set(re.findall(r"\]\(([^)#]+)", index))
    assert pages - {"README.md"} <= linked


def test_the_configuration_example_is_valid(tmp_path: Path) -> None:
    from remembrancer.config import load

    text = (ROOT / "docs" / "configuration.md").read_text("utf-8")
    (block,) = re.findall(r"```toml\n(.*?)```", text, re.S)
    file = tmp_path / "remembrancer.toml"
    file.write_text(block, encoding="utf-8")
    settings = load(file, {})
    assert settings.profile_for().dedup.threshold == 0.92
    assert settings.profile_for("health").recall.weights.relevance == 0.5


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(path: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)", path.read_text("utf-8")):
        if "://" not in target:
            assert (path.parent / target).exists(), target


def home(folder: Path) -> dict[str, str]:
    """An environment in which everything is kept under a folder of the test's own."""
    return {
        "HOME": str(folder),
        "XDG_DATA_HOME": str(folder / "data"),
        "XDG_CONFIG_HOME": str(folder / "config"),
        "PATH": "/usr/bin:/bin",
    }
