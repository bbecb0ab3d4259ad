"""`rem me`: whose memory the commands use, and the settings of that user."""

from __future__ import annotations

from typing import Annotated

from typer import Option

from remembrancer.cli.cli_context import CliContext
from remembrancer.cli.terminal import Terminal


def me(
    cli: CliContext,
    time_zone: Annotated[
        str | None,
        Option(metavar="ZONE", help="Such as Europe/Berlin; “default” for that of the server."),
    ] = None,
) -> None:
    """Show whose memory this is, or set their time zone.

    Dates are shown in it on the web, in the chat, on the command line and in prompts.

    \b
    Examples:
      rem me
      rem me --time-zone Europe/Berlin
      rem --user ada me --time-zone default
    """
    with cli.open_memory() as memory:
        if time_zone is not None:
            memory.set_time_zone(None if time_zone == "default" else time_zone)
        owner, zone = memory.principal.owner, memory.time_zone()
        shown = {
            "tenant": owner.tenant,
            "user": owner.user,
            "agent": memory.principal.agent,
            "profile": memory.profile.name,
            "time_zone": zone,
        }

    def print_text(out: Terminal) -> None:
        out.say(f"{owner.user} · {zone}")
        out.note(f"tenant {owner.tenant}, profile {memory.profile.name}")

    cli.print_result(shown, print_text)
