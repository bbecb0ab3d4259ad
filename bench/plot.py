"""The results as a picture: bars of turn R@10 with their intervals, for each file and system."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from xml.sax.saxutils import escape

Json = Mapping[str, Any]

LEFT, TOP, BOTTOM = 44, 28, 34
HEIGHT = 220
BAR, GAP = 22, 28
LEGEND_ROW, LEGEND_COLUMN = 18, 150
COLOURS = (
    "#8c8c8c", "#b08d57", "#4e79a7", "#76b7b2", "#59a14f",
    "#e15759", "#af7aa1", "#edc948", "#ff9da7", "#9c755f",
)  # fmt: skip
STYLE = """
  text { font: 12px system-ui, sans-serif; fill: #24292f; }
  .small { font-size: 10px; }
  .line { stroke: #24292f; } .grid { stroke: #24292f; opacity: .15; }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3; } .line, .grid { stroke: #e6edf3; }
  }
"""


def plot(results: Json) -> str:
    """An SVG document that follows the reader's light or dark theme."""
    systems = list(dict.fromkeys(name for file in results.values() for name in file))
    group = len(systems) * BAR + GAP
    width = max(LEFT + group * len(results) + 10, LEFT + 3 * LEGEND_COLUMN)
    legend_top = TOP + HEIGHT + BOTTOM
    height = legend_top + LEGEND_ROW * (1 + len(systems) // (width // LEGEND_COLUMN))
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" role="img">',
        f"<title>Turn R@10 in percent</title><style>{STYLE}</style>",
        _text(LEFT, 16, "Turn R@10, percent, with 95 % intervals", anchor="start"),
        *_grid(width),
    ]
    for at, (file, found) in enumerate(results.items()):
        left = LEFT + GAP // 2 + at * group
        parts += _group(left, systems, found)
        parts.append(_text(left + (group - GAP) / 2, TOP + HEIGHT + 18, file))
    parts += _legend(systems, width // LEGEND_COLUMN, legend_top)
    return "\n".join([*parts, "</svg>"]) + "\n"


def _grid(width: int) -> Iterator[str]:
    for percent in range(0, 101, 20):
        yield _line(LEFT, _y(percent), width, _y(percent), "grid")
        yield _text(LEFT - 6, _y(percent) + 4, str(percent), anchor="end", kind="small")


def _group(left: float, systems: list[str], found: Json) -> Iterator[str]:
    for at, name in enumerate(systems):
        turn = found.get(name, {}).get("turn")
        if not turn:
            continue
        x, value = left + at * BAR, turn["R@10"]
        yield (
            f'<rect x="{x + 2}" y="{_y(value):.1f}" width="{BAR - 4}" '
            f'height="{_y(0) - _y(value):.1f}" fill="{_colour(at)}">'
            f"<title>{escape(name)}: {value:.1f}</title></rect>"
        )
        low, high = found[name]["turn_interval"]["R@10"]
        middle = x + BAR / 2
        yield _line(middle, _y(low), middle, _y(high), "line")
        yield _text(middle, _y(high) - 4, f"{value:.0f}", kind="small")


def _legend(systems: list[str], columns: int, top: float) -> Iterator[str]:
    for at, name in enumerate(systems):
        x = LEFT + at % columns * LEGEND_COLUMN
        y = top + at // columns * LEGEND_ROW
        yield f'<rect x="{x}" y="{y}" width="10" height="10" fill="{_colour(at)}"/>'
        yield _text(x + 16, y + 9, name, anchor="start")


def _y(percent: float) -> float:
    return TOP + HEIGHT * (1 - percent / 100)


def _colour(at: int) -> str:
    return COLOURS[at % len(COLOURS)]


def _line(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    return f'<line class="{kind}" x1="{x1}" y1="{y1:.1f}" x2="{x2}" y2="{y2:.1f}"/>'


def _text(x: float, y: float, words: str, anchor: str = "middle", kind: str = "") -> str:
    return f'<text class="{kind}" x="{x}" y="{y:.1f}" text-anchor="{anchor}">{escape(words)}</text>'
