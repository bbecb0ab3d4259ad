"""The verb that turns episodes into lasting memories: plan, show, ask, carry out."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from remembrancer.cli.cli_context import Desk
from remembrancer.cli.console import Page
from remembrancer.cli.options import be_sure
from remembrancer.errors import Conflict, InvalidInput

if TYPE_CHECKING:
    from remembrancer.learn.consolidation.plan import Plan
    from remembrancer.memory import Memory
    from remembrancer.types import Batch

HOW_TO_CONFIGURE = """Name one in remembrancer.toml, or in the file after --config:
  [models.smart]
  url = "http://localhost:11434/v1"
  model = "the name of the model\""""


def consolidate(
    context: typer.Context,
    *,
    plan: Annotated[bool, typer.Option("--plan", help="Only show what would be done.")] = False,
    save: Annotated[
        str | None, typer.Option(metavar="FILE", help="Write the plans there; change nothing.")
    ] = None,
    apply: Annotated[
        str | None, typer.Option(metavar="FILE", help="Carry out plans that were saved.")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Turn what happened into what is true.

    A language model reads the episodes that wait, and plans which facts and rules follow from
    them; what they do not bear out is refused. Duplicates are merged without a model. The plans
    are shown before anything is done, and each is one change that undo takes back.

    \b
    Examples:
      rem consolidate --plan
      rem consolidate --save plans.json
      rem consolidate --apply plans.json
      rem consolidate --yes
    """
    if apply is not None and (plan or save is not None):
        raise InvalidInput(
            "--apply carries out saved plans: it goes with neither --plan nor --save."
        )
    desk: Desk = context.obj
    with desk.memory(embeds=True) as me:
        plans = _saved(apply) if apply is not None else me.plan_consolidation()
        waiting = 0 if _has_model(desk) else me.stats().backlog
        if plan or save is not None or not plans:
            kept = _save(save, plans) if save is not None else None
            answer = {"plans": [one.as_json() for one in plans], "waiting": waiting}
            desk.answer(answer, lambda page: _shown(page, plans, waiting, kept))
            return
        if apply is None:
            if not desk.json:
                desk.answer(None, lambda page: _shown(page, plans, waiting))
            be_sure(yes, "Do that?")
        done, failures = _carried_out(me, plans)
    desk.answer({"batches": done, "failures": failures}, lambda page: _done(page, done, failures))
    if failures:
        raise typer.Exit(1)


def _has_model(desk: Desk) -> bool:
    models = desk.settings.models
    return (models.smart or models.fast) is not None


def _saved(file: str) -> list[Plan]:
    from remembrancer.learn.consolidation.plan import from_json

    path = Path(file).expanduser()
    try:
        plans = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        raise InvalidInput(f"{path} cannot be read as JSON.") from None
    if not isinstance(plans, list):
        raise InvalidInput(f"{path} is not a list of plans, as --save writes it.")
    try:
        return [from_json(one) for one in plans]
    except InvalidInput as error:
        raise InvalidInput(f"{path}: {error}") from None


def _save(file: str, plans: Sequence[Plan]) -> Path:
    """Write the plans where only their owner can read them, as they tell what is remembered."""
    path = Path(file).expanduser()
    text = json.dumps([one.as_json() for one in plans], indent=2, ensure_ascii=False)
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with open(descriptor, "w", encoding="utf-8") as opened:
            opened.write(f"{text}\n")
    except OSError as error:
        raise InvalidInput(f"{path} cannot be written: {error.strerror}.") from None
    return path


def _carried_out(me: Memory, plans: Sequence[Plan]) -> tuple[list[Batch], list[str]]:
    """What was done, plan by plan, and why some of it was not."""
    done: list[Batch] = []
    failures: list[str] = []
    for one in plans:
        try:
            done += me.consolidate(one).batches
        except Conflict as error:
            failures.append(str(error))
    return done, failures


def _shown(page: Page, plans: Sequence[Plan], waiting: int, kept: Path | None = None) -> None:
    from remembrancer.cli import render

    if waiting:
        are = "1 episode waits" if waiting == 1 else f"{waiting} episodes wait"
        page.say(f"No language model is configured: {are} to be read.")
        page.note(HOW_TO_CONFIGURE)
    elif not plans:
        page.say("There is nothing to consolidate.")
    for one in plans:
        page.heading(_headed(one))
        if not one.steps:
            page.say("Nothing lasting follows from them.")
        render.diff(page, one.diff())
        for refusal in one.refused:
            page.note(f"Refused: {refusal}")
    if kept is not None:
        page.gap()
        page.say(f"Saved. Nothing was changed; to do it: rem consolidate --apply {kept}")


def _headed(plan: Plan) -> str:
    if not plan.episodes:
        return "What says the same is merged"
    count = len(plan.episodes)
    whose = f" of {plan.scope}" if plan.scope != "global" else ""
    return f"From {count} {'episode' if count == 1 else 'episodes'}{whose}"


def _done(page: Page, done: Sequence[Batch], failures: Sequence[str]) -> None:
    count = sum(len(one.ids) for one in done)
    if done:
        page.say(f"Done. {count} {'memory was' if count == 1 else 'memories were'} changed.")
    for one in done:
        if one.event is not None:
            page.note(f"Undo: rem undo {one.event.id}")
    for failure in failures:
        page.say(f"Not done: {failure}")
