"""The verbs about what happens by itself: the activity, the jobs, and embedding anew."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from remembrancer.cli.cli_context import Desk
from remembrancer.cli.console import Page
from remembrancer.cli.progress import bar
from remembrancer.errors import InvalidInput

if TYPE_CHECKING:
    from remembrancer.maintenance.runner import Outcome, Scheduled


def activity(
    context: typer.Context,
    limit: Annotated[int, typer.Option(metavar="NUMBER", help="How many at most.")] = 20,
    cursor: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Go on where the last page ended.")
    ] = None,
) -> None:
    """Show what happened to your memories, the latest first.

    What you said, what was learned, what expired by itself. Each line names its event, with which
    it can be taken back.

    \b
    Example:
      rem activity --limit 5
    """
    desk: Desk = context.obj
    with desk.memory() as me:
        found = me.activity(limit=limit, cursor=cursor)

    def words(page: Page) -> None:
        from remembrancer.cli import render

        if not found.items:
            page.say("Nothing has happened yet.")
        render.happenings(page, found.items)
        if found.cursor is not None:
            page.gap()
            page.note(f"There is more: the same command with --cursor {found.cursor}")

    desk.answer(found, words)


def jobs(
    context: typer.Context,
    action: Annotated[str, typer.Argument(metavar="[run|tick]", hidden=True)] = "list",
    names: Annotated[list[str] | None, typer.Argument(metavar="NAME", hidden=True)] = None,
) -> None:
    """List the recurring jobs, or run some now.

    They expire what has faded, clean up episodes and the trash, let conversations rest, and make
    backups. A server runs them by itself; `tick` is for a heartbeat of your own: it runs whatever
    is due. Two processes never do the same work twice.

    \b
    Examples:
      rem jobs
      rem jobs run decay_sweep trash_purge
      rem jobs tick
    """
    desk: Desk = context.obj
    with desk.opened() as store:
        match action:
            case "list":
                scheduled = store.schedule()
                desk.answer(scheduled, lambda page: _schedule(page, scheduled))
                return
            case "run" if names:
                done = [store.run_job(name, tenant=desk.tenant) for name in names]
            case "tick" if not names:
                done = store.tick()
            case _:
                raise InvalidInput("Say `rem jobs`, `rem jobs run NAME` or `rem jobs tick`.")
    desk.answer(done, lambda page: _outcomes(page, done))
    if any(one.failures for one in done):
        raise typer.Exit(1)


def reembed(
    context: typer.Context,
    drop_old: Annotated[
        bool, typer.Option("--drop-old", help="Remove the vectors of other models afterwards.")
    ] = False,
) -> None:
    """Compute missing vectors, after a change of model.

    Recall works meanwhile: what has no vector yet is found by its words, and vectors of two models
    are never compared. It can be interrupted at any time and goes on where it was.

    \b
    Example:
      rem reembed --drop-old
    """
    desk: Desk = context.obj
    with desk.opened() as store, bar("Embedding") as progress:
        outcome = store.reembed(progress, drop_old=drop_old)

    def words(page: Page) -> None:
        done = f"{outcome.changed} memories got vectors" if outcome.changed else "Nothing to do"
        page.say(f"{done}: all have vectors of {store.model}.")

    desk.answer(outcome, words)


def _schedule(page: Page, scheduled: list[Scheduled]) -> None:
    from remembrancer.cli import render

    render.schedule(page, scheduled)


def _outcomes(page: Page, done: list[Outcome]) -> None:
    if not done:
        page.say("Nothing was due.")
    for one in done:
        page.say(
            f"{one.job}: {one.changed} changed." if one.changed else f"{one.job}: nothing to do."
        )
        for failure in one.failures:
            page.note(failure, indent=2)
