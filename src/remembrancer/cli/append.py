"""`rem append`: adds the turns of a file to a conversation."""

from __future__ import annotations

from typing import Annotated

from typer import Argument, Option

from remembrancer.cli.cli_context import CliContext
from remembrancer.cli.files import read_conversation
from remembrancer.cli.terminal import format_count


def append(
    cli: CliContext,
    file: Annotated[str, Argument(metavar="FILE", hidden=True)],
    *,
    session: Annotated[
        str | None, Option(metavar="ID", help="The conversation; without it, a new one.")
    ] = None,
    title: Annotated[str | None, Option(metavar="TEXT", help="What it was about.")] = None,
) -> None:
    """Add turns to a conversation, to be recalled later.

    FILE is a conversation, or - for stdin. In plain text, lines begin with the speaker, as in
    "User: Hello." or "Ada: I moved to Hamburg."; a line without one continues the turn. In JSON, or
    in JSON Lines, a message has role (user, assistant, system, tool) and content, and if known name
    and said_at. `rem learn` and `rem import` read the same files.

    \b
    Examples:
      rem append chat.jsonl --session monday
      rem append chat.txt --title "Our holiday"
      rem append - < chat.txt
    """
    turns = read_conversation(file, cli.zone)
    with cli.open_memory(embeds=True) as me:
        stored = me.append(turns, session, title=title)
    where = stored[0].session_id if stored else session
    count = format_count(len(stored), "turn")
    cli.print_result(
        {"session": where, "turns": stored},
        lambda out: out.say(f"Kept {count} of the conversation {where}."),
    )
