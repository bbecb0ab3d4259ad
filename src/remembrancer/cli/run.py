"""The verb that runs a program with what is remembered, and remembers that it ran."""

from __future__ import annotations

import contextlib
import re
import shlex
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from remembrancer.cli.cli_context import Desk
from remembrancer.cli.options import WITH_VALUE
from remembrancer.errors import RemembrancerError

if TYPE_CHECKING:
    from remembrancer.client import RemoteMemory
    from remembrancer.integrations.hooks.subprocess_tee import Ran
    from remembrancer.memory import Memory

LONGEST_COMMAND = 300
LONGEST_OUTPUT = 1_000
_CONTROLS = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\].*?(?:\x07|\x1b\\)|\x1b.|[\x00-\x08\x0b-\x1f\x7f]", re.DOTALL
)
"""What a program tells its terminal, beside what it tells us."""


def run(
    context: typer.Context,
    command: Annotated[list[str], typer.Argument(metavar="-- COMMAND", hidden=True)],
    *,
    about: Annotated[
        str | None, typer.Option(metavar="TEXT", help="What it is to do; else what matters most.")
    ] = None,
    budget: Annotated[
        int | None,
        typer.Option(metavar="TOKENS", min=0, max=25_000, help="How long the context may be."),
    ] = None,
) -> None:
    """Run a program with what is remembered.

    The program finds it in the variable REM_CONTEXT, and in the file that REM_CONTEXT_FILE names;
    {context} and {context_file} in COMMAND stand for the same. Its exit code is ours; its signals
    and its terminal are its own. Afterwards an episode tells what was run, what came of it, and
    what it printed last.

    \b
    Examples:
      rem run -- ./agent.sh
      rem run --about "fix the build" -- claude -p "{context} Fix the build."
      rem run --agent builder -- my-agent --system-prompt-file {context_file}
    """
    from remembrancer import environment
    from remembrancer.integrations.hooks import subprocess_tee

    desk: Desk = context.obj
    known = _known(desk, about, budget)
    with tempfile.NamedTemporaryFile("w", suffix=".md", encoding="utf-8") as file:
        file.write(known)
        file.flush()
        words = [
            word.replace("{context_file}", file.name).replace("{context}", known)
            for word in command
        ]
        told = {"REM_CONTEXT": known, "REM_CONTEXT_FILE": file.name}
        ran = subprocess_tee.run(words, environment.with_variables(told))
    with _never_in_the_way("remember what was run"), _memory(desk) as me:
        me.remember(_episode(command, ran), kind="episode", origin="tool", tags=["run"])
    raise typer.Exit(ran.code)


def _known(desk: Desk, about: str | None, budget: int | None) -> str:
    with _never_in_the_way("recall anything"), _memory(desk, embeds=about is not None) as me:
        return me.context(about, budget=budget).text
    return ""


def _episode(command: list[str], ran: Ran) -> str:
    from remembrancer.recall.prompt_block import without_memory

    line = _CONTROLS.sub("", shlex.join(command))
    line = f"{line[:LONGEST_COMMAND]}…" if len(line) > LONGEST_COMMAND else line
    how = "it succeeded" if ran.code == 0 else f"it failed with exit code {ran.code}"
    told = f"Ran `{line}` in {Path.cwd().name or '/'}: {how} after {ran.seconds:.0f} seconds."
    printed, _ = without_memory(_CONTROLS.sub("", ran.printed))
    printed = printed.strip()[-LONGEST_OUTPUT:]
    return f"{told} It printed last: {printed}" if printed else told


@contextlib.contextmanager
def _memory(desk: Desk, *, embeds: bool = True) -> Iterator[Memory | RemoteMemory]:
    """The running server's memory, or that of the store."""
    from remembrancer.config import MEMORY
    from remembrancer.integrations.hooks.hook import settings
    from remembrancer.integrations.hooks.open_memory import reached

    if desk.shared is not None or desk.store == MEMORY:
        with desk.memory(embeds=embeds) as mine:
            yield mine
        return
    said = {name: getattr(desk, name.removeprefix("--")) for name in WITH_VALUE}
    options = {name: value for name, value in said.items() if value is not None}
    with reached(settings(options), agent=desk.agent, surface="cli", embeds=embeds) as me:
        yield me


@contextlib.contextmanager
def _never_in_the_way(what: str) -> Iterator[None]:
    """Say that something could not be done, and go on: the program is what counts."""
    try:
        yield
    except RemembrancerError as error:
        typer.echo(f"rem could not {what}: {error}", err=True)
