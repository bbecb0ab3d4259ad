"""`rem team-stats` and `rem team-switch`: numbers and live settings of the team memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated

from typer import Argument

from remembrancer.cli import render
from remembrancer.cli.cli_context import CliContext
from remembrancer.cli.team import open_review, say_if_no_team
from remembrancer.cli.terminal import Terminal, format_count
from remembrancer.errors import InvalidInput

if TYPE_CHECKING:
    from remembrancer.team.activity import TeamActivity
    from remembrancer.team.review import TeamStats
    from remembrancer.team.settings import TeamSettings
    from remembrancer.types import Json, TeamOrigin

BOOLEAN_SETTINGS = ("personal_learning", "team_learning")
NUMERIC_SETTINGS = ("promote_at", "dedup_threshold", "recall_confidence", "limit")
RECALL_SETTING, ANONYMOUS = "team_recall", "anonymous"
DEFAULT = "default"
SETTING_NAMES = (*BOOLEAN_SETTINGS, f"{RECALL_SETTING}.SURFACE", *NUMERIC_SETTINGS)
BOOLEAN_WORDS = {"on": True, "true": True, "yes": True, "off": False, "false": False, "no": False}
MEANINGS = {
    "personal_learning": "Learn about people from conversations.",
    "team_learning": "Learn for the team from conversations.",
    "promote_at": "Approve a fact after this many contributors.",
    "dedup_threshold": "Least similarity of facts that are merged, 0 to 1.",
    "recall_confidence": "Minimum confidence of a recalled fact, 0 to 1.",
    "limit": "Maximum number of recalled facts.",
}


def team_stats(cli: CliContext) -> None:
    """Count team facts, and show the settings.

    Counts by status, kind and origin, shows how many facts are contradicted, how often people
    propose the same, what is recalled most, and the settings that `rem team-switch` changes.

    \b
    Example:
      rem team-stats
    """
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
        "activity": stats.activity,
        "personal": stats.personal,
        "switches": stats.switches.model_dump(),
    }

    def print_text(out: Terminal) -> None:
        _print_counts(out, stats)
        out.print_heading("Switches in force")
        _print_settings(out, stats.switches)
        say_if_no_team(out, cli)

    cli.print_result(answer, print_text)


def team_switch(
    cli: CliContext, settings: Annotated[list[str], Argument(metavar="NAME=VALUE", hidden=True)]
) -> None:
    """Change settings of the team memory at run time.

    Every process uses the new value within a second; if one value is wrong, nothing changes.
    promote_at is a number of contributors, or off if only a reviewer approves. team_recall.SURFACE
    allows recall through a surface, and team_recall.anonymous recall without a name. `rem
    team-stats` lists the other names. The value default returns to the profile's value.

    \b
    Examples:
      rem team-switch promote_at=3
      rem team-switch promote_at=off team_learning=off
      rem team-switch team_recall.telegram=off team_recall.anonymous=on
      rem team-switch dedup_threshold=0.8
      rem team-switch promote_at=default
    """
    parsed = dict(map(_parse_setting, settings))
    with cli.open_engine() as store:
        review = open_review(cli, store)
        review.change_settings(**_build_changes(parsed))
        switches = review.reset_settings(
            *(name for name, value in parsed.items() if value == DEFAULT)
        )

    def print_text(out: Terminal) -> None:
        out.say("Switched. In force:")
        out.print_blank_line()
        _print_settings(out, switches)
        say_if_no_team(out, cli)

    cli.print_result(switches.model_dump(), print_text)


def _print_counts(out: Terminal, stats: TeamStats) -> None:
    count = sum(stats.by_status.values())
    if not count:
        out.say("The team knows nothing yet.")
        out.note("Try: rem propose “The proxy pool uses ports 9000 to 9999.”")
        return
    out.say(f"{format_count(count, 'team fact')}.")
    out.print_blank_line()
    rows = [
        ("status", render.format_counts(stats.by_status)),
        ("kind", render.format_counts(stats.by_kind)),
        ("origin", render.format_counts(stats.by_origin)),
        ("contradicted", str(stats.contested) if stats.contested else "none"),
        ("said", f"{stats.said} times, {stats.merged:.0%} of them what someone had said before"),
        *_describe_activity(stats.activity),
        *(("told", f"{one.recall_count} times: {one.content}") for one in stats.most_recalled),
    ]
    render.print_pairs(out, rows)


def _describe_activity(
    activity: Mapping[TeamOrigin, TeamActivity],
) -> Iterator[tuple[str, str]]:
    """A row for each origin, and for what the extractor read."""
    for origin, one in activity.items():
        rules = f", for {render.format_counts(one.by_rule)}" if one.by_rule else ""
        read = f"{one.runs} readings, " if one.runs else ""
        yield (
            f"by {origin}",
            f"{read}{one.proposed} proposed, {one.merge_rate:.0%} merged, "
            f"{one.refused} refused{rules}",
        )


def _print_settings(out: Terminal, switches: TeamSettings) -> None:
    render.print_settings(out, _rows(switches))
    out.note("Recall is on for every other surface.")


def _rows(switches: TeamSettings) -> Iterator[tuple[str, str, str]]:
    """The name, value and meaning of each setting."""
    for name in (*BOOLEAN_SETTINGS, *NUMERIC_SETTINGS):
        value = getattr(switches, name)
        if value is None:
            yield name, "off", "Only a reviewer approves."
        else:
            yield name, _format_value(value), MEANINGS[name]
    for surface in sorted(switches.team_recall.keys() - {ANONYMOUS}):
        value = _format_value(switches.can_recall(surface))
        yield f"{RECALL_SETTING}.{surface}", value, f"Allow recall through {surface}."
    value = _format_value(switches.can_recall(None))
    yield f"{RECALL_SETTING}.{ANONYMOUS}", value, "Allow recall without a name."


def _format_value(value: float | bool) -> str:
    return ("on" if value else "off") if isinstance(value, bool) else f"{value:g}"


def _parse_setting(setting: str) -> tuple[str, Json]:
    """Parse NAME=VALUE by the type of the setting."""
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
    parse = _parse_number if name in NUMERIC_SETTINGS else _parse_boolean
    return name, parse(name, text)


def _build_changes(parsed: Mapping[str, Json]) -> dict[str, Json]:
    """The settings to change, with the surfaces of team_recall in one mapping."""
    changes = {name: value for name, value in parsed.items() if value != DEFAULT}
    prefix = f"{RECALL_SETTING}."
    surfaces = [name for name in changes if name.startswith(prefix)]
    recall: Json = {name.removeprefix(prefix): changes.pop(name) for name in surfaces}
    return {**changes, RECALL_SETTING: recall} if recall else changes


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
