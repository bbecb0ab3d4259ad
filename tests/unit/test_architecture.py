"""The house stays as it was drawn: who may import whom, what is public, what an import costs."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import remembrancer

ROOT = Path(remembrancer.__file__).parent
MODULES = sorted(ROOT.rglob("*.py"))
NAMES = [path.relative_to(ROOT).as_posix() for path in MODULES]
ENGINE = {
    "answers.py",
    "call.py",
    "candidates.py",
    "context.py",
    "conversations.py",
    "decay.py",
    "feedback.py",
    "jobs.py",
    "keys.py",
    "lifecycle.py",
    "models.py",
    "paging.py",
    "quarantine.py",
    "recall.py",
    "remember.py",
    "resolve.py",
    "review.py",
    "sessions.py",
    "simulate.py",
    "statement.py",
    "survey.py",
    "switches.py",
    "team.py",
    "team_index.py",
    "turns.py",
    "undoing.py",
    "upkeep.py",
    "vectors.py",
    "view.py",
}
PURE = {
    "types.py",
    "parts.py",
    "loopback.py",
    "ranking.py",
    "rules.py",
    "schedule.py",
    "text.py",
    "errors.py",
}
SEARCH = {"clock", "profiles", "search", "text", "types"}
"""What searching may know of: it is arithmetic over arrays, and of time only what UTC is."""

WEB = ("fastapi", "starlette", "uvicorn", "structlog", "prometheus_client", "joserfc")
HEAVY = (
    *("sqlalchemy", "numpy", "onnxruntime", "pydantic", "typer", "rich", "httpx", "alembic"),
    *("mcp", "anyio", "langgraph", "langchain_core", *WEB),
)


def imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


ONLY_IN = (
    ("store/", ("sqlalchemy", "sqlite3", "psycopg")),
    ("cli/ cli.py", ("typer", "rich", "click", "remembrancer.cli")),
    ("mcp/", ("mcp", "mcp_types")),
    ("mcp/ server/turns.py", ("anyio",)),
    ("mcp/ server/ cli/", ("remembrancer.mcp",)),
    ("mcp/ server/", WEB),
    ("server/ cli/", ("remembrancer.server",)),
    ("assistant/ demo/ server/ cli/", ("remembrancer.assistant",)),
    ("integrations/", ("agents", "anthropic", "openai", "pydantic_ai")),
    ("integrations/langgraph/", ("langgraph", "langchain_core")),
    ("integrations/ server/ cli/", ("remembrancer.integrations",)),
)
"""What may be imported in some places alone."""


@pytest.mark.parametrize("path", MODULES, ids=NAMES)
def test_dependencies_point_one_way(path: Path) -> None:
    name = path.relative_to(ROOT).as_posix()
    used = set(imports(path))
    for places, packages in ONLY_IN:
        inside = tuple(f"{package}." for package in packages)
        if not name.startswith(tuple(places.split())):
            assert not {one for one in used if f"{one}.".startswith(inside)}
    below = ("store/", "embed/", "guard/", "search/", "audit/", "transfer/", "learn/", "llm/")
    if name.startswith(below) or name in ENGINE | PURE:
        above = tuple(f"remembrancer.{name}" for name in ("memory", "engine", "opening", "aio"))
        assert not {one for one in used if one.startswith(above)}
    if name.startswith("client/"):
        here = ("memory", "engine", "store", "server")
        kept_here = tuple(f"remembrancer.{name}" for name in here)
        assert not {one for one in used if one.startswith(kept_here)}
    if name.startswith("search/"):
        ours = (one.split(".") for one in used if one.startswith("remembrancer."))
        assert {parts[1] for parts in ours} <= SEARCH
    if name in PURE or name.startswith(("guard/", "search/")):
        assert not used & {"os", "socket", "logging", "pathlib", "subprocess"}


@pytest.mark.parametrize("path", MODULES, ids=NAMES)
def test_only_the_edge_reads_the_environment_and_only_the_clock_knows_the_time(path: Path) -> None:
    name = path.relative_to(ROOT).as_posix()
    source = path.read_text(encoding="utf-8")
    if name != "environment.py":
        assert not re.search(r"os\.environ(?!\[\"ORT_DISABLE_TELEMETRY\"\] = )", source)
        assert "getenv" not in source
    if name != "clock.py":
        assert "datetime.now(" not in source
        assert "time.time(" not in source
        assert "utcnow" not in source


def test_the_public_names_are_these() -> None:
    assert sorted(remembrancer.__all__) == [
        "AsOf",
        "AsyncMemory",
        "Episode",
        "Event",
        "Fact",
        "Kind",
        "Memory",
        "Mode",
        "Permanence",
        "Recalled",
        "Relation",
        "Remembrancer",
        "RemembrancerError",
        "RemoteMemory",
        "Rule",
        "Status",
        "Written",
        "connect",
        "open",
    ]
    for name in remembrancer.__all__:
        assert getattr(remembrancer, name)


def test_importing_it_loads_nothing_heavy() -> None:
    code = f"import sys, remembrancer; print([m for m in {HEAVY!r} if m in sys.modules])"
    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert answer.stdout.strip() == "[]"


def test_every_public_function_and_class_says_what_it_does() -> None:
    silent = [
        f"{path.relative_to(ROOT)}:{node.lineno} {node.name}"
        for path in MODULES
        if "migrations" not in path.parts
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
        and not node.name.startswith("_")
        and ast.get_docstring(node) is None
    ]
    assert silent == []
