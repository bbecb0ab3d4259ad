"""The verbs that look after the product itself: is everything in order, and what can it do."""

from __future__ import annotations

from typing import Annotated

import typer

from remembrancer.cli.cli_context import CliContext
from remembrancer.cli.terminal import Terminal
from remembrancer.errors import InvalidInput


def doctor(context: typer.Context) -> None:
    """Check that everything works, and say what to do if not.

    Configuration, data directory, database, embedding model, and one real memory that vanishes.
    The exit code is 1 if there is a problem; warnings are no problem.

    \b
    Examples:
      rem doctor
      rem doctor --store postgresql://user@host/database --json
    """
    from remembrancer.doctor import Level, run_checks

    desk: CliContext = context.obj
    findings = run_checks(
        lambda: desk.settings, file=desk.config, in_memory=desk.store == ":memory:"
    )
    healthy = all(one.level is not Level.PROBLEM for one in findings)

    def words(page: Terminal) -> None:
        from remembrancer.cli import render

        render.print_checks(page, ((one.level, one.name, one.message) for one in findings))
        page.print_blank_line()
        page.say("Everything works." if healthy else "Something needs your attention.")

    desk.print_result({"ok": healthy, "findings": findings}, words)
    if not healthy:
        raise typer.Exit(1)


def tour(
    context: typer.Context,
    fast: Annotated[bool, typer.Option("--fast", help="Without pauses.")] = False,
) -> None:
    """Take the tour.

    What remembering, correcting, forgetting and asking about the past look like. It runs real
    commands on a memory that vanishes; nothing is written to disk.

    \b
    Example:
      rem tour --fast
    """
    desk: CliContext = context.obj
    if desk.json:
        raise InvalidInput("The tour is for reading; leave --json out.")
    from remembrancer.cli.app import RootGroup
    from remembrancer.cli.tour import run_tour

    root = context.find_root().command
    assert isinstance(root, RootGroup)
    run_tour(root.run, paced=not fast)
