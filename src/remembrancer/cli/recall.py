"""The verbs that read memories: recall, get, list, history, activity and stats."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from remembrancer.cli import render
from remembrancer.cli.cli_context import CliContext
from remembrancer.cli.options import (
    AS_OF_OPTIONS,
    FILTER_OPTIONS,
    PAGING_OPTIONS,
    RANKING_OPTIONS,
    USE_OPTIONS,
    Cursor,
    Limit,
    Reference,
    Words,
    read_words,
    with_options,
)
from remembrancer.cli.terminal import Terminal

if TYPE_CHECKING:
    from remembrancer.types import Event, Page, Recalled, Record


@with_options(FILTER_OPTIONS, AS_OF_OPTIONS, RANKING_OPTIONS)
def recall(
    cli: CliContext,
    words: Words,
    *,
    explain: Annotated[bool, Option("--explain", help="Show why each was found.")] = False,
    **options: Any,
) -> None:
    """Find the memories that matter for a question.

    Searches by meaning and by words, and prints the best first. --as-of and --true-at ask about the
    past; a date means its start in your time zone.

    \b
    Examples:
      rem recall "how should I answer?"
      rem recall "where does Ada live?" --as-of 2026-03-15 --explain
    """
    query, filters = read_words(words), cli.parse_recall_options(options)
    with cli.open_memory(embeds=filters.get("mode") != "keyword") as me:
        found = me.recall(query, **filters)
    cli.print_result(
        {"items": found, "sure": found.sure, "late": found.late},
        lambda out: _print_results(out, found, explain=explain),
    )


@with_options(AS_OF_OPTIONS)
def get(cli: CliContext, memory: Reference, **moment: Any) -> None:
    """Show one memory with all its details.

    Shows where it came from, how long it is true, its status and its confidence.

    \b
    Examples:
      rem get "lives in Hamburg"
      rem get "lives in Hamburg" --true-at 2026-03-15
    """
    then = cli.parse_as_of(**moment)
    cli.run_verb(lambda me: me.get(read_words(memory), as_of=then), _print_memory)


@with_options(FILTER_OPTIONS, AS_OF_OPTIONS, USE_OPTIONS, PAGING_OPTIONS)
def list_(cli: CliContext, **options: Any) -> None:
    """List memories, the newest or the most used first.

    Lists active memories; --status lists unconfirmed, superseded, forgotten or deleted ones.

    \b
    Examples:
      rem list --category preference --limit 10
      rem list --order most_used
      rem list --never-used
      rem list --status forgotten
      rem list --status unconfirmed
    """
    filters: Any = cli.parse_recall_options(options)
    cli.run_verb(lambda me: me.list(**filters), _print_list)


@with_options(AS_OF_OPTIONS)
def history(cli: CliContext, memory: Reference, **moment: Any) -> None:
    """Show the versions of a memory and its events.

    Shows all versions, what happened to them, and their links. Each event has an id for `rem undo`.

    \b
    Example:
      rem history "lives in Hamburg"
    """
    then = cli.parse_as_of(**moment)
    cli.run_verb(lambda me: me.history(read_words(memory), as_of=then), render.print_history)


def activity(cli: CliContext, limit: Limit = 20, cursor: Cursor = None) -> None:
    """Show what happened to your memories, the latest first.

    Shows what you stored, what was learned and what expired. Each event has an id for `rem undo`.

    \b
    Example:
      rem activity --limit 5
    """
    cli.run_verb(lambda me: me.activity(limit=limit, cursor=cursor), _print_activity)


@with_options(AS_OF_OPTIONS)
def stats(cli: CliContext, **moment: Any) -> None:
    """Count memories by kind and status.

    Also shows how many fade because nobody confirmed them, and how many expire soon.

    \b
    Examples:
      rem stats
      rem stats --as-of 2026-03-15
    """
    then = cli.parse_as_of(**moment)
    cli.run_verb(lambda me: me.stats(as_of=then), render.print_stats)


def _print_results(out: Terminal, found: list[Recalled], *, explain: bool) -> None:
    if not found:
        out.say("Nothing was found.")
    for one in out.separate(found):
        print_entry(out, one.memory)
        if explain:
            render.print_explanation(out, one)


def _print_list(out: Terminal, found: Page[Record]) -> None:
    if not found.items:
        out.say("There is nothing here.")
    for record in out.separate(found.items):
        print_entry(out, record)
    out.print_more_hint(found.cursor)


def _print_activity(out: Terminal, found: Page[Event]) -> None:
    if not found.items:
        out.say("Nothing has happened yet.")
    render.print_events(out, found.items)
    out.print_more_hint(found.cursor)


def _print_memory(out: Terminal, record: Record) -> None:
    print_entry(out, record)
    out.print_blank_line()
    render.print_memory(out, record)


def print_entry(out: Terminal, record: Record) -> None:
    """Print the content of a memory, the line about it, and why it is in doubt if it is."""
    from remembrancer.guard.quarantine import explain_quarantine
    from remembrancer.remember.doubt import describe_doubt

    out.say(record.content)
    out.note(describe_memory(out, record))
    if doubt := describe_doubt(record) or explain_quarantine(record):
        out.note(doubt, indent=2)


def describe_memory(out: Terminal, record: Record) -> str:
    """One line about a memory: its category, date, tags and id."""
    parts = [getattr(record, "category", None) or record.kind]
    if record.status != "active":
        parts.append(record.status)
    if record.scope != "global":
        parts.append(f"for {record.scope}")
    parts.append(out.format_date(record.recorded_at))
    parts += [f"#{tag}" for tag in record.tags]
    return " · ".join([*parts, record.id])
