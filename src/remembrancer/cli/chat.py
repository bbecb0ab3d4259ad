"""The verb that talks: one line in, one answer out, as it comes."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, assert_never

import typer

from remembrancer.cli import live_long
from remembrancer.cli.cli_context import Desk
from remembrancer.cli.console import safe
from remembrancer.errors import RemembrancerError

if TYPE_CHECKING:
    from remembrancer.assistant.chat import Chat
    from remembrancer.assistant.events import Part

WELCOME = "Ctrl-C stops an answer, Ctrl-D leaves. Say “undo” to take back a change of memory."


def chat(
    context: typer.Context,
    *,
    session: Annotated[
        str | None, typer.Option(metavar="NAME", help="Go on with this conversation.")
    ] = None,
) -> None:
    """Talk with an assistant that remembers.

    It recalls, answers and learns. "Remember that …", "what do you remember about me?", "forget …",
    "undo" and "why did you say that?" are understood without a model; with one, set up as
    models.chat in the configuration, it talks. In a pipe each line is answered, with --json as one
    JSON document a line.

    \b
    Examples:
      rem chat
      rem chat --session holidays
      rem --store :memory: chat < questions.txt
    """
    live_long()
    desk: Desk = context.obj
    with desk.opened(embeds=True) as engine:
        from remembrancer.assistant.chat import Chat

        me = engine.for_user(desk.user, tenant=desk.tenant, agent=desk.agent, surface="cli")
        talk = Chat(me, engine.models, session, time_zone=engine.settings.time_zone)
        try:
            _talk(talk, desk)
        finally:
            talk.close()


def _talk(talk: Chat, desk: Desk) -> None:
    shown: set[str] = set()
    for line in _lines():
        try:
            if desk.json:
                _document(talk, line)
            else:
                _answer(talk, line, shown)
        except RemembrancerError as error:
            _quietly(str(error))


def _lines() -> Iterator[str]:
    """What the person says, until they leave."""
    if not sys.stdin.isatty():
        yield from (line for line in sys.stdin if line.strip())
        return
    with contextlib.suppress(ImportError):  # The arrow keys bring back earlier lines.
        import readline  # noqa: F401
    _quietly(WELCOME)
    while True:
        try:
            yield input("> ")
        except KeyboardInterrupt:
            typer.echo()
        except EOFError:
            typer.echo()
            return


def _answer(talk: Chat, line: str, shown: set[str]) -> None:
    """Show an answer while it comes; Ctrl-C ends it and not the conversation."""
    quiet: list[str] = []
    with contextlib.closing(talk.say(line)) as parts:
        try:
            for part in parts:
                quiet += _shown(part)
        except KeyboardInterrupt:
            quiet.append("Stopped.")
    typer.echo()
    for one in quiet:
        if one not in shown:
            _quietly(one)
    shown.update(quiet)


def _shown(part: Part) -> list[str]:
    """Show what is said; what is to be said quietly comes back for later."""
    from remembrancer.assistant.events import Notice, Status, Text, Used

    match part:
        case Text():
            typer.echo(safe(part.text), nl=False)
            sys.stdout.flush()
        case Notice():
            return [part.text]
        case Status():
            return [f"{part.text} · rem undo {part.event}"]
        case Used():
            pass
        case _:
            assert_never(part)
    return []


def _document(talk: Chat, line: str) -> None:
    from remembrancer.assistant.events import Notice, Status, Text, Used
    from remembrancer.cli.json_output import print_json

    parts = list(talk.say(line))
    document = {
        "session": talk.session,
        "answer": "".join(one.text for one in parts if isinstance(one, Text)),
        "changes": [one for one in parts if isinstance(one, Status)],
        "notices": [one.text for one in parts if isinstance(one, Notice)],
        "memories": [id for one in parts if isinstance(one, Used) for id in one.memories],
    }
    print_json(document, indent=None)
    sys.stdout.flush()


def _quietly(text: str) -> None:
    typer.echo(typer.style(safe(text), dim=True), err=True)
