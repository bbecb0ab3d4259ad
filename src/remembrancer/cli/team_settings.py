"""The verbs for how a team's memory works: its numbers, and the switches while everything runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated

import typer

from remembrancer.cli.cli_context import CliContext
from remembrancer.cli.team import format_fact_count, open_review, say_if_no_team
from remembrancer.cli.terminal import Terminal
from remembrancer.errors import InvalidInput

if TYPE_CHECKING:
    from remembrancer.team.review import TeamStats
    from remembrancer.team.settings import TeamSettings
    from remembrancer.types import Json

BOOLEAN_SETTINGS = ("personal_learning", "team_learning")
NUMERIC_SETTINGS = ("promote_at", "dedup_threshold", "recall_confidence", "limit")
RECALL_SETTING, ANONYMOUS = "team_recall", "anonymous"
DEFAULT = "default"
SETTING_NAMES = (*BOOLEAN_SETTINGS, f"{RECALL_SETTING}.SURFACE", *NUMERIC_SETTINGS)
BOOLEAN_WORDS = {"on": True, "true": True, "yes": True, "off": False, "false": False, "no": False}
MEANINGS = {
    "personal_learning": "Learn about people from conversations.",
    "team_learning": "Learn for the team from conversations.",
    "promote_at": "Approve what so many people have said.",
    "dedup_threshold": "Texts so similar say the same, from 0 to 1.",
    "recall_confidence": "Tell what is at least so sure, from 0 to 1.",
    "limit": "Tell so many facts at most.",
}


def team_stats(context: typer.Context) -> None:
    """Count what the team knows, and show the switches.

    By status, kind and origin, how many facts are contradicted, how often people say the same, what
    is told most often, and the settings in force, which `rem team-switch` changes.

    \b
    Example:
      rem team-stats
    """
    cli: CliContext = context.obj
    with cli.open_engine() as store:
        stats = open_review(cli, store).stats()
    answer = {
        "by_status": stats.by_status,
        "by_kind": stats.by_kind,
        "by_origin": stats.by_origin,
        "contested": stats.contested,
        "said": stats.said,
        "weeks": stats.weeks,
        "merged": stats.merged,
        "most_recalled": stats.most_recalled,
        "switches": stats.switches.model_dump(),
    }

    def print_text(out: Terminal) -> None:
        _print_counts(out, stats)
        out.print_heading("Switches in force")
        _print_settings(out, stats.switches)
        say_if_no_team(out, cli)

    cli.print_result(answer, print_text)


def team_switch(
    context: typer.Context,
    settings: Annotated[list[str], typer.Argument(metavar="NAME=VALUE", hidden=True)],
) -> None:
    """Change how the team's memory works while everything runs.

    Every process goes by it within a second; a mistake changes nothing. promote_at is a number of
    people, or off if only a reviewer may approve. team_recall.SURFACE says whether those who ask
    through a surface are told, and team_recall.anonymous whether nobody in particular is. The other
    names are in `rem team-stats`. The value default leaves a switch to the profile again.

    \b
    Examples:
      rem team-switch promote_at=3
      rem team-switch promote_at=off team_learning=off
      rem team-switch team_recall.telegram=off team_recall.anonymous=on
      rem team-switch dedup_threshold=0.95
      rem team-switch promote_at=default
    """
    cli: CliContext = context.obj
    read = dict(map(_parse_setting, settings))
    with cli.open_engine() as store:
        review = open_review(cli, store)
        review.change_settings(**_build_changes(read))
        switches = review.reset_settings(
            *(name for name, value in read.items() if value == DEFAULT)
        )

    def print_text(out: Terminal) -> None:
        out.say("Switched. In force:")
        out.print_blank_line()
        _print_settings(out, switches)
        say_if_no_team(out, cli)

    cli.print_result(switches.model_dump(), print_text)


def _print_counts(out: Terminal, stats: TeamStats) -> None:
    from remembrancer.cli import render

    count = sum(stats.by_status.values())
    if not count:
        out.say("The team knows nothing yet.")
        out.note("Try: rem propose “The proxy pool uses ports 9000 to 9999.”")
        return
    out.say(f"{format_fact_count(count)}.")
    out.print_blank_line()
    rows = [
        ("status", render.format_counts(stats.by_status)),
        ("kind", render.format_counts(stats.by_kind)),
        ("origin", render.format_counts(stats.by_origin)),
        ("contradicted", str(stats.contested) if stats.contested else "none"),
        ("said", f"{stats.said} times, {stats.merged:.0%} of them what someone had said before"),
        *(("told", f"{one.recall_count} times: {one.content}") for one in stats.most_recalled),
    ]
    render.print_pairs(out, rows)


def _print_settings(out: Terminal, switches: TeamSettings) -> None:
    from remembrancer.cli import render

    render.print_settings(out, _rows(switches))
    out.note("Every other surface is told what the team knows.")


def _rows(switches: TeamSettings) -> Iterator[tuple[str, str, str]]:
    """Each switch under the name by which it is changed, its value, and what that does."""
    for name in (*BOOLEAN_SETTINGS, *NUMERIC_SETTINGS):
        value = getattr(switches, name)
        if value is None:
            yield name, "off", "Only a reviewer approves."
        else:
            yield name, _format_value(value), MEANINGS[name]
    for surface in sorted(switches.team_recall.keys() - {ANONYMOUS}):
        told = _format_value(switches.can_recall(surface))
        yield f"{RECALL_SETTING}.{surface}", told, f"Tell those who ask through {surface}."
    told = _format_value(switches.can_recall(None))
    yield f"{RECALL_SETTING}.{ANONYMOUS}", told, "Tell whoever does not say who they are."


def _format_value(value: float | bool) -> str:
    return ("on" if value else "off") if isinstance(value, bool) else f"{value:g}"


def _parse_setting(setting: str) -> tuple[str, Json]:
    """The name and the value of what was typed as NAME=VALUE, read by what each name takes."""
    name, sign, text = setting.partition("=")
    group, dot, surface = name.partition(".")
    if not sign:
        raise InvalidInput("Say NAME=VALUE, such as promote_at=3 or team_learning=off.")
    if name == RECALL_SETTING:
        raise InvalidInput("Say for which surface, such as team_recall.telegram=off.")
    if group == RECALL_SETTING and dot:
        from remembrancer.types import validate_name

        name = f"{RECALL_SETTING}.{validate_name(surface, 'surface')}"
    elif name not in (*BOOLEAN_SETTINGS, *NUMERIC_SETTINGS):
        raise InvalidInput(f"There is no switch {name!r}: use one of {', '.join(SETTING_NAMES)}.")
    if text.lower() == DEFAULT:
        return name, DEFAULT
    return name, _parse_number(name, text) if name in NUMERIC_SETTINGS else _parse_boolean(
        name, text
    )


def _build_changes(read: Mapping[str, Json]) -> dict[str, Json]:
    """What is to be changed, with the surfaces together."""
    changes = {name: value for name, value in read.items() if value != DEFAULT}
    surfaces = {
        name: changes.pop(name) for name in list(changes) if name.startswith(f"{RECALL_SETTING}.")
    }
    told: Json = {
        name.removeprefix(f"{RECALL_SETTING}."): value for name, value in surfaces.items()
    }
    return {**changes, RECALL_SETTING: told} if told else changes


def _parse_boolean(name: str, text: str) -> bool:
    if text.lower() not in BOOLEAN_WORDS:
        raise InvalidInput(f"{name}: say on or off, not {text!r}.")
    return BOOLEAN_WORDS[text.lower()]


def _parse_number(name: str, text: str) -> float | None:
    can_be_off = name == "promote_at"
    if can_be_off and text.lower() == "off":
        return None
    try:
        return int(text) if text.isdecimal() else float(text)
    except ValueError:
        what = "a number, or off" if can_be_off else "a number"
        raise InvalidInput(f"{name}: give {what}, not {text!r}.") from None
