"""`rem install`: adds memory to the settings of a coding agent, or removes it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from remembrancer.cli.cli_context import CliContext
from remembrancer.cli.options import collect_root_options
from remembrancer.cli.terminal import Terminal
from remembrancer.errors import InvalidInput

if TYPE_CHECKING:
    from remembrancer.integrations.hooks.install import FileChange

NOTES = {
    "claude-code": "Restart Claude Code; its /hooks and /mcp list what was installed.",
    "codex": "Codex runs hooks only after you review them: type /hooks in it.",
    "cursor": "Restart Cursor, and allow the server under Settings, MCP.",
    "vscode": "VS Code asks whether you trust the server on its first use.",
}


def install(
    cli: CliContext,
    client: Annotated[str, Argument(metavar="CLIENT", hidden=True)],
    *,
    project: Annotated[
        bool, Option("--project", help="For everyone in this project, in its files.")
    ] = False,
    user: Annotated[bool, Option("--user", help="For you, in every project (default).")] = False,
    uninstall: Annotated[bool, Option("--uninstall", help="Remove what was installed.")] = False,
) -> None:
    """Give a coding agent your memory.

    CLIENT is claude-code, codex, cursor or vscode. Its settings get an MCP server and hooks, which
    add memories when a session starts and to each prompt, and store the conversation. Nothing else
    in the files changes. Installing twice changes nothing.

    Root options choose the memory: with --agent NAME, the client has one of its own.

    \b
    Examples:
      rem install claude-code
      rem install codex --project
      rem install cursor --agent cursor
      rem install claude-code --uninstall
    """
    from remembrancer.integrations.hooks.install import plan_install, write_changes

    if project and user:
        raise InvalidInput("Give --project or --user, not both.")
    changes = plan_install(
        client, Path.cwd() if project else None, _collect_root_options(cli), remove=uninstall
    )
    write_changes(changes)
    answer = [{"file": str(one.file), "done": one.done} for one in changes]
    cli.print_result(answer, lambda out: _print_changes(out, client, changes, uninstall=uninstall))


def _collect_root_options(cli: CliContext) -> list[str]:
    """The root options, for the command line that the client will run."""
    options = collect_root_options(cli)
    if (cli.store or "").startswith("postgresql"):
        raise InvalidInput("The URL can contain a password. Put it in a file for --config.")
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
