"""`rem simulate`: forecasts what will fade and expire if nothing is confirmed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Option

from remembrancer.cli import render
from remembrancer.cli.cli_context import CliContext
from remembrancer.cli.terminal import Terminal, shorten
from remembrancer.environment import open_private
from remembrancer.errors import InvalidInput

if TYPE_CHECKING:
    from datetime import datetime

    from remembrancer.maintenance.simulate import Simulation


def simulate(
    cli: CliContext,
    days: Annotated[int, Option(metavar="DAYS", help="How many days ahead.")] = 365,
    limit: Annotated[int, Option(metavar="NUMBER", help="The maximum number of dates.")] = 20,
    plot: Annotated[str | None, Option(metavar="FILE.svg", help="Write a chart to a file.")] = None,
) -> None:
    """Forecast what will fade and expire, and when.

    Assumes that nothing is confirmed or used from today on. A faded memory is listed but no longer
    recalled; an expired one stays only in the archive. Nothing is changed: confirm what you want to
    keep.

    \b
    Examples:
      rem simulate
      rem simulate --days 90 --plot fading.svg
    """
    with cli.open_memory() as me:
        found = me.simulate(days)
    if plot is not None:
        _draw(Path(plot).expanduser(), found)
    cli.print_result(found, lambda out: _print_forecast(out, found, limit, plot))


def _draw(path: Path, found: Simulation) -> None:
    from remembrancer.cli.plot import render_svg

    try:
        with open(path, "w", encoding="utf-8", opener=open_private) as out:
            out.write(render_svg(found.series))
    except OSError as error:
        raise InvalidInput(f"--plot: {path} cannot be written: {error.strerror}.") from error


def _print_forecast(out: Terminal, found: Simulation, limit: int, plot: str | None) -> None:
    from remembrancer.cli.plot import render_sparklines

    start, end = found.series[0], found.series[-1]
    dates = _list_upcoming(found)
    if not dates:
        out.say(f"Nothing fades or expires until {out.format_date(end.at)}.")
    else:
        out.say(f"Until {out.format_date(end.at)}, if nobody confirms anything:")
        out.print_blank_line()
        render.print_pairs(
            out,
            ((out.format_date(at), f"{what}: {shorten(text)}") for at, what, text in dates[:limit]),
        )
        if len(dates) > limit:
            out.note(f"and {len(dates) - limit} more; --limit shows them")
    out.print_blank_line()
    for line in render_sparklines(found.series, out.width):
        out.say(line)
    out.note(f"from {out.format_date(start.at)} to {out.format_date(end.at)}")
    if plot is not None:
        out.note(f"Drawn into {plot}")


def _list_upcoming(found: Simulation) -> list[tuple[datetime, str, str]]:
    """The dates in order: when, `fades` or `expires`, and the memory's content."""
    start, end = found.series[0].at, found.series[-1].at
    dates = []
    for one in found.forecasts:
        if one.fades_at is not None and one.fades_at == one.first_at != one.expires_at:
            dates.append((one.fades_at, "fades", one.content))
        if one.expires_at is not None:
            dates.append((one.expires_at, "expires", one.content))
    return sorted(each for each in dates if start < each[0] <= end)
