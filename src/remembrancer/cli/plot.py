"""Draws the forecast of `rem simulate` as sparklines and as SVG. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from xml.sax.saxutils import escape

from remembrancer.maintenance.simulate import BandCounts

WIDTH, HEIGHT = 720, 300
LEFT, RIGHT, TOP, BOTTOM = 52, 16, 40, 34
BAR_CHARS = " ▁▂▃▄▅▆▇█"
CURVES: dict[str, tuple[str, Callable[[BandCounts], int]]] = {
    "recalled": ("#4e79a7", lambda one: one.recalled),
    "fading": ("#e08e2b", lambda one: one.fading),
    "expired": ("#8c8c8c", lambda one: one.expired),
}
STYLE = """
  text { font: 12px system-ui, sans-serif; fill: #24292f; }
  .small { font-size: 10px; } .grid { stroke: #24292f; opacity: .15; }
  polyline { fill: none; stroke-width: 2; }
  @media (prefers-color-scheme: dark) { text { fill: #e6edf3; } .grid { stroke: #e6edf3; } }
"""


def render_sparklines(series: Sequence[BandCounts], width: int) -> Iterator[str]:
    """One line per curve: its first value, a sparkline and its last value."""
    top = _max_count(series)
    wide = len(str(top))
    columns = max(2, width - 2 * wide - len("recalled") - 3)
    shown = [series[at * (len(series) - 1) // (columns - 1)] for at in range(columns)]
    for name, (_, value) in CURVES.items():
        curve = "".join(_bar_char(value(one), top) for one in shown)
        yield f"{name:>8} {value(series[0]):>{wide}} {curve} {value(series[-1])}"


def render_svg(series: Sequence[BandCounts]) -> str:
    """An SVG chart that follows the reader's light or dark theme."""
    top = _max_count(series)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'width="{WIDTH}" height="{HEIGHT}" role="img">',
        f"<title>Memories, if nobody confirms anything</title><style>{STYLE}</style>",
        *_grid(series, top),
        *(_curve(series, name, top) for name in CURVES),
        *_legend(),
    ]
    return "\n".join([*parts, "</svg>"]) + "\n"


def _max_count(series: Sequence[BandCounts]) -> int:
    return max(1, *(value(one) for one in series for _, value in CURVES.values()))


def _bar_char(value: int, top: int) -> str:
    """A bar of eight heights; any value above 0 is visible."""
    return BAR_CHARS[max(round(value / top * 8), 1 if value else 0)]


def _grid(series: Sequence[BandCounts], top: int) -> Iterator[str]:
    for value in sorted({0, top // 2, top}):
        y = _y(value, top)
        yield f'<line class="grid" x1="{LEFT}" y1="{y:.1f}" x2="{WIDTH - RIGHT}" y2="{y:.1f}"/>'
        yield _text(LEFT - 6, y + 4, str(value), anchor="end", kind="small")
    for at in sorted({0, (len(series) - 1) // 2, len(series) - 1}):
        x = _x(at, len(series))
        anchor = "start" if at == 0 else "end" if at == len(series) - 1 else "middle"
        yield _text(x, HEIGHT - BOTTOM + 18, f"{series[at].at:%Y-%m-%d}", anchor, kind="small")


def _curve(series: Sequence[BandCounts], name: str, top: int) -> str:
    colour, value = CURVES[name]
    points = " ".join(
        f"{_x(at, len(series)):.1f},{_y(value(one), top):.1f}" for at, one in enumerate(series)
    )
    return f'<polyline stroke="{colour}" points="{points}"><title>{name}</title></polyline>'


def _legend() -> Iterator[str]:
    for at, (name, (colour, _)) in enumerate(CURVES.items()):
        x = LEFT + at * 110
        yield f'<rect x="{x}" y="12" width="10" height="10" fill="{colour}"/>'
        yield _text(x + 16, 21, name, anchor="start")


def _x(at: int, count: int) -> float:
    return LEFT + (WIDTH - LEFT - RIGHT) * at / max(1, count - 1)


def _y(value: int, top: int) -> float:
    return TOP + (HEIGHT - TOP - BOTTOM) * (1 - value / top)


def _text(x: float, y: float, words: str, anchor: str = "middle", kind: str = "") -> str:
    named = f' class="{kind}"' if kind else ""
    return f'<text{named} x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(words)}</text>'
