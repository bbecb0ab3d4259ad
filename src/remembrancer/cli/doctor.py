"""`rem doctor`: checks the installation and the store."""

from __future__ import annotations

import typer

from remembrancer.cli import render
from remembrancer.cli.cli_context import CliContext
from remembrancer.cli.terminal import Terminal


def doctor(cli: CliContext) -> None:
    """Check that everything works, and how to repair it.

    Checks the configuration, the data directory, the database and the embedding model, and stores a
    test memory that is removed again. The exit code is 1 if there is a problem; a warning is not
    a problem.

    \b
    Examples:
      rem doctor
      rem doctor --store postgresql://user@host/database --json
    """
    from remembrancer.doctor import Level, run_checks

    findings = run_checks(lambda: cli.settings, file=cli.config, in_memory=cli.store == ":memory:")
    healthy = all(one.level is not Level.PROBLEM for one in findings)

    def print_text(out: Terminal) -> None:
        render.print_checks(out, ((one.level, one.name, one.message) for one in findings))
        out.print_blank_line()
        out.say("Everything works." if healthy else "Something needs your attention.")

    cli.print_result({"ok": healthy, "findings": findings}, print_text)
    if not healthy:
        raise typer.Exit(1)
