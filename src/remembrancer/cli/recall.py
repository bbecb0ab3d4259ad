"""The verbs that only look: parse, call the library's verb, print what it found."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from remembrancer.cli.cli_context import Desk
from remembrancer.cli.console import Page
from remembrancer.cli.options import FILTERS, PAGED, RANKED, Reference, Words, said, taking

if TYPE_CHECKING:
    from remembrancer.types import Page as Listing
    from remembrancer.types import Recalled, Record


@taking(FILTERS, RANKED)
def recall(
    context: typer.Context,
    words: Words,
    *,
    explain: Annotated[bool, typer.Option("--explain", help="Say why each was found.")] = False,
    **options: Any,
) -> None:
    """Bring back what matters for a question, best first.

    It looks by meaning and by words, and among what you may see at the moment you ask about.
    A date means its first moment, in your time zone.

    \b
    Examples:
      rem recall "how should I answer?"
      rem recall "where does Ada live?" --as-of 2026-03-15 --explain
    """
    desk: Desk = context.obj
    query, wanted = said(words), desk.wanted(options)
    with desk.memory(embeds=wanted.get("mode") != "keyword") as me:
        found = me.recall(query, **wanted)
    desk.answer({"results": found}, lambda page: _recalled(page, found, explain=explain))


def get(context: typer.Context, memory: Reference) -> None:
    """Show one memory with all that is known about it.

    Where it came from, how long it is true, and what became of it.

    \b
    Example:
      rem get "lives in Hamburg"
    """
    desk: Desk = context.obj
    with desk.memory() as me:
        record = me.get(said(memory))
    desk.answer(record, lambda page: _one(page, record))


@taking(FILTERS, PAGED)
def list_(context: typer.Context, **options: Any) -> None:
    """List memories, the newest first.

    By default those in force; --status shows what was replaced, forgotten or deleted.

    \b
    Examples:
      rem list --category preference --limit 10
      rem list --status forgotten
    """
    desk: Desk = context.obj
    wanted: Any = desk.wanted(options)
    with desk.memory() as me:
        found = me.list(**wanted)
    desk.answer(found, lambda page: _listing(page, found))


def history(context: typer.Context, memory: Reference) -> None:
    """Show the life of a memory.

    Its versions, what happened to them and what they are linked to. Each line names its event,
    which undo takes.

    \b
    Example:
      rem history "lives in Hamburg"
    """
    desk: Desk = context.obj
    with desk.memory() as me:
        found = me.history(said(memory))

    def words(page: Page) -> None:
        from remembrancer.cli import render

        render.life(page, found)

    desk.answer(found, words)


def stats(context: typer.Context) -> None:
    """Count what is remembered, and say how it is doing.

    Memories by kind and status, what is fading for lack of confirmation, and what expires soon.

    \b
    Example:
      rem stats
    """
    desk: Desk = context.obj
    with desk.memory() as me:
        found = me.stats()

    def words(page: Page) -> None:
        from remembrancer.cli import render

        render.counts(page, found)

    desk.answer(found, words)


def _recalled(page: Page, found: list[Recalled], *, explain: bool) -> None:
    if not found:
        page.say("Nothing was found.")
    for number, one in enumerate(found):
        _entry(page, one.memory, first=number == 0)
        if explain:
            from remembrancer.cli import render

            render.reasons(page, one)


def _listing(page: Page, found: Listing[Record]) -> None:
    if not found.items:
        page.say("There is nothing here.")
    for number, record in enumerate(found.items):
        _entry(page, record, first=number == 0)
    if found.cursor is not None:
        page.gap()
        page.note(f"There is more: the same command with --cursor {found.cursor}")


def _one(page: Page, record: Record) -> None:
    from remembrancer.cli import render

    page.say(record.content)
    page.note(about(page, record))
    page.gap()
    render.particulars(page, record)


def _entry(page: Page, record: Record, *, first: bool) -> None:
    if not first:
        page.gap()
    page.say(record.content)
    page.note(about(page, record))


def about(page: Page, record: Record) -> str:
    """One line about a memory: what it is, since when, and its id."""
    parts = [getattr(record, "category", None) or record.kind]
    if record.status != "active":
        parts.append(record.status)
    if record.scope != "global":
        parts.append(f"for {record.scope}")
    parts.append(page.date(record.recorded_at))
    parts += [f"#{tag}" for tag in record.tags]
    return " · ".join([*parts, record.id])
