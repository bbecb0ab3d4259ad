"""`rem tour`: runs real commands on an in-memory store, with a clock that skips weeks."""

from __future__ import annotations

import shlex
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Option
from typer.main import get_command

from remembrancer.cli.cli_context import CliContext
from remembrancer.cli.terminal import Terminal
from remembrancer.errors import InvalidInput

if TYPE_CHECKING:
    from remembrancer.engine import Remembrancer

PAUSE_SECONDS = 1.4
START = datetime(2026, 3, 2, 9, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class TourStep:
    """A title, the commands that show it, and the days that pass before them."""

    title: str
    commands: tuple[str, ...]
    days: int = 0


STEPS = (
    TourStep(
        "Tell it something.",
        (
            "rem remember 'Keep answers short, code first.' --category preference --tag style",
            "rem remember 'Ada lives in Hamburg.' --subject Ada --predicate lives_in",
            "rem remember 'The team meets on Tuesdays at ten.' --tag team",
        ),
    ),
    TourStep(
        "Ask in your own words: it looks for the sense, not only for the words.",
        ("rem recall 'how should I write my replies?' --limit 1",),
    ),
    TourStep(
        "Passwords, keys and tokens are left out before anything is stored.",
        ("rem remember 'The database password is kX9-vQ27-mmT4, and it runs on port 5433.'",),
    ),
    TourStep(
        "Five weeks later. Nearly the same words replace it; so do its subject and predicate.",
        (
            "rem remember 'Keep your answers short, with the code first.' --category preference",
            "rem remember 'Ada lives in Berlin.' --subject Ada --predicate lives_in",
        ),
        days=35,
    ),
    TourStep(
        "Old and new are kept, each with the time in which it was true …",
        ("rem history 'Ada lives in Berlin'",),
    ),
    TourStep(
        "… so you can ask what was known in March.",
        (
            "rem recall 'where does Ada live?' --limit 1",
            "rem recall 'where does Ada live?' --limit 1 --as-of 2026-03-15",
        ),
    ),
    TourStep(
        "Nothing is a black box: every result can say why it is there.",
        ("rem recall 'when is the meeting?' --limit 1 --explain",),
    ),
    TourStep(
        "Forgetting takes one sentence. So does changing your mind.",
        ("rem forget 'when the team meets'", "rem undo", "rem list --tag team"),
    ),
    TourStep(
        "Someone else, on the same store, sees nothing of it.",
        ("rem --user grace recall 'where does Ada live?'",),
    ),
)

NEXT_COMMANDS = (
    ("rem remember 'I prefer tea to coffee.'", "keep something of your own"),
    ("rem recall 'what do I like to drink?'", "and find it again"),
    ("rem doctor", "see that everything works, and where it is kept"),
    ("rem --help", "all the rest"),
)


def tour(
    cli: CliContext,
    fast: Annotated[bool, Option("--fast", help="Do not pause between steps.")] = False,
) -> None:
    """Watch a short tour of the commands.

    Shows how to remember, correct, forget and ask about the past. It runs real commands on a store
    in memory; nothing is written to disk.

    \b
    Example:
      rem tour --fast
    """
    if cli.json:
        raise InvalidInput("The tour prints text only. Leave --json out.")
    from remembrancer.cli.app import RootGroup, app

    root = get_command(app)
    assert isinstance(root, RootGroup)
    _run_tour(root.run, paced=not fast)


def _run_tour(run: Callable[..., int], *, paced: bool) -> None:
    """Show every step; `run` runs a command line."""
    out = Terminal()
    pause = PAUSE_SECONDS if paced and out.is_terminal else 0
    out.print_heading("Remembrancer")
    out.note("A tour on a memory that vanishes: nothing is written to disk.")
    for number, (step, store) in enumerate(_play_steps(), 1):
        time.sleep(pause)
        out.print_heading(f"{number}  {step.title}")
        for command in step.commands:
            _print_command(command)
            time.sleep(pause / 2)
            if code := run(shlex.split(command)[1:], obj=store):
                raise typer.Exit(code)
            time.sleep(pause)
    out.print_heading("That was it. What to type next:")
    out.print_blank_line()
    for command, why in NEXT_COMMANDS:
        typer.echo(f"  {typer.style(command, bold=True)}")
        out.note(why, indent=4)


def _play_steps() -> Iterator[tuple[TourStep, Remembrancer]]:
    """The steps with the store that they share, whose clock advances before each."""
    from remembrancer.clock import ManualClock
    from remembrancer.config import Settings
    from remembrancer.embed.local import LocalEmbedder
    from remembrancer.engine import Remembrancer
    from remembrancer.store.open import open_store

    settings, clock = Settings(user="me"), ManualClock(START)
    embedder = LocalEmbedder()
    embedder.warm()
    in_memory = open_store(settings, clock, in_memory=True)
    with Remembrancer(settings, in_memory, embedder, clock) as store:
        for step in STEPS:
            clock.advance(timedelta(days=step.days, minutes=5))
            yield step, store


def _print_command(command: str) -> None:
    typer.echo()
    typer.echo(f"{typer.style('$', dim=True)} {typer.style(command, bold=True)}")
    sys.stdout.flush()
