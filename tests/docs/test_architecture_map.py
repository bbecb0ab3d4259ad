"""ARCHITECTURE.md names files, functions and layers that exist."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from tests.support.layers import LAYERS

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "remembrancer"
MAP = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")


def defines(file: Path, symbol: str) -> bool:
    body: list[ast.stmt] = ast.parse(file.read_text(encoding="utf-8")).body
    for name in symbol.split("."):
        found = [
            node
            for node in body
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
            and node.name == name
        ]
        if not found:
            return False
        body = found[0].body
    return True


def test_every_file_and_function_on_the_map_exists() -> None:
    named = re.findall(r"\b([\w/]+\.py)(?::([\w.]*\w))?", MAP)
    assert len(named) > 30
    missing = [
        f"{file}:{symbol}"
        for file, symbol in named
        if not (ROOT / file).exists()
        and not ((PACKAGE / file).exists() and (not symbol or defines(PACKAGE / file, symbol)))
    ]
    assert missing == []


def test_the_map_has_every_package_and_the_layers_in_force() -> None:
    assert LAYERS.strip() in MAP
    tree = MAP.split("```")[1]
    for name in LAYERS.split():
        assert re.search(rf"\b{name}\b", tree), name
