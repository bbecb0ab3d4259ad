"""The verb that puts memory into the settings of coding agents, and takes it out again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from remembrancer.cli.cli_context import Desk
from remembrancer.cli.console import Page
from remembrancer.cli.options import WITH_VALUE
from remembrancer.errors import InvalidInput

if TYPE_CHECKING:
    from remembrancer.integrations.hooks.install import Change

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
    from remembrancer.integrations.hooks.install import installed, write

    if project and user:
        raise InvalidInput("Say --project or --user, not both.")
    desk: Desk = context.obj
    changes = installed(client, Path.cwd() if project else None, _options(desk), remove=uninstall)
    write(changes)
    answer = [{"file": str(one.file), "done": one.done} for one in changes]
    desk.answer(answer, lambda page: _told(page, client, changes, uninstall=uninstall))


def _options(desk: Desk) -> list[str]:
    """What was said about whose memory it is, to be said again by the client."""
    said = {name: getattr(desk, name.removeprefix("--")) for name in WITH_VALUE}
    if (desk.store or "").startswith("postgresql"):
        raise InvalidInput("The address may hold a password: put it into a file for --config.")
    for name in ("--config", "--store"):
        if said[name] is not None:
            said[name] = str(Path(said[name]).expanduser().absolute())
    return [word for name, value in said.items() if value is not None for word in (name, value)]


def _told(page: Page, client: str, changes: list[Change], *, uninstall: bool) -> None:
    for one in changes:
        if one.done != "unchanged":
            page.say(f"{one.done.capitalize()} {one.file}")
    if all(one.done == "unchanged" for one in changes):
        page.say("There was nothing to do.")
    elif not uninstall:
        page.note(NOTES[client])
