"""The verbs that look after the product itself: is everything in order, and what can it do."""

from __future__ import annotations

import typer

from remembrancer.cli.cli_context import CliContext
from remembrancer.cli.terminal import Terminal


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

    cli: CliContext = context.obj
    findings = run_checks(lambda: cli.settings, file=cli.config, in_memory=cli.store == ":memory:")
    healthy = all(one.level is not Level.PROBLEM for one in findings)

    def print_text(out: Terminal) -> None:
        from remembrancer.cli import render

        render.print_checks(out, ((one.level, one.name, one.message) for one in findings))
        out.print_blank_line()
        out.say("Everything works." if healthy else "Something needs your attention.")

    cli.print_result({"ok": healthy, "findings": findings}, print_text)
    if not healthy:
        raise typer.Exit(1)
