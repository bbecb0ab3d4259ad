"""`rem propose` and `rem team`: a member's view of the team memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Option

from remembrancer.cli.cli_context import CliContext
from remembrancer.cli.options import AS_OF_OPTIONS, Words, read_words, with_options
from remembrancer.cli.terminal import Terminal

if TYPE_CHECKING:
    from remembrancer.engine import Remembrancer
    from remembrancer.team.review import Review
    from remembrancer.team.service import TeamProposalResult
    from remembrancer.types import TeamFact, TeamRecalled


def propose(
    cli: CliContext,
    words: Words,
    *,
    kind: Annotated[
        str, Option(metavar="NAME", help="fact, howto, reference or glossary.")
    ] = "fact",
    importance: Annotated[float, Option(metavar="NUMBER", help="The importance, from 1 to 5.")] = 3,
) -> None:
    """Propose a fact that the whole team should know.

    It is stored without your name. It is pending until someone else proposes the same or a reviewer
    approves it. Anything about a person is refused, with the reasons, and not stored. WORDS can be
    - to read them from stdin.

    \b
    Examples:
      rem propose "The proxy pool uses ports 9000 to 9999."
      rem propose "A release is cut from the main branch." --kind howto
      rem propose "SLO: service level objective." --kind glossary --importance 4
    """
    from remembrancer.types import TeamOrigin

    origin = TeamOrigin.USER if cli.agent is None else TeamOrigin.AGENT
    with cli.open_engine(embeds=True) as store:
        me = cli.memory_of(store)
        proposed = me.propose(read_words(words), kind=kind, origin=origin, importance=importance)
        explanation = me.explain_proposal(proposed)

    def print_text(out: Terminal) -> None:
        _print_verdict(out, proposed, explanation)
        say_if_no_team(out, cli)

    cli.print_result(proposed, print_text)
    if proposed.rules:
        raise typer.Exit(1)


@with_options(AS_OF_OPTIONS)
def team(
    cli: CliContext,
    words: Words,
    limit: Annotated[
        int | None,
        Option(metavar="NUMBER", help="The maximum number; at most the setting `limit`."),
    ] = None,
    **moment: Any,
) -> None:
    """Search the team memory, best first.

    Finds approved facts only, and never names who proposed them or who asks. It needs a profile
    with a team memory, such as assistant.

    \b
    Examples:
      rem --profile assistant team "which ports does the proxy use?"
      rem team "how is a release made?" --limit 3
    """
    with cli.open_engine(embeds=True) as store:
        me, then = cli.memory_of(store), cli.parse_as_of(**moment)
        found = me.team(read_words(words), limit=limit, as_of=then)
        can_recall = has_team(cli) and open_review(cli, store).settings().can_recall("cli")
    cli.print_result(
        {"items": found, "enabled": can_recall},
        lambda out: _print_results(out, cli, found, is_enabled=can_recall),
    )


def open_review(cli: CliContext, store: Remembrancer) -> Review:
    """Team administration for the user of the command line, who has all rights on the store."""
    return store.review(cli.user_name, tenant=cli.tenant)


def has_team(cli: CliContext) -> bool:
    return cli.settings.profile_for(cli.agent).team.enabled


def say_if_no_team(out: Terminal, cli: CliContext) -> None:
    """Explain that nobody can recall it, if the profile has no team memory."""
    if not has_team(cli):
        out.print_blank_line()
        out.say(
            f"The profile {cli.settings.profile} has no team memory, so nobody can recall it.\n"
            "One that has: rem --profile assistant …"
        )


def _print_verdict(out: Terminal, proposed: TeamProposalResult, explanation: str) -> None:
    from remembrancer.guard.reasons import explain_rules

    if proposed.rules:
        out.say("Refused, and not kept:")
        for reason in explain_rules(proposed.rules):
            out.say(f"- {reason}")
        out.note("Without that, the rest can be proposed.")
        return
    out.say(explanation)
    if proposed.status == "rejected":
        out.note(f"To think about it again: rem team-reopen {proposed.fact_id}")
    elif proposed.fact_id is not None:
        out.note(proposed.fact_id)


def _print_results(
    out: Terminal, cli: CliContext, found: Sequence[TeamRecalled], *, is_enabled: bool
) -> None:
    if not is_enabled and has_team(cli):
        out.say("Team recall is off for the command line.")
        out.note("Switch it on: rem team-switch team_recall.cli=on")
    elif not is_enabled:
        out.say(f"The profile {cli.settings.profile} has no team memory.")
        out.note("One that has: rem --profile assistant team …")
    elif not found:
        out.say("The team knows nothing about that.")
    for one in out.separate(found):
        out.say(one.content)
        out.note(format_weight(one.kind, one))


def format_weight(name: str, fact: TeamRecalled | TeamFact) -> str:
    """A line with the kind, the importance and the confidence of a fact."""
    return f"{name} · importance {fact.importance:g} · confidence {fact.confidence:.2f}"
