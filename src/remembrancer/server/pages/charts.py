"""Draws charts as SVG from plain numbers. Pure functions; the stylesheet has the colours."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo

from markupsafe import Markup, escape

from remembrancer.text_format import format_date, pluralize, shorten

Row = tuple[str, str]
Scale = Callable[[datetime], float]

WIDTH, HEIGHT = 320, 120
FLOOR, TOP = 100, 12
MAX_LABEL_CHARS = 34


@dataclass(frozen=True, slots=True)
class Chart:
    """A drawing, a sentence that sums it up, and its numbers as rows."""

    title: str
    sentence: str
    svg: Markup
    rows: tuple[Row, ...]


def draw_bars(
    title: str,
    sentence: str,
    counts: Mapping[str, int],
    *,
    label_ends_only: bool = False,
    graded: bool = False,
) -> Chart:
    """Vertical bars, one for each count.

    With `label_ends_only`, only the first and the last bar have a label; with `graded`, the
    bars are the steps of confidence and have their colours.
    """
    highest = max(counts.values(), default=0) or 1
    slot = WIDTH / max(1, len(counts))
    parts = []
    for index, (name, count) in enumerate(counts.items()):
        height = (FLOOR - TOP) * count / highest
        left, middle = index * slot + slot * 0.12, (index + 0.5) * slot
        kind = f"column step-{index + 1}" if graded else "column"
        parts.append(_rect(left, FLOOR - height, slot * 0.76, max(height, 1), kind))
        if count and not label_ends_only:
            parts.append(_text(middle, FLOOR - height - 3, f"{count:,}", "value"))
        if not label_ends_only or index in (0, len(counts) - 1):
            side = "" if not label_ends_only else (" start" if index == 0 else " end")
            at = middle if not label_ends_only else (left if index == 0 else left + slot * 0.76)
            parts.append(_text(at, HEIGHT - 6, name, f"label{side}"))
    rows = tuple((name, f"{count:,}") for name, count in counts.items())
    return Chart(title, sentence, _svg(title, parts), rows)


def draw_shares(title: str, sentence: str, counts: Mapping[str, int]) -> Chart:
    """One horizontal bar, divided by the share of each count."""
    total = sum(counts.values()) or 1
    parts, left = [], 0.0
    for index, (name, count) in enumerate(counts.items()):
        width = WIDTH * count / total
        if count:
            parts.append(_rect(left, 8, max(width - 2, 1), 28, f"share share-{index + 1}"))
            if width > 14:
                parts.append(_text(left + width / 2 - 1, 27, f"{count:,}", "value inside"))
        row, column = divmod(index, 2)
        parts.append(_rect(column * WIDTH / 2, 56 + row * 24, 10, 10, f"share share-{index + 1}"))
        label = f"{name}: {count:,}"
        parts.append(_text(column * WIDTH / 2 + 16, 65 + row * 24, label, "label start"))
        left += width
    rows = tuple((name, f"{count:,}") for name, count in counts.items())
    height = 72 + 24 * ((len(counts) - 1) // 2)
    return Chart(title, sentence, _svg(title, parts, height), rows)


@dataclass(frozen=True, slots=True)
class DecaySegment:
    """One stretch of decay: from `since`, confidence falls at `rate` per day."""

    since: datetime
    confidence: float
    rate: float


def draw_lifetime(
    title: str,
    segments: Sequence[DecaySegment],
    now: datetime,
    zone: tzinfo,
    *,
    threshold: tuple[str, float],
    ended: datetime | None = None,
) -> Chart:
    """The confidence of a memory since it was recorded, and its forecast without confirmation."""
    start = segments[0].since
    ahead = timedelta(0) if ended else max(timedelta(days=60), (now - start) * 0.6)
    end = (ended or now) + ahead
    span = max((end - start).total_seconds(), 1.0)

    def x(moment: datetime) -> float:
        return WIDTH * max(0.0, min(1.0, (moment - start).total_seconds() / span))

    past, future = _plot_lines(segments, x, ended or now, end)
    label, height = threshold[0], _y(threshold[1])
    parts = [
        _line(0, height, WIDTH, height, "threshold"),
        _text(0, height - 3, label, "label start"),
        f'<polyline class="past" points="{past}"/>',
        f'<polyline class="future" points="{future}"/>' if not ended else "",
        *(_circle(x(point.since), _y(point.confidence), 3, "mark") for point in segments),
        _line(x(ended or now), TOP, x(ended or now), FLOOR, "today"),
        _text(0, HEIGHT - 6, format_date(start, zone), "label start"),
        _text(WIDTH, HEIGHT - 6, format_date(end, zone), "label end"),
    ]
    rows = tuple(
        (f"{point.since.astimezone(zone):%Y-%m-%d}", f"{point.confidence:.2f}")
        for point in segments
    )
    times = len(segments) - 1
    count = {0: "Never confirmed.", 1: "Confirmed once."}.get(times, f"Confirmed {times} times.")
    sentence = count if ended else f"{count} Dashed: what happens if you never confirm it."
    return Chart(title, sentence, _svg(title, parts), rows)


def _plot_lines(
    segments: Sequence[DecaySegment], x: Scale, now: datetime, end: datetime
) -> tuple[str, str]:
    """The points of the line before and after `now`."""
    past: list[str] = []
    for index, segment in enumerate(segments):
        until = segments[index + 1].since if index + 1 < len(segments) else now
        past += _plot_segment(segment, segment.since, until, x)
    return " ".join(past), " ".join(_plot_segment(segments[-1], now, end, x))


def _plot_segment(segment: DecaySegment, start: datetime, end: datetime, x: Scale) -> list[str]:
    points = []
    for step in range(13):
        at = start + (end - start) * step / 12
        days = max(0.0, (at - segment.since).total_seconds() / 86_400)
        points.append(f"{x(at):.1f},{_y(segment.confidence * math.exp(-segment.rate * days)):.1f}")
    return points


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A memory that is linked to the one that is shown."""

    label: str
    relation: str
    href: str


def draw_graph(title: str, neighbours: Sequence[Neighbour]) -> Chart:
    """The linked memories of a memory, as branches."""
    shown = neighbours[:8]
    height = max(60, 28 * len(shown) + 12)
    middle = height / 2
    parts = []
    for index, neighbour in enumerate(shown):
        y = 20 + index * 28
        parts.append(f'<path class="edge" d="M10 {middle:.0f} C 40 {middle:.0f}, 40 {y}, 70 {y}"/>')
        parts.append(_circle(74, y, 4, "node"))
        parts.append(
            f'<a href="{escape(neighbour.href)}"><text class="label start link" x="84" y="{y + 4}">'
            f"{escape(shorten(neighbour.label, MAX_LABEL_CHARS))}</text></a>"
        )
        parts.append(_text(84, y - 8, neighbour.relation, "label start small"))
    parts.append(_circle(10, middle, 6, "node own"))
    rows = tuple((neighbour.relation, neighbour.label) for neighbour in neighbours)
    hidden = len(neighbours) - len(shown)
    more = f" ({hidden} of them only under “Show numbers”)" if hidden else ""
    count = pluralize(len(neighbours), "memory", "memories")
    return Chart(title, f"Linked to {count}{more}.", _svg(title, parts, height, "group"), rows)


def draw_cycle(title: str, steps: Sequence[str]) -> Markup:
    """Numbered steps around a circle."""
    middle, above, radius = WIDTH / 2, 112.0, 76.0
    turn = 2 * math.pi / len(steps)
    gap = 19 / radius

    def at(angle: float, away: float = radius) -> tuple[float, float]:
        return middle + away * math.sin(angle), above - away * math.cos(angle)

    parts = []
    for index, name in enumerate(steps):
        angle = index * turn
        (x, y), start, end = at(angle), at(angle + gap), at(angle + turn - gap)
        inner, outer = (at(angle + turn - gap - 0.09, radius + by) for by in (-5, 5))
        arrow = " L ".join(f"{left:.1f} {top:.1f}" for left, top in (inner, end, outer))
        arc = (
            f"{start[0]:.1f} {start[1]:.1f} A {radius:g} {radius:g} 0 0 1 {end[0]:.1f} {end[1]:.1f}"
        )
        parts.append(f'<path class="edge strong" d="M {arc} M {arrow}"/>')
        parts += [_circle(x, y, 13, "node own"), _text(x, y + 4, f"{index + 1}", "value inside")]
        side = 0 if abs(x - middle) < 1 else math.copysign(1, x - middle)
        anchor = {0: "", 1: " start", -1: " end"}[int(side)]
        parts.append(_text(x + 19 * side, y + (4 if side else -19), name, f"step{anchor}"))
    return _svg(title, parts, above + radius + 20)


def _svg(title: str, parts: Sequence[str], height: float = HEIGHT, role: str = "img") -> Markup:
    inside = "".join(parts)
    return Markup(  # noqa: S704 - every text in it is escaped where it is inserted
        f'<svg class="chart" viewBox="0 0 {WIDTH} {height:.0f}" role="{role}" '
        f'aria-label="{escape(title)}">{inside}</svg>'
    )


def _y(confidence: float) -> float:
    return FLOOR - (FLOOR - TOP) * max(0.0, min(1.0, confidence))


def _rect(x: float, y: float, width: float, height: float, kind: str) -> str:
    return (
        f'<rect class="{kind}" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" '
        f'height="{height:.1f}" rx="2"/>'
    )


def _line(x: float, y: float, to_x: float, to_y: float, kind: str) -> str:
    return f'<line class="{kind}" x1="{x:.1f}" y1="{y:.1f}" x2="{to_x:.1f}" y2="{to_y:.1f}"/>'


def _circle(x: float, y: float, radius: float, kind: str) -> str:
    return f'<circle class="{kind}" cx="{x:.1f}" cy="{y:.1f}" r="{radius:g}"/>'


def _text(x: float, y: float, text: str, kind: str) -> str:
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}">{escape(text)}</text>'
