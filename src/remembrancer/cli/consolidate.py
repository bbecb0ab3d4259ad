"""`rem consolidate`: plans facts and rules from episodes, shows the plans and applies them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Option

from remembrancer.cli import render
from remembrancer.cli.cli_context import CliContext
from remembrancer.cli.files import read_text
from remembrancer.cli.options import Yes, confirm_or_abort
from remembrancer.cli.terminal import Terminal, format_count
from remembrancer.environment import open_private
from remembrancer.errors import Conflict, InvalidInput

if TYPE_CHECKING:
    from remembrancer.learn.consolidation.plan import ConsolidationPlan
    from remembrancer.memory import Memory
    from remembrancer.types import Batch

HOW_TO_CONFIGURE = """Name one in remembrancer.toml, or in the file after --config:
  [models.smart]
  url = "http://localhost:11434/v1"
  model = "the name of the model\""""


def consolidate(
    cli: CliContext,
    *,
    plan: Annotated[bool, Option("--plan", help="Only show the plans.")] = False,
    save: Annotated[
        str | None, Option(metavar="FILE", help="Write the plans to a file; change nothing.")
    ] = None,
    apply: Annotated[str | None, Option(metavar="FILE", help="Apply saved plans.")] = None,
    yes: Yes = False,
) -> None:
    """Turn episodes into facts and rules.

    A language model reads the waiting episodes and plans which facts and rules follow from them.
    Anything that the episodes do not support is refused. Duplicates are merged without a model. You
    see the plans before they are applied, and `rem undo` takes each of them back.

    \b
    Examples:
      rem consolidate --plan
      rem consolidate --save plans.json
      rem consolidate --apply plans.json
      rem consolidate --yes
    """
    if apply is not None and (plan or save is not None):
        raise InvalidInput("--apply uses saved plans. Leave --plan and --save out.")
    with cli.open_memory(embeds=True) as me:
        plans = _load_plans(apply) if apply is not None else me.plan_consolidation()
        waiting = 0 if cli.has_language_model else me.stats().backlog
        if plan or save is not None or not plans:
            kept = _save_plans(save, plans) if save is not None else None
            answer = {"plans": [one.to_json() for one in plans], "waiting": waiting}
            cli.print_result(answer, lambda out: _print_plans(out, plans, waiting, kept))
            return
        if apply is None:
            if not cli.json:
                cli.print_result(None, lambda out: _print_plans(out, plans, waiting))
            confirm_or_abort(yes, "Do that?")
        done, failures = _apply_plans(me, plans)
    cli.print_result(
        {"batches": done, "failures": failures}, lambda out: _print_outcome(out, done, failures)
    )
    if failures:
        raise typer.Exit(1)


def _load_plans(file: str) -> list[ConsolidationPlan]:
    from remembrancer.learn.consolidation.plan import from_json

    path = Path(file).expanduser()
    text = read_text(path)
    try:
        plans = json.loads(text)
    except (ValueError, RecursionError):
        raise InvalidInput(f"{path} is not valid JSON.") from None
    if not isinstance(plans, list):
        raise InvalidInput(f"{path} is not a list of plans, as --save writes it.")
    try:
        return [from_json(one) for one in plans]
    except InvalidInput as error:
        raise InvalidInput(f"{path}: {error}") from None


def _save_plans(file: str, plans: Sequence[ConsolidationPlan]) -> Path:
    """Write the plans to a file that only its owner can read: they quote memories."""
    path = Path(file).expanduser()
    text = json.dumps([one.to_json() for one in plans], indent=2, ensure_ascii=False)
    try:
        with open(path, "w", encoding="utf-8", opener=open_private) as opened:
            opened.write(f"{text}\n")
    except OSError as error:
        raise InvalidInput(f"{path} cannot be written: {error.strerror}.") from None
    return path


def _apply_plans(me: Memory, plans: Sequence[ConsolidationPlan]) -> tuple[list[Batch], list[str]]:
    """Apply the plans; returns the batches, and the reasons for plans that no longer fit."""
    done: list[Batch] = []
    failures: list[str] = []
    for one in plans:
        try:
            done += me.consolidate(one).batches
        except Conflict as error:
            failures.append(str(error))
    return done, failures


def _print_plans(
    out: Terminal, plans: Sequence[ConsolidationPlan], waiting: int, saved_to: Path | None = None
) -> None:
    if waiting:
        are = format_count(waiting, "episode waits", "episodes wait")
        out.say(f"No language model is configured: {are} to be read.")
        out.note(HOW_TO_CONFIGURE)
    elif not plans:
        out.say("There is nothing to consolidate.")
    for one in plans:
        out.print_heading(_format_heading(one))
        if not one.steps:
            out.say("Nothing lasting follows from them.")
        render.print_diff(out, one.diff())
        for refusal in one.refused:
            out.note(f"Refused: {refusal}")
    if saved_to is not None:
        out.print_blank_line()
        out.say(f"Saved. Nothing was changed; to do it: rem consolidate --apply {saved_to}")


def _format_heading(plan: ConsolidationPlan) -> str:
    if not plan.episodes:
        return "What says the same is merged"
    scope = f" of {plan.scope}" if plan.scope != "global" else ""
    return f"From {format_count(len(plan.episodes), 'episode')}{scope}"


def _print_outcome(out: Terminal, done: Sequence[Batch], failures: Sequence[str]) -> None:
    count = sum(len(one.ids) for one in done)
    if done:
        out.say(f"Done. {format_count(count, 'memory was', 'memories were')} changed.")
    for one in done:
        out.print_undo_hint(one.event)
    for failure in failures:
        out.say(f"Not done: {failure}")
