"""`rem chat`: answers each line, and streams the answer."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, assert_never

import typer
from typer import Option

from remembrancer.cli import restore_default_gc
from remembrancer.cli.cli_context import CliContext
from remembrancer.cli.terminal import escape_controls
from remembrancer.errors import RemembrancerError

if TYPE_CHECKING:
    from remembrancer.assistant.chat import Chat
    from remembrancer.assistant.events import ChatEvent

WELCOME = "Ctrl-C stops an answer, Ctrl-D leaves. Say “undo” to take back a change of memory."


def chat(
    cli: CliContext,
    *,
    session: Annotated[
        str | None, Option(metavar="NAME", help="Continue this conversation.")
    ] = None,
) -> None:
    """Talk with an assistant that remembers.

    It recalls, answers and learns. "Remember that …", "what do you remember about me?", "forget …",
    "undo" and "why did you say that?" work without a model; to talk about anything, configure
    models.chat. In a pipe it answers each line; with --json, as one JSON document per line.

    \b
    Examples:
      rem chat
      rem chat --session holidays
      rem --store :memory: chat < questions.txt
    """
    restore_default_gc()
    with cli.open_engine(embeds=True) as engine:
        from remembrancer.assistant.chat import Chat

        me = cli.memory_of(engine)
        talk = Chat(me, engine.models, session)
        try:
            _run_chat(talk, cli)
        finally:
            talk.close()


def _run_chat(talk: Chat, cli: CliContext) -> None:
    shown: set[str] = set()
    for line in _read_lines():
        try:
            if cli.json:
                _print_json_answer(talk, line)
            else:
                _print_answer(talk, line, shown)
        except RemembrancerError as error:
            _print_dim(str(error))


def _read_lines() -> Iterator[str]:
    """The lines that the user types or pipes, until the end of input."""
    if not sys.stdin.isatty():
        yield from (line for line in sys.stdin if line.strip())
        return
    with contextlib.suppress(ImportError):  # The arrow keys bring back earlier lines.
        import readline  # noqa: F401
    _print_dim(WELCOME)
    while True:
        try:
            yield input("> ")
        except KeyboardInterrupt:
            typer.echo()
        except EOFError:
            typer.echo()
            return


def _print_answer(talk: Chat, line: str, shown: set[str]) -> None:
    """Stream an answer; Ctrl-C stops the answer, not the conversation."""
    notices: list[str] = []
    with contextlib.closing(talk.say(line)) as parts:
        try:
            for part in parts:
                notices += _print_part(part)
        except KeyboardInterrupt:
            notices.append("Stopped.")
    typer.echo()
    for one in notices:
        if one not in shown:
            _print_dim(one)
    shown.update(notices)


def _print_part(part: ChatEvent) -> list[str]:
    """Print text at once; return notices, to be printed after the answer."""
    from remembrancer.assistant.events import MemoriesUsed, MemoryChanged, Notice, TextChunk

    match part:
        case TextChunk():
            typer.echo(escape_controls(part.text), nl=False)
            sys.stdout.flush()
        case Notice():
            return [part.text]
        case MemoryChanged():
            return [f"{part.text} · rem undo {part.event}"]
        case MemoriesUsed():
            pass
        case _:
            assert_never(part)
    return []


def _print_json_answer(talk: Chat, line: str) -> None:
    from remembrancer.assistant.events import MemoriesUsed, MemoryChanged, Notice, TextChunk
    from remembrancer.cli.json_output import print_json

    parts = list(talk.say(line))
    document = {
        "session": talk.session,
        "answer": "".join(one.text for one in parts if isinstance(one, TextChunk)),
        "changes": [one for one in parts if isinstance(one, MemoryChanged)],
        "notices": [one.text for one in parts if isinstance(one, Notice)],
        "memories": [id for one in parts if isinstance(one, MemoriesUsed) for id in one.memories],
    }
    print_json(document, indent=None)
    sys.stdout.flush()


def _print_dim(text: str) -> None:
    typer.echo(typer.style(escape_controls(text), dim=True), err=True)
