"""The verb that looks ahead: what will fade and expire if nobody confirms anything."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from remembrancer.cli.cli_context import Desk
from remembrancer.cli.console import Page, short
from remembrancer.errors import InvalidInput

if TYPE_CHECKING:
    from datetime import datetime

    from remembrancer.maintenance.simulate import Simulation


def simulate(
    context: typer.Context,
    days: Annotated[int, typer.Option(metavar="DAYS", help="How far to look ahead.")] = 365,
    limit: Annotated[int, typer.Option(metavar="NUMBER", help="How many dates to show.")] = 20,
    plot: Annotated[
        str | None, typer.Option(metavar="FILE.svg", help="Draw the three curves into a file.")
    ] = None,
) -> None:
    """Say what will fade and expire, and when.

    As if nobody confirmed or used anything from today on. What fades is no longer recalled but
    still shown; what expires is kept in the archive only. Nothing is changed: confirm what you
    want to keep.

    \b
    Examples:
      rem simulate
      rem simulate --days 90 --plot fading.svg
    """
    desk: Desk = context.obj
    with desk.memory() as me:
        found = me.simulate(days)
    if plot is not None:
        _draw(Path(plot).expanduser(), found)
    desk.answer(found, lambda page: _told(page, found, limit, plot))


def _draw(path: Path, found: Simulation) -> None:
    from remembrancer.cli.plot import svg

    try:
        path.write_text(svg(found.series), encoding="utf-8")
    except OSError as error:
        raise InvalidInput(f"--plot: {path} cannot be written: {error.strerror}.") from error


def _told(page: Page, found: Simulation, limit: int, plot: str | None) -> None:
    from remembrancer.cli import render
    from remembrancer.cli.plot import lines

    start, end = found.series[0], found.series[-1]
    dates = upcoming(found)
    if not dates:
        page.say(f"Nothing fades or expires until {page.date(end.at)}.")
    else:
        page.say(f"Until {page.date(end.at)}, if nobody confirms anything:")
        page.gap()
        render.pairs(
            page, ((page.date(at), f"{what}: {short(text)}") for at, what, text in dates[:limit])
        )
        if len(dates) > limit:
            page.note(f"and {len(dates) - limit} more; --limit shows them")
    page.gap()
    for line in lines(found.series, page.width):
        page.say(line)
    page.note(f"from {page.date(start.at)} to {page.date(end.at)}")
    if plot is not None:
        page.note(f"Drawn into {plot}")


def upcoming(found: Simulation) -> list[tuple[datetime, str, str]]:
    """What happens from now on, in order: when, whether it fades or expires, and to what."""
    start, end = found.series[0].at, found.series[-1].at
    dates = []
    for one in found.forecasts:
        if one.fades_at is not None and one.fades_at == one.first_at != one.expires_at:
            dates.append((one.fades_at, "fades", one.content))
        if one.expires_at is not None:
            dates.append((one.expires_at, "expires", one.content))
    return sorted(each for each in dates if start < each[0] <= end)
