"""The verbs for rules: feedback on their use, and how far they are trusted."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from remembrancer.cli.cli_context import CliContext
from remembrancer.cli.options import read_words
from remembrancer.cli.terminal import Terminal, quote

if TYPE_CHECKING:
    from remembrancer.memory import Memory
    from remembrancer.types import Written

RuleReference = Annotated[list[str], Argument(metavar="RULE", hidden=True)]


def helpful(cli: CliContext, rule: RuleReference) -> None:
    """Report that following a rule helped.

    The success is counted; with enough of them the rule is trusted more.

    \b
    Example:
      rem helpful "confirm before sending"
    """
    _change_rule(cli, lambda me: me.helpful(read_words(rule)), "Noted.")


def harmful(
    cli: CliContext,
    rule: RuleReference,
    reason: Annotated[
        str | None, Option(metavar="TEXT", help="What went wrong; the warning quotes it.")
    ] = None,
) -> None:
    """Report that following a rule did harm.

    One harm weighs as much as four successes. A rule that does much harm becomes a warning with the
    reasons; the rule itself stays in the history.

    \b
    Example:
      rem harmful "always reply at once" --reason "woke the children"
    """
    _change_rule(cli, lambda me: me.harmful(read_words(rule), reason), "Noted.")


def promote(cli: CliContext, rule: RuleReference) -> None:
    """Trust a rule one step more.

    The steps are candidate, established and proven.

    \b
    Example:
      rem promote "confirm before sending"
    """
    _change_rule(cli, lambda me: me.promote(read_words(rule)), "Promoted.")


def demote(cli: CliContext, rule: RuleReference) -> None:
    """Trust a rule one step less.

    The steps are proven, established and candidate.

    \b
    Example:
      rem demote "confirm before sending"
    """
    _change_rule(cli, lambda me: me.demote(read_words(rule)), "Demoted.")


def disable(cli: CliContext, rule: RuleReference) -> None:
    """Stop following a rule, but keep it.

    It is not recalled until you restore it with `rem restore`.

    \b
    Example:
      rem disable "confirm before sending"
    """
    _change_rule(cli, lambda me: me.disable(read_words(rule)), "Disabled.")


def _change_rule(cli: CliContext, verb: Callable[[Memory], Written], word: str) -> None:
    cli.run_verb(verb, lambda out, written: _print_rule(out, written, word))


def _print_rule(out: Terminal, written: Written, word: str) -> None:
    from remembrancer.types import Rule

    rule = written.memory
    assert isinstance(rule, Rule)
    out.say(f"{word} {quote(rule.content)}")
    if written.replaced is not None:
        out.say("It did so much harm that it is now a warning.")
    uses = f"{rule.success_count} helpful, {rule.harmful_count} harmful"
    out.note(f"{rule.maturity} · {uses} · {rule.id}")
    out.print_undo_hint(written.event)
