"""`rem jobs` and `rem reembed`: recurring jobs, and vectors after a change of model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from remembrancer.cli import render
from remembrancer.cli.cli_context import CliContext
from remembrancer.cli.progress import progress_bar
from remembrancer.cli.terminal import Terminal
from remembrancer.errors import InvalidInput

if TYPE_CHECKING:
    from remembrancer.maintenance.runner import JobResult


def jobs(
    cli: CliContext,
    action: Annotated[str, Argument(metavar="[run|tick]", hidden=True)] = "list",
    names: Annotated[list[str] | None, Argument(metavar="NAME", hidden=True)] = None,
) -> None:
    """List the recurring jobs, or run some now.

    Jobs expire faded memories, empty the trash, close idle conversations and make backups. A server
    runs them on schedule; without one, call `tick` from cron, which runs the jobs that are due. Two
    processes never run the same job at once.

    \b
    Examples:
      rem jobs
      rem jobs run decay_sweep trash_purge
      rem jobs tick
    """
    with cli.open_engine() as store:
        match action:
            case "list":
                scheduled = store.schedule()
                cli.print_result(scheduled, lambda out: render.print_schedule(out, scheduled))
                return
            case "run" if names:
                done = [store.run_job(name, tenant=cli.tenant) for name in names]
            case "tick" if not names:
                done = store.tick()
            case _:
                raise InvalidInput("Use `rem jobs`, `rem jobs run NAME` or `rem jobs tick`.")
    cli.print_result(done, lambda out: _print_outcomes(out, done))
    if any(one.failures for one in done):
        raise typer.Exit(1)


def reembed(
    cli: CliContext,
    drop_old: Annotated[
        bool, Option("--drop-old", help="Remove the vectors of other models afterwards.")
    ] = False,
) -> None:
    """Compute missing vectors, after a change of model.

    Recall works meanwhile: a memory without a vector is found by its words, and vectors of two
    models are never compared. You can interrupt it at any time and run it again to continue.

    \b
    Example:
      rem reembed --drop-old
    """
    with cli.open_engine() as store, progress_bar("Embedding") as progress:
        outcome = store.reembed(progress, drop_old=drop_old)

    def print_text(out: Terminal) -> None:
        done = f"{outcome.changed} memories got vectors" if outcome.changed else "Nothing to do"
        out.say(f"{done}: all have vectors of {store.embedding_model}.")

    cli.print_result(outcome, print_text)


def _print_outcomes(out: Terminal, done: list[JobResult]) -> None:
    if not done:
        out.say("Nothing was due.")
    for one in done:
        changed = f"{one.changed} changed" if one.changed else ""
        out.say(f"{one.job}: {', '.join(filter(None, (changed, one.note))) or 'nothing to do'}.")
        for failure in one.failures:
            out.note(failure, indent=2)
