"""The results as Markdown tables, one set for each file."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

Json = Mapping[str, Any]
Column = Callable[[Json], str]


def report(outcome: Json) -> str:
    """A page of tables that says what was measured, on what, and how to do it again."""
    lines = [
        "# Retrieval",
        "",
        f"`{outcome['command']}`, {outcome['date']}.",
        machine_line(outcome),
    ]
    lines += ["", "Shares in percent, with 95 % bootstrap intervals over the questions."]
    for file, systems in outcome["results"].items():
        lines += ["", f"## {file}", "", *_file(systems)]
    lines += ["", "## Systems", "", *_systems(outcome)]
    return "\n".join(lines) + "\n"


def machine_line(outcome: Json) -> str:
    """What it was measured on."""
    machine = outcome["machine"]
    memory = f", {machine['memory_gb']} GB" if machine["memory_gb"] else ""
    return (
        f"{machine['cores']} cores{memory}, {machine['system']} {machine['architecture']}, "
        f"Python {machine['python']}, {outcome['engine']}."
    )


def _file(systems: Json) -> Iterator[str]:
    measured = {name: result for name, result in systems.items() if "error" not in result}
    if measured:
        questions = next(iter(measured.values()))["questions"]
        yield (
            f"{questions['answerable']} answerable questions with known evidence, "
            f"{questions['unanswerable']} unanswerable."
        )
        for columns in (QUALITY, COST):
            yield ""
            yield from _table(measured, columns)
        yield ""
        yield from _table(measured, _categories(measured))
    for name, result in systems.items():
        if "error" in result:
            yield f"\n{name} failed: {result['error']}"


def _table(systems: Json, columns: Mapping[str, Column]) -> Iterator[str]:
    yield row("system", *columns)
    yield "|---|" + "---:|" * len(columns)
    for name, result in systems.items():
        yield row(name, *(column(result) for column in columns.values()))


def row(*cells: str) -> str:
    """A line of a table."""
    return f"| {' | '.join(cells)} |"


def _number(value: float | None, digits: int = 1) -> str:
    return "" if value is None else f"{value:.{digits}f}"


def _at(*keys: str, digits: int = 1) -> Column:
    def column(result: Json) -> str:
        value: Any = result
        for key in keys:
            value = value.get(key) if value else None
        return _number(value, digits)

    return column


def _with_interval(level: str, name: str) -> Column:
    def column(result: Json) -> str:
        if name not in result[level]:
            return ""
        low, high = result[f"{level}_interval"][name]
        return f"{result[level][name]:.1f} ({low:.1f}–{high:.1f})"

    return column


def _categories(systems: Json) -> dict[str, Column]:
    """R@10 of every category."""
    names = next(iter(systems.values()))["categories"]
    return {f"R@10 {name}": _at("categories", name, "R@10") for name in names}


QUALITY: Mapping[str, Column] = {
    "R@1": _at("turn", "R@1"),
    "R@5": _at("turn", "R@5"),
    "R@10": _with_interval("turn", "R@10"),
    "R@20": _at("turn", "R@20"),
    "any@10": _at("turn", "any@10"),
    "all@10": _at("turn", "all@10"),
    "MRR": _at("turn", "MRR"),
    "nDCG@10": _at("turn", "nDCG@10"),
    "session any@5": _at("session", "any@5"),
    "session all@5": _with_interval("session", "all@5"),
    "nothing, rightly": _at("nothing", "unanswerable"),
    "nothing, wrongly": _at("nothing", "answerable"),
}
COST: Mapping[str, Column] = {
    "query ms p50": _at("ms", "p50"),
    "p95": _at("ms", "p95"),
    "embedding alone p50": _at("ms", "embed_p50"),
    "turns added per s": _at("ingest", "turns_per_second", digits=0),
    "MB after adding": _at("memory_after_ingest_mb", digits=0),
    "MB at most": _at("memory_mb", digits=0),
    "tokens of 10 results": _at("context_tokens", digits=0),
}


def _systems(outcome: Json) -> Iterator[str]:
    yield row("system", "settings", "versions")
    yield "|---|---|---|"
    for name, settings in outcome["systems"].items():
        results = [systems.get(name, {}) for systems in outcome["results"].values()]
        versions: Json = next((one["versions"] for one in results if one.get("versions")), {})
        yield row(name, settings, ", ".join(f"{key} {value}" for key, value in versions.items()))
