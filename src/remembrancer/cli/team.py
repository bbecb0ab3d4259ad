"""The verbs for whoever is in a team: propose something, and ask what the team knows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from remembrancer.cli.cli_context import Desk
from remembrancer.cli.console import Page
from remembrancer.cli.options import Words, said

if TYPE_CHECKING:
    from remembrancer.engine import Remembrancer
    from remembrancer.team.review import Review
    from remembrancer.team.service import Proposed
    from remembrancer.types import TeamFact, TeamRecalled


def propose(
    context: typer.Context,
    words: Words,
    *,
    kind: Annotated[
        str, typer.Option(metavar="NAME", help="fact, howto, reference or glossary.")
    ] = "fact",
    importance: Annotated[
        float, typer.Option(metavar="NUMBER", help="How much it matters, from 1 to 5.")
    ] = 3,
) -> None:
    """Propose something that the whole team should know.

    It is kept without your name, and pending until someone else says the same or a reviewer
    approves it. Anything about a person is refused, with the reasons, and not kept at all.
    WORDS may be - to read them from stdin.

    \b
    Examples:
      rem propose "The proxy pool uses ports 9000 to 9999."
      rem propose "A release is cut from the main branch." --kind howto
      rem propose "SLO: service level objective." --kind glossary --importance 4
    """
    from remembrancer.types import TeamOrigin

    desk: Desk = context.obj
    origin = TeamOrigin.USER if desk.agent is None else TeamOrigin.AGENT
    with desk.opened(embeds=True) as store:
        me = store.for_user(desk.user, tenant=desk.tenant, agent=desk.agent, surface="cli")
        proposed = me.propose(said(words), kind=kind, origin=origin, importance=importance)
        waits = proposed.status == "pending"
        until = _until(proposed, review_of(desk, store).switches().promote_at) if waits else ""

    def told(page: Page) -> None:
        _verdict(page, proposed, until)
        say_if_no_team(page, desk)

    desk.answer(proposed, told)
    if proposed.rules:
        raise typer.Exit(1)


def team(
    context: typer.Context,
    words: Words,
    limit: Annotated[
        int | None,
        typer.Option(metavar="NUMBER", help="How many at most; no more than the switch `limit`."),
    ] = None,
) -> None:
    """Ask what the team knows, best first.

    Only what was approved is told, and nobody is named: neither who asks nor who said so. It needs
    a profile with a team memory, such as assistant.

    \b
    Examples:
      rem --profile assistant team "which ports does the proxy use?"
      rem team "how is a release made?" --limit 3
    """
    desk: Desk = context.obj
    with desk.opened(embeds=True) as store:
        me = store.for_user(desk.user, tenant=desk.tenant, agent=desk.agent, surface="cli")
        found = me.team(said(words), limit=limit)
        told = has_team(desk) and review_of(desk, store).switches().recalls("cli")
    desk.answer({"results": found, "told": told}, lambda page: _known(page, desk, found, told=told))


def review_of(desk: Desk, store: Remembrancer) -> Review:
    """The desk of whoever runs the command, who may do anything with a store of their own."""
    return store.review(desk.user, tenant=desk.tenant)


def has_team(desk: Desk) -> bool:
    """Whether the profile has a team memory."""
    return desk.settings.profile_for(desk.agent).team.enabled


def say_if_no_team(page: Page, desk: Desk) -> None:
    """Say why nobody will be told, if the profile says so."""
    if not has_team(desk):
        page.gap()
        page.say(
            f"The profile {desk.settings.profile} has no team memory, so nobody is told.\n"
            "One that has: rem --profile assistant …"
        )


def _verdict(page: Page, proposed: Proposed, until: str) -> None:
    from typing import assert_never

    from remembrancer.guard.reasons import reasons
    from remembrancer.team.service import Verdict

    match proposed.verdict:
        case Verdict.PENDING:
            page.say(f"Proposed. {until}")
        case Verdict.CORROBORATED:
            page.say("Someone else has said the same, and you are counted as one more.")
            if until:
                page.say(until)
        case Verdict.APPROVED:
            page.say("Approved: enough people have said the same, and the team is told.")
        case Verdict.KNOWN:
            page.say("You have said so before. Nothing was changed.")
        case Verdict.REJECTED_BEFORE:
            page.say("A reviewer has rejected this before. Nothing was changed.")
            page.note(f"To think about it again: rem team-reopen {proposed.fact_id}")
        case Verdict.REFUSED:
            page.say("Refused, and not kept:")
            for reason in reasons(proposed.rules):
                page.say(f"- {reason}")
            page.note("Without that, the rest can be proposed.")
        case _:
            assert_never(proposed.verdict)
    if proposed.fact_id is not None and proposed.verdict is not Verdict.REJECTED_BEFORE:
        page.note(proposed.fact_id)


def _until(proposed: Proposed, promote_at: int | None) -> str:
    """What a pending proposal waits for."""
    if proposed.conflicts:
        return "Something else contradicts it, so it is pending until a reviewer approves it."
    match promote_at:
        case None:
            return "It is pending until a reviewer approves it."
        case 2:
            return "Pending until someone else says the same or a reviewer approves it."
        case enough:
            return f"Pending until {enough} people have said so or a reviewer approves it."


def _known(page: Page, desk: Desk, found: Sequence[TeamRecalled], *, told: bool) -> None:
    if not told and has_team(desk):
        page.say("The command line is not told what the team knows.")
        page.note("Switch it on: rem team-switch team_recall.cli=on")
    elif not told:
        page.say(f"The profile {desk.settings.profile} has no team memory.")
        page.note("One that has: rem --profile assistant team …")
    elif not found:
        page.say("The team knows nothing about that.")
    for number, one in enumerate(found):
        if number:
            page.gap()
        page.say(one.content)
        page.note(weight(one.kind, one))


def how_many(count: int) -> str:
    """So many team facts."""
    return f"{count} team {'fact' if count == 1 else 'facts'}"


def weight(name: str, fact: TeamRecalled | TeamFact) -> str:
    """What sort of fact it is, and how much it counts."""
    return f"{name} · importance {fact.importance:g} · confidence {fact.confidence:.2f}"
