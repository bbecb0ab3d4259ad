"""The verbs about rules: how they worked, and how far they are trusted."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

import typer

from remembrancer.cli.cli_context import Desk
from remembrancer.cli.console import Page, quoted
from remembrancer.cli.options import said

if TYPE_CHECKING:
    from remembrancer.memory import Memory
    from remembrancer.types import Written

Named = Annotated[list[str], typer.Argument(metavar="RULE", hidden=True)]


def helpful(context: typer.Context, rule: Named) -> None:
    """Say that following a rule helped.

    It is counted, and with enough successes the rule is trusted more.

    \b
    Example:
      rem helpful "confirm before sending"
    """
    _report(context.obj, lambda me: me.helpful(said(rule)), "Noted.")


def harmful(
    context: typer.Context,
    rule: Named,
    reason: Annotated[
        str | None, typer.Option(metavar="TEXT", help="What went wrong; a warning says why.")
    ] = None,
) -> None:
    """Say that following a rule did harm.

    One harm weighs as much as four successes. A rule that does much harm is turned into a warning
    that says so, with the reasons; the rule itself stays in its history.

    \b
    Example:
      rem harmful "always reply at once" --reason "woke the children"
    """
    _report(context.obj, lambda me: me.harmful(said(rule), reason), "Noted.")


def promote(context: typer.Context, rule: Named) -> None:
    """Trust a rule one step more: candidate, established, proven.

    \b
    Example:
      rem promote "confirm before sending"
    """
    _report(context.obj, lambda me: me.promote(said(rule)), "Promoted.")


def demote(context: typer.Context, rule: Named) -> None:
    """Trust a rule one step less: proven, established, candidate.

    \b
    Example:
      rem demote "confirm before sending"
    """
    _report(context.obj, lambda me: me.demote(said(rule)), "Demoted.")


def disable(context: typer.Context, rule: Named) -> None:
    """Keep a rule without following it.

    It is not recalled until it is restored.

    \b
    Example:
      rem disable "confirm before sending"
    """
    _report(context.obj, lambda me: me.disable(said(rule)), "Disabled.")


def _report(desk: Desk, verb: Callable[[Memory], Written], word: str) -> None:
    with desk.memory() as me:
        written = verb(me)
    desk.answer(written, lambda page: _told(page, written, word))


def _told(page: Page, written: Written, word: str) -> None:
    from remembrancer.types import Rule

    rule = written.memory
    assert isinstance(rule, Rule)
    page.say(f"{word} {quoted(rule.content)}")
    if written.replaced is not None:
        page.say("It has done so much harm that it is a warning now.")
    uses = f"{rule.success_count} helpful, {rule.harmful_count} harmful"
    page.note(f"{rule.maturity} · {uses} · {rule.id}")
    if written.event is not None:
        page.note(f"Undo: rem undo {written.event.id}")
