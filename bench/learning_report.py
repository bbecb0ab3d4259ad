"""The results of learning as Markdown tables and as a picture."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any
from xml.sax.saxutils import escape

from bench.plot import COLOURS, STYLE
from bench.report import machine_line, row

Json = Mapping[str, Any]
Column = Callable[[Json], str]

WIDTH, BAR, LEFT = 640, 16, 240


def report(outcome: Json) -> str:
    """A page of tables that says what was measured, on what, and how to do it again."""
    lines = ["# Learning", "", f"`{outcome['command']}`, {outcome['date']}.", machine_line(outcome)]
    lines += ["", "Percent (count / of). *Told*: an active memory, which a prompt may contain."]
    for file, profiles in outcome["results"].items():
        for profile, runs in profiles.items():
            lines += ["", f"## {file}, profile {profile}", *_profile(runs)]
    return "\n".join(lines) + "\n"


def _profile(runs: Json) -> Iterator[str]:
    with_model = {name: one for name, one in runs.items() if "by_style" in one}
    if with_model:
        totals = {name: one["total"] for name, one in with_model.items()}
        for columns in (KEPT, BLOCK):
            yield from _table("run", totals, columns)
        for name, one in with_model.items():
            yield from _table(f"{name}: style", one["by_style"], SHORT)
            yield from _table(f"{name}: language", one["by_language"], SHORT)
            if one["by_fault"]:
                yield from _table(f"{name}: fault", one["by_fault"], WRONG)
    for name, one in runs.items():
        if name not in with_model:
            found = {"all": one["total"], **one["by_language"]}
            yield from _table(f"{name}: language", found, {**RULE_EXTRACTOR, **BLOCK})


def _table(title: str, rows: Json, columns: Mapping[str, Column]) -> Iterator[str]:
    yield ""
    yield row(title, *columns)
    yield "|---|" + "---:|" * len(columns)
    for name, one in rows.items():
        yield row(name, *(column(one) for column in columns.values()))


def _find(one: Json, path: str) -> Any:
    for key in path.split("."):
        one = one[key]
    return one


def _column(render: Callable[[Any], str]) -> Callable[[str], Column]:
    """A kind of column: what it shows of the value at a path."""
    return lambda path: lambda one: render(_find(one, path))


@_column
def _share(found: Any) -> str:
    if found["share"] is None:
        return ""
    return f"{found['share']:.1f} ({found['count']}/{found['of']})"


@_column
def _number(found: Any) -> str:
    return "" if found is None else f"{found:.1f}" if isinstance(found, float) else str(found)


@_column
def _spread(found: Any) -> str:
    if found["mean"] is None:
        return ""
    return f"{found['median']:g} / {found['mean']:.1f} / {found['max']}"


KEPT: Mapping[str, Column] = {
    "right told": _share("right"),
    "in its own words": _number("right.as_proposed"),
    "right unconfirmed": _number("right.unconfirmed"),
    "wrong told": _share("wrong"),
    "wrong unconfirmed": _number("wrong.unconfirmed"),
    "targets shown to the model": _share("targets_shown"),
    "updates right": _share("updates"),
    "pairs that both stay": _share("coexist"),
    "pairs lost": _number("coexist.lost"),
    "new valid from": _share("valid_time.new_from"),
    "old valid until": _share("valid_time.old_until"),
}
BLOCK: Mapping[str, Column] = {
    "needed in the block": _share("block.needed"),
    "without lines of conversations": _share("block.needed_without_turns"),
    "relevant lines": _share("block.relevant_lines"),
    "mean of blocks": _number("block.relevant_lines.mean_of_blocks"),
    "relevant, all questions": _share("block.relevant_lines_of_all_blocks"),
    "stale": _share("block.stale"),
    "empty where nothing is needed": _share("block.empty_where_nothing_is_needed"),
    "lines p50 / mean / max": _spread("block.lines"),
    "of conversations": _spread("block.turn_lines"),
    "tokens p50 / mean / max": _spread("block.tokens"),
}
SHORT: Mapping[str, Column] = {
    "right told": _share("right"),
    "right unconfirmed": _number("right.unconfirmed"),
    "wrong told": _share("wrong"),
    "wrong unconfirmed": _number("wrong.unconfirmed"),
    "updates right": _share("updates"),
    "pairs that both stay": _share("coexist"),
    "needed in the block": _share("block.needed"),
    "relevant lines": _share("block.relevant_lines"),
    "stale": _share("block.stale"),
    "empty where nothing is needed": _share("block.empty_where_nothing_is_needed"),
    "tokens p50 / mean / max": _spread("block.tokens"),
}
WRONG: Mapping[str, Column] = {
    "told": lambda one: _share("wrong")({"wrong": one}),
    "unconfirmed": _number("unconfirmed"),
}
RULE_EXTRACTOR: Mapping[str, Column] = {
    "precision": _share("precision"),
    "recall": _share("recall"),
    "recall of distinct facts": _share("recall_of_distinct_facts"),
}
PLOTTED = {
    "right told": "right",
    "wrong told": "wrong",
    "updates right": "updates",
    "needed in the block": "block.needed",
    "relevant lines": "block.relevant_lines",
    "stale": "block.stale",
    "empty where nothing is needed": "block.empty_where_nothing_is_needed",
}


def plot(results: Json) -> str:
    """An SVG document: a bar for each measure of each run with a model."""
    runs = {
        f"{file}, {profile}, {name}": one["total"]
        for file, profiles in results.items()
        for profile, found in profiles.items()
        for name, one in found.items()
        if "by_style" in one
    }
    bars = [line for at, (name, one) in enumerate(runs.items()) for line in _bars(at, name, one)]
    height = (len(PLOTTED) + 2) * BAR * len(runs) + BAR
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
        f'width="{WIDTH}" height="{height}" role="img">'
    )
    title = f"<title>Learning, percent</title><style>{STYLE}</style>"
    return "\n".join([head, title, *bars, "</svg>"]) + "\n"


def _bars(at: int, name: str, one: Json) -> Iterator[str]:
    top = at * (len(PLOTTED) + 2) * BAR + BAR
    yield f'<text x="4" y="{top}">{escape(name)}</text>'
    for place, (label, path) in enumerate(PLOTTED.items()):
        value = _find(one, path)["share"] or 0.0
        y = top + (place + 1) * BAR
        width = (WIDTH - LEFT - 50) * value / 100
        yield f'<text x="{LEFT - 6}" y="{y}" text-anchor="end">{label}</text>'
        yield (
            f'<rect x="{LEFT}" y="{y - 11}" width="{width:.1f}" height="{BAR - 4}" '
            f'fill="{COLOURS[place + 2]}"><title>{label}: {value:.1f}</title></rect>'
        )
        yield f'<text class="small" x="{LEFT + width + 4:.1f}" y="{y - 1}">{value:.1f}</text>'
