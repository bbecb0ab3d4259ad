"""Fills the tests column of docs/features.md: `python -m tests.docs.feature_table`.

A test names its features by a marker, `pytest.mark.feature("A3", "X4")`, on a function or as the
module's `pytestmark`; by ids in the name of the file or the function (`test_A3_…`); or by ids at
the start of a docstring (`\"\"\"A3, X4: …`).
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
TESTS = ROOT / "tests"
PAGE = ROOT / "docs" / "features.md"
BEGIN = "<!-- tests: begin -->"
END = "<!-- tests: end -->"

UNTESTED = {"X13"}
"""Features that the page lists as not yet proven by a test."""

_ID = r"[AIMPNX]\d{1,2}"
_IN_NAME = re.compile(rf"(?<=_){_ID}(?=_|$)")
_IN_DOCSTRING = re.compile(rf"{_ID}(?:, {_ID})*(?=:)")
_ROW = re.compile(rf"\| ({_ID}) \| ([^|]+) \|.*")


def find_tests() -> dict[str, list[Path]]:
    """Returns the test files of each feature id, in the order of their paths."""
    found: defaultdict[str, list[Path]] = defaultdict(list)
    for path in sorted(TESTS.rglob("test_*.py")):
        for feature in sorted(set(_find_ids(path))):
            found[feature].append(path)
    return dict(found)


def fill_table(page: str, tests: dict[str, list[Path]]) -> str:
    """Returns the page with the tests column of every row between the markers rewritten."""
    before, rest = page.split(BEGIN)
    table, after = rest.split(END)
    filled = "\n".join(_fill_row(line, tests) for line in table.split("\n"))
    return f"{before}{BEGIN}{filled}{END}{after}"


def list_features(page: str) -> list[str]:
    return [row[1] for line in page.splitlines() if (row := _ROW.fullmatch(line))]


def _fill_row(line: str, tests: dict[str, list[Path]]) -> str:
    row = _ROW.fullmatch(line)
    if row is None:
        return line
    links = [_link(path) for path in tests.get(row[1], [])]
    return f"| {row[1]} | {row[2]} | {'<br>'.join(links) or 'none yet'} |"


def _link(path: Path) -> str:
    name = path.relative_to(TESTS).with_suffix("")
    return f"[{name}](../{path.relative_to(ROOT)})"


def _find_ids(path: Path) -> Iterator[str]:
    yield from _IN_NAME.findall(path.stem)
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        match node:
            case ast.Module():
                yield from _ids_in_docstring(node)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                if name.startswith("test_"):
                    yield from _IN_NAME.findall(name)
                    yield from _ids_in_docstring(node)
            case ast.Call(func=ast.Attribute(attr="feature"), args=args):
                yield from (arg.value for arg in args if isinstance(arg, ast.Constant))


def _ids_in_docstring(node: ast.Module | ast.FunctionDef | ast.AsyncFunctionDef) -> list[str]:
    ids = _IN_DOCSTRING.match(ast.get_docstring(node) or "")
    return ids[0].split(", ") if ids else []


if __name__ == "__main__":
    PAGE.write_text(fill_table(PAGE.read_text("utf-8"), find_tests()), encoding="utf-8")
