"""`rem run`: runs a program with memory as context, and stores an episode about the run."""

from __future__ import annotations

import contextlib
import re
import shlex
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from remembrancer.cli.cli_context import CliContext
from remembrancer.cli.options import collect_root_options
from remembrancer.errors import RemembrancerError

if TYPE_CHECKING:
    from remembrancer.client import RemoteMemory
    from remembrancer.integrations.hooks.session_episode import ModelEpisode
    from remembrancer.integrations.hooks.subprocess_tee import ProcessResult
    from remembrancer.memory import Memory
    from remembrancer.remember.statement import FactFields

MAX_COMMAND_CHARS = 300
MAX_TASK_CHARS = 300
MAX_OUTPUT_CHARS = 1_000
_CONTROL_PATTERN = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\].*?(?:\x07|\x1b\\)|\x1b.|[\x00-\x08\x0b-\x1f\x7f]", re.DOTALL
)
"""Terminal control sequences, removed from the output that is stored."""


def run(
    cli: CliContext,
    command: Annotated[list[str], Argument(metavar="-- COMMAND", hidden=True)],
    *,
    about: Annotated[
        str | None, Option(metavar="TEXT", help="The task; default: what matters most.")
    ] = None,
    budget: Annotated[
        int | None, Option(metavar="TOKENS", min=0, max=25_000, help="The maximum context length.")
    ] = None,
) -> None:
    """Run a program with memory as its context.

    The context is in the variable REM_CONTEXT and in the file REM_CONTEXT_FILE; in COMMAND,
    {context} and {context_file} are replaced by them. The program gets the terminal and its
    signals, and its exit code is returned. Afterwards an episode records what you ran and how it
    ended; the end of its output is an episode of its own, as nobody vouches for it. If a model is
    configured, it summarises and rates the output.

    \b
    Examples:
      rem run -- ./agent.sh
      rem run --about "fix the build" -- claude -p "{context} Fix the build."
      rem run --agent builder -- my-agent --system-prompt-file {context_file}
    """
    from remembrancer import environment
    from remembrancer.integrations.hooks import subprocess_tee

    text = _load_context(cli, about, budget)
    with tempfile.NamedTemporaryFile("w", suffix=".md", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        words = [
            word.replace("{context_file}", file.name).replace("{context}", text) for word in command
        ]
        variables = {"REM_CONTEXT": text, "REM_CONTEXT_FILE": file.name}
        ran = subprocess_tee.run(words, environment.extend_environment(variables))
    with _warn_on_error("remember what was run"), _open_memory(cli) as me:
        _remember_run(cli, me, command, about, ran)
    raise typer.Exit(ran.exit_code)


def _load_context(cli: CliContext, about: str | None, budget: int | None) -> str:
    with _warn_on_error("recall anything"), _open_memory(cli, embeds=about is not None) as me:
        return me.context(about, budget=budget).text
    return ""


def _remember_run(
    cli: CliContext,
    me: Memory | RemoteMemory,
    command: list[str],
    about: str | None,
    ran: ProcessResult,
) -> None:
    """Remember the user's words, and apart from them what the program printed, as one session."""
    from remembrancer.clock import SystemClock
    from remembrancer.ids import new_id
    from remembrancer.learn.profile_mapping import map_importance
    from remembrancer.remember.provenance import RUN_TAG

    line = _CONTROL_PATTERN.sub("", shlex.join(command))
    line = f"{line[:MAX_COMMAND_CHARS]}…" if len(line) > MAX_COMMAND_CHARS else line
    how = "it succeeded" if ran.exit_code == 0 else f"it failed with exit code {ran.exit_code}"
    task = f" for “{' '.join(about.split())[:MAX_TASK_CHARS]}”" if about else ""
    place = Path.cwd().name or "/"
    text = f"Ran `{line}` in {place}{task}: {how} after {ran.seconds:.0f} seconds."
    session = new_id("run", SystemClock().now())
    me.remember(text, kind="episode", origin="user", tags=[RUN_TAG], session_id=session)
    if printed := _clean_output(ran.output):
        head, last = f"`{line}` in {place}", f"printed last: {printed[-MAX_OUTPUT_CHARS:]}"
        told = _describe_output(cli, head, printed)
        output = f"{head}: {told.summary} It {last}" if told and told.summary else f"{head} {last}"
        details: FactFields = {
            "kind": "episode",
            "origin": "tool",
            "tags": [RUN_TAG],
            "session_id": session,
        }
        profile = cli.settings.profile_for(cli.agent)
        if told and (importance := map_importance(profile, told.importance)):
            details["importance"] = importance
        me.remember(output, **details)


def _describe_output(cli: CliContext, head: str, printed: str) -> ModelEpisode | None:
    """What the model makes of all the output; None if there is no model."""
    from remembrancer.integrations.hooks.open_memory import open_fast_model
    from remembrancer.integrations.hooks.session_episode import describe_output

    with open_fast_model(cli.settings) as model:
        return describe_output(head, printed, model) if model is not None else None


def _clean_output(output: str) -> str:
    from remembrancer.recall.prompt_block import strip_memory_block

    printed, _ = strip_memory_block(_CONTROL_PATTERN.sub("", output))
    return printed.strip()


@contextlib.contextmanager
def _open_memory(cli: CliContext, *, embeds: bool = True) -> Iterator[Memory | RemoteMemory]:
    """Open the memory of the running server, or the store if there is none."""
    from remembrancer.config import IN_MEMORY
    from remembrancer.integrations.hooks.hook import load_settings
    from remembrancer.integrations.hooks.open_memory import open_memory

    if cli.shared is not None or cli.store == IN_MEMORY:
        with cli.open_memory(embeds=embeds) as mine:
            yield mine
        return
    settings = load_settings(collect_root_options(cli))
    with open_memory(settings, agent=cli.agent, surface="cli", embeds=embeds) as me:
        yield me


@contextlib.contextmanager
def _warn_on_error(what: str) -> Iterator[None]:
    """Print an error as a warning: memory must not keep the program from running."""
    try:
        yield
    except RemembrancerError as error:
        typer.echo(f"rem could not {what}: {error}", err=True)
