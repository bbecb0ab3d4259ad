"""The verbs that read memories: recall, get, list, history, activity and stats."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from remembrancer.cli.cli_context import CliContext
from remembrancer.cli.options import (
    FILTER_OPTIONS,
    PAGING_OPTIONS,
    RANKING_OPTIONS,
    Cursor,
    Limit,
    Reference,
    Words,
    read_words,
    with_options,
)
from remembrancer.cli.terminal import Terminal

if TYPE_CHECKING:
    from remembrancer.types import Page, Recalled, Record


@with_options(FILTER_OPTIONS, RANKING_OPTIONS)
def recall(
    context: typer.Context,
    words: Words,
    *,
    explain: Annotated[bool, typer.Option("--explain", help="Show why each was found.")] = False,
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
    cli: CliContext = context.obj
    query, filters = read_words(words), cli.parse_recall_options(options)
    with cli.open_memory(embeds=filters.get("mode") != "keyword") as me:
        found = me.recall(query, **filters)
    cli.print_result(
        {"items": found, "sure": found.sure, "late": found.late},
        lambda out: _print_results(out, found, explain=explain),
    )


def get(context: typer.Context, memory: Reference) -> None:
    """Show one memory with all its details.

    Shows where it came from, how long it is true, its status and its confidence.

    \b
    Example:
      rem get "lives in Hamburg"
    """
    cli: CliContext = context.obj
    with cli.open_memory() as me:
        record = me.get(read_words(memory))
    cli.print_result(record, lambda out: _print_memory(out, record))


@with_options(FILTER_OPTIONS, PAGING_OPTIONS)
def list_(context: typer.Context, **options: Any) -> None:
    """List memories, the newest first.

    Lists active memories; --status lists superseded, forgotten or deleted ones.

    \b
    Examples:
      rem list --category preference --limit 10
      rem list --status forgotten
    """
    cli: CliContext = context.obj
    filters: Any = cli.parse_recall_options(options)
    with cli.open_memory() as me:
        found = me.list(**filters)
    cli.print_result(found, lambda out: _print_list(out, found))


def history(context: typer.Context, memory: Reference) -> None:
    """Show the versions of a memory and its events.

    Shows all versions, what happened to them, and their links. Each event has an id for `rem undo`.

    \b
    Example:
      rem history "lives in Hamburg"
    """
    cli: CliContext = context.obj
    with cli.open_memory() as me:
        found = me.history(read_words(memory))

    def print_text(out: Terminal) -> None:
        from remembrancer.cli import render

        render.print_history(out, found)

    cli.print_result(found, print_text)


def activity(
    context: typer.Context,
    limit: Limit = 20,
    cursor: Cursor = None,
) -> None:
    """Show what happened to your memories, the latest first.

    Shows what you stored, what was learned and what expired. Each event has an id for `rem undo`.

    \b
    Example:
      rem activity --limit 5
    """
    cli: CliContext = context.obj
    with cli.open_memory() as me:
        found = me.activity(limit=limit, cursor=cursor)

    def print_text(out: Terminal) -> None:
        from remembrancer.cli import render

        if not found.items:
            out.say("Nothing has happened yet.")
        render.print_events(out, found.items)
        out.print_more_hint(found.cursor)

    cli.print_result(found, print_text)


def stats(context: typer.Context) -> None:
    """Count memories by kind and status.

    Also shows how many fade because nobody confirmed them, and how many expire soon.

    \b
    Example:
      rem stats
    """
    cli: CliContext = context.obj
    with cli.open_memory() as me:
        found = me.stats()

    def print_text(out: Terminal) -> None:
        from remembrancer.cli import render

        render.print_stats(out, found)

    cli.print_result(found, print_text)


def _print_results(out: Terminal, found: list[Recalled], *, explain: bool) -> None:
    if not found:
        out.say("Nothing was found.")
    for number, one in enumerate(found):
        _print_entry(out, one.memory, first=number == 0)
        if explain:
            from remembrancer.cli import render

            render.print_explanation(out, one)


def _print_list(out: Terminal, found: Page[Record]) -> None:
    if not found.items:
        out.say("There is nothing here.")
    for number, record in enumerate(found.items):
        _print_entry(out, record, first=number == 0)
    out.print_more_hint(found.cursor)


def _print_memory(out: Terminal, record: Record) -> None:
    from remembrancer.cli import render

    out.say(record.content)
    out.note(describe_memory(out, record))
    out.print_blank_line()
    render.print_memory(out, record)


def _print_entry(out: Terminal, record: Record, *, first: bool) -> None:
    if not first:
        out.print_blank_line()
    out.say(record.content)
    out.note(describe_memory(out, record))


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
