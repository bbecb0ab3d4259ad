"""The verbs for whoever looks after a team's memory; nobody who said something is named."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from remembrancer.cli.cli_context import Desk
from remembrancer.cli.console import Page, quoted
from remembrancer.cli.options import Words, be_sure, given, said, taking
from remembrancer.cli.team import how_many, review_of, weight
from remembrancer.errors import NotFound

if TYPE_CHECKING:
    from remembrancer.team.review import Review
    from remembrancer.types import Page as Listing
    from remembrancer.types import TeamEntry, TeamFact

Fact = Annotated[str, typer.Argument(metavar="ID", hidden=True)]
Facts = Annotated[list[str], typer.Argument(metavar="ID", hidden=True)]

QUEUE = {
    "kind": Annotated[
        str | None, typer.Option(metavar="NAME", help="fact, howto, reference or glossary.")
    ],
    "origin": Annotated[
        str | None, typer.Option(metavar="NAME", help="Said by: user, agent or assistant.")
    ],
    "words": Annotated[
        str | None, typer.Option(metavar="TEXT", help="Only what has these words in it.")
    ],
    "cursor": Annotated[
        str | None, typer.Option(metavar="TEXT", help="Go on where the last page ended.")
    ],
}


@taking(QUEUE)
def team_review(
    context: typer.Context,
    *,
    status: Annotated[
        str, typer.Option(metavar="NAME", help="pending, approved or rejected.")
    ] = "pending",
    single: Annotated[
        bool, typer.Option("--single", help="Only what one person alone has said.")
    ] = False,
    contested: Annotated[
        bool, typer.Option("--contested", help="Only what something else contradicts.")
    ] = False,
    limit: Annotated[int, typer.Option(metavar="NUMBER", help="How many at most.")] = 20,
    **options: Any,
) -> None:
    """List what waits for a decision, the newest first.

    Each with how many people have said so, never who, and with what contradicts it. --status shows
    what was decided.

    \b
    Examples:
      rem team-review
      rem team-review --single --kind howto
      rem team-review --status approved --contested
      rem team-review --words proxy --origin agent --limit 5
    """
    desk: Desk = context.obj
    marks: Any = {"status": status, "single": single, "contested": contested, "limit": limit}
    marks |= {name: said([text]) for name, text in given(options).items()}
    with desk.opened() as store:
        review = review_of(desk, store)
        found = review.list(**marks)
        others = _opposed(review, found.items)
    desk.answer(found, lambda page: _queue(page, found, others, status))


def team_approve(context: typer.Context, facts: Facts) -> None:
    """Let the team be told.

    From the next moment on, by every process. All of the facts are approved, or none if one of them
    is not there. `rem team-review` tells the ID of each.

    \b
    Example:
      rem team-approve team_01kjq3v8r5w0m2x4y6z8b0c2d4
    """
    _decide(context.obj, "Approved.", lambda review: review.approve(*_once(facts)))


def team_reject(context: typer.Context, facts: Facts) -> None:
    """Never tell the team.

    It stays, so that it is not proposed again; whoever says the same learns that it was rejected.
    All of the facts are rejected, or none if one of them is not there.

    \b
    Example:
      rem team-reject team_01kjq3v8r5w0m2x4y6z8b0c2d4
    """
    _decide(context.obj, "Rejected.", lambda review: review.reject(*_once(facts)))


def team_reopen(context: typer.Context, facts: Facts) -> None:
    """Take a decision back.

    What was approved or rejected is pending again, and the team is not told meanwhile.

    \b
    Example:
      rem team-reopen team_01kjq3v8r5w0m2x4y6z8b0c2d4
    """
    _decide(context.obj, "Pending again.", lambda review: review.reopen(*_once(facts)))


def team_edit(context: typer.Context, fact: Fact, words: Words) -> None:
    """Give a team fact other words.

    They may say as little about a person as any proposal. How many have said it, and whether it is
    approved, stays as it is. WORDS may be - to read them from stdin.

    \b
    Example:
      rem team-edit team_01kjq3v8r5w0m2x4y6z8b0c2d4 "The proxy uses port 9000."
    """
    one, text = said([fact]), said(words)
    _decide(context.obj, "Changed.", lambda review: (review.edit(one, text),), embeds=True)


def team_importance(
    context: typer.Context,
    fact: Fact,
    importance: Annotated[float, typer.Argument(metavar="NUMBER", hidden=True)],
) -> None:
    """Say how much a team fact matters, from 1 to 5.

    Of two facts that fit a question as well, the more important one is told first.

    \b
    Example:
      rem team-importance team_01kjq3v8r5w0m2x4y6z8b0c2d4 5
    """
    one, word = said([fact]), f"Importance {importance:g}."
    _decide(context.obj, word, lambda review: (review.set_importance(one, importance),))


def team_delete(
    context: typer.Context,
    facts: Facts,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Delete team facts for good.

    With all that is known about them; it cannot be undone, and they can be proposed again. To keep
    something from being proposed again, reject it instead.

    \b
    Examples:
      rem team-delete team_01kjq3v8r5w0m2x4y6z8b0c2d4
      rem team-delete team_01kjq3v8r5w0m2x4y6z8b0c2d4 --yes
    """
    wanted = _once(facts)
    be_sure(yes, f"Delete {how_many(len(wanted))} for good? It cannot be undone.")
    desk: Desk = context.obj
    with desk.opened() as store:
        count = review_of(desk, store).delete(*wanted)
    words = f"{how_many(count)} {'was' if count == 1 else 'were'} deleted for good."
    desk.answer({"deleted": count}, lambda page: page.say(words))


def _opposed(review: Review, entries: Sequence[TeamEntry]) -> dict[str, TeamFact]:
    """The facts that contradict one of these, to be shown beside it."""
    wanted = {one for entry in entries for one in entry.conflicts}
    others: dict[str, TeamFact] = {}
    for one in sorted(wanted):
        with contextlib.suppress(NotFound):  # It was deleted a moment ago.
            others[one] = review.get(one).fact
    return others


def _queue(
    page: Page, found: Listing[TeamEntry], others: Mapping[str, TeamFact], status: str
) -> None:
    if not found.items:
        page.say("There is nothing here.")
    for number, entry in enumerate(found.items):
        if number:
            page.gap()
        _entry(page, entry, others)
    if found.items and status == "pending":
        page.gap()
        page.note("Decide: rem team-approve ID, rem team-reject ID")
    if found.cursor is not None:
        page.gap()
        page.note(f"There is more: the same command with --cursor {found.cursor}")


def _entry(page: Page, entry: TeamEntry, others: Mapping[str, TeamFact]) -> None:
    fact = entry.fact
    people = "1 person" if entry.contributors == 1 else f"{entry.contributors} people"
    page.say(fact.content)
    page.note(f"{weight(f'{fact.kind} by {fact.origin}', fact)} · said by {people}")
    page.note(f"{fact.id} · {page.date(fact.recorded_at)}")
    for other in (others[one] for one in entry.conflicts if one in others):
        page.say(f"! Contradicted by {quoted(other.content)}")
        page.note(f"{other.id} · {other.status}", indent=2)


def _once(facts: Sequence[str]) -> tuple[str, ...]:
    """Each id once, however often it was typed."""
    return tuple(dict.fromkeys(said([one]) for one in facts))


def _decide(
    desk: Desk,
    word: str,
    verb: Callable[[Review], tuple[TeamFact, ...]],
    *,
    embeds: bool = False,
) -> None:
    with desk.opened(embeds=embeds) as store:
        changed = verb(review_of(desk, store))

    def told(page: Page) -> None:
        for one in changed:
            page.say(f"{word} {quoted(one.content)}")
            page.note(f"{one.id} · {one.status}")

    desk.answer(changed, told)
