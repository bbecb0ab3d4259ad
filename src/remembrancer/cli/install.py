"""The verb that puts memory into the settings of coding agents, and takes it out again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from remembrancer.cli.cli_context import CliContext
from remembrancer.cli.options import collect_root_options
from remembrancer.cli.terminal import Terminal
from remembrancer.errors import InvalidInput

if TYPE_CHECKING:
    from remembrancer.integrations.hooks.install import FileChange

NOTES = {
    "claude-code": "Start Claude Code anew; /hooks and /mcp in it show what it has.",
    "codex": "Codex runs hooks after you have looked at them: type /hooks in it.",
    "cursor": "Start Cursor anew, and allow the server under Settings, MCP.",
    "vscode": "VS Code asks whether you trust the server when it is used first.",
}


def install(
    context: typer.Context,
    client: Annotated[str, typer.Argument(metavar="CLIENT", hidden=True)],
    *,
    project: Annotated[
        bool, typer.Option("--project", help="For all who work in this directory, in its files.")
    ] = False,
    user: Annotated[
        bool, typer.Option("--user", help="For you, in every project; so it is by default.")
    ] = False,
    uninstall: Annotated[
        bool, typer.Option("--uninstall", help="Take out again what was put in.")
    ] = False,
) -> None:
    """Give a coding agent your memory.

    CLIENT is claude-code, codex, cursor or vscode. Its settings get our MCP server and hooks, which
    tell it what is remembered when a session starts and with each prompt, and keep what was said.
    Nothing else in the files changes. Doing it again changes nothing.

    Options of the root are for the memory that it gets: with --agent NAME, it has one of its own.

    \b
    Examples:
      rem install claude-code
      rem install codex --project
      rem install cursor --agent cursor
      rem install claude-code --uninstall
    """
    from remembrancer.integrations.hooks.install import plan_install, write_changes

    if project and user:
        raise InvalidInput("Say --project or --user, not both.")
    cli: CliContext = context.obj
    changes = plan_install(
        client, Path.cwd() if project else None, _collect_root_options(cli), remove=uninstall
    )
    write_changes(changes)
    answer = [{"file": str(one.file), "done": one.done} for one in changes]
    cli.print_result(answer, lambda out: _print_changes(out, client, changes, uninstall=uninstall))


def _collect_root_options(cli: CliContext) -> list[str]:
    """What was said about whose memory it is, to be said again by the client."""
    options = collect_root_options(cli)
    if (cli.store or "").startswith("postgresql"):
        raise InvalidInput("The address may hold a password: put it into a file for --config.")
    for name in ("--config", "--store"):
        if name in options:
            options[name] = str(Path(options[name]).expanduser().absolute())
    return [word for option in options.items() for word in option]


def _print_changes(
    out: Terminal, client: str, changes: list[FileChange], *, uninstall: bool
) -> None:
    for one in changes:
        if one.done != "unchanged":
            out.say(f"{one.done.capitalize()} {one.file}")
    if all(one.done == "unchanged" for one in changes):
        out.say("There was nothing to do.")
    elif not uninstall:
        out.note(NOTES[client])
