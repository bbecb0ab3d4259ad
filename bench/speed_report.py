"""The speeds as Markdown tables and as a picture."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from bench.plot import COLOURS, STYLE
from bench.report import machine_line, row

Json = Mapping[str, Any]

WIDTH, HEIGHT, LEFT = 640, 26, 190


def report(outcome: Json) -> str:
    """How it grows, and how it compares."""
    lines = ["# Speed", "", f"`{outcome['command']}`, {outcome['date']}.", machine_line(outcome)]
    if outcome["growth"]:
        lines += ["", f"## How we grow ({outcome['engine']})", "", *_growth(outcome["growth"])]
    if outcome["systems"]:
        lines += ["", "## Side by side", "", *_systems(outcome["systems"])]
    return "\n".join(lines) + "\n"


def _growth(sizes: Json) -> Iterator[str]:
    yield row(
        "turns", "recall p50 / p95 ms", "of the bare embedding p50 / p95", "context p50 ms",
        "remember p50 ms", "ingest turns/s", "of bare embedding", "vector recall",
        "first recall ms", "memory MB",
    )  # fmt: skip
    yield "|---|" + "---:|" * 9
    for size, one in sizes.items():
        recall, ingest = one["recall"], one["ingest"]
        yield row(
            size,
            f"{recall['p50']:.1f} / {recall['p95']:.1f}",
            f"{recall['ratio_p50']:.2f} / {recall['ratio_p95']:.2f}",
            f"{one['context']['p50']:.1f}",
            f"{one['write']['remember_p50']:.1f}",
            f"{ingest['turns_per_second']:.0f}",
            f"{ingest['of_bare_embedding']:.2f}",
            f"{one['vector_recall']:.3f}",
            f"{one['first_recall_ms']:.0f}",
            f"{one['memory_mb']['peak']:.0f}",
        )


def _systems(systems: Json) -> Iterator[str]:
    yield row("system", "recall p50 ms", "p95 ms", "bare embedding p50 ms", "ingest turns/s", "MB")
    yield "|---|" + "---:|" * 5
    for name, one in systems.items():
        if "error" in one:
            yield row(name, one["error"], "", "", "", "")
            continue
        ms = one["ms"]
        yield row(
            name,
            *(f"{ms[key]:.1f}" if ms[key] else "" for key in ("p50", "p95", "embed_p50")),
            f"{one['ingest']['turns_per_second']:.0f}",
            f"{one['memory_mb']:.0f}" if one["memory_mb"] else "",
        )


def plot(outcome: Json) -> str:
    """Bars of the median recall of each system."""
    measured = {name: one["ms"]["p50"] for name, one in outcome["systems"].items() if "ms" in one}
    most = max(measured.values(), default=1.0)
    height = 44 + HEIGHT * len(measured)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
        f'width="{WIDTH}" height="{height}" role="img">',
        f"<title>Median time of a recall</title><style>{STYLE}</style>",
        '<text x="8" y="20">Median time of a recall, milliseconds, embedding included</text>',
    ]
    for at, (name, value) in enumerate(measured.items()):
        y, length = 36 + at * HEIGHT, (WIDTH - LEFT - 60) * value / most
        parts += [
            f'<text x="{LEFT - 8}" y="{y + 14}" text-anchor="end">{name}</text>',
            f'<rect x="{LEFT}" y="{y}" width="{length:.1f}" height="18" '
            f'fill="{COLOURS[5] if name == "ours" else COLOURS[0]}"/>',
            f'<text x="{LEFT + length + 6:.1f}" y="{y + 14}">{value:.1f}</text>',
        ]
    return "\n".join([*parts, "</svg>"]) + "\n"
