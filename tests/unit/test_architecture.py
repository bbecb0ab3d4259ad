"""The layers, the names and the cost of an import."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import remembrancer
from tests.support.layers import LAYERS

ROOT = Path(remembrancer.__file__).parent
TREES = {
    path.relative_to(ROOT).as_posix(): ast.parse(path.read_text(encoding="utf-8"))
    for path in sorted(ROOT.rglob("*.py"))
    if "migrations" not in path.parts
}


MAX_ROOT_MODULES = 21

ONLY_IN = (
    ("store/", ("sqlalchemy", "sqlite3")),
    ("store/ integrations/langgraph/", ("psycopg", "psycopg_pool")),
    ("cli/", ("typer", "rich", "click")),
    ("mcp/", ("mcp", "mcp_types")),
    ("mcp/ server/", ("anyio", "fastapi", "starlette", "uvicorn")),
    ("server/", ("structlog", "prometheus_client", "joserfc")),
    ("integrations/", ("agents", "anthropic", "openai", "pydantic_ai")),
    ("integrations/langgraph/", ("langgraph", "langchain", "langchain_core")),
)
"""Third-party packages that are imported in some places alone."""

PURE = ("guard/", "search/", "types.py", "errors.py", "cron.py", "recall/recipes.py")
HEAVY = (
    *("sqlalchemy", "numpy", "onnxruntime", "pydantic", "typer", "rich", "httpx", "alembic"),
    *("mcp", "anyio", "langgraph", "langchain_core", "fastapi", "starlette", "uvicorn"),
    *("structlog", "prometheus_client", "joserfc"),
)

GERUND = re.compile(r"(^|_)[a-z]+ing(_|$)")
TRADE_NOUNS = {
    "embedding",
    "grounding",
    "wording",
    "polling",
    "profile_mapping",
    "paging",
    "streaming",
    "scoring",
    "testing",
}
"""Words in -ing that are nouns of the trade."""


def imports(tree: ast.AST) -> Iterator[str]:
    """The modules that are imported when the program runs, not only for its types."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        yield from imports(node)


def test_packages_import_only_from_lower_layers() -> None:
    rank = {
        name: at for at, line in enumerate(LAYERS.strip().splitlines()) for name in line.split()
    }
    upwards = []
    for module, tree in TREES.items():
        own = module.split("/")[0].removesuffix(".py")
        if own == "__init__":
            continue
        for name in imports(tree):
            package, _, rest = name.partition(".")
            used = rest.split(".")[0]
            if (
                package == "remembrancer"
                and used in rank
                and used != own
                and rank[used] >= rank[own]
            ):
                upwards.append(f"{module} imports {name}")
    assert upwards == []
    assert {name.split("/")[0].removesuffix(".py") for name in TREES} - {"__init__"} <= rank.keys()


def test_each_kind_of_knowledge_has_its_place() -> None:
    misplaced = []
    for module, tree in TREES.items():
        source = (ROOT / module).read_text(encoding="utf-8")
        used = {name.split(".")[0] for name in imports(tree)}
        for places, packages in ONLY_IN:
            if not module.startswith(tuple(places.split())) and used & set(packages):
                misplaced.append(f"{module} imports {used & set(packages)}")
        if module.startswith(PURE) and used & {"os", "socket", "logging", "subprocess"}:
            misplaced.append(f"{module} does I/O")
        if module != "environment.py" and re.search(
            r"getenv|os\.environ(?!\[\"ORT_DISABLE_TELEMETRY\"\] = )", source
        ):
            misplaced.append(f"{module} reads the environment")
        if module != "clock.py" and re.search(r"datetime\.now\(|time\.time\(|utcnow", source):
            misplaced.append(f"{module} asks the system for the time")
    assert misplaced == []


def test_no_two_public_classes_share_a_name() -> None:
    places = defaultdict(list)
    for module, tree in TREES.items():
        for node in ast.iter_child_nodes(tree):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(module)
    assert {name: where for name, where in places.items() if len(where) > 1} == {}


def test_modules_are_nouns_or_verbs_and_few_lie_at_the_root() -> None:
    assert len([name for name in TREES if "/" not in name]) <= MAX_ROOT_MODULES
    words = {part.removesuffix(".py") for name in TREES for part in name.split("/")}
    assert {word for word in words if GERUND.search(word)} <= TRADE_NOUNS


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
