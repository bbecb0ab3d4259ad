"""The verbs for whoever looks after a team's memory; nobody who said something is named."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from remembrancer.cli.cli_context import CliContext
from remembrancer.cli.options import Words, confirm_or_abort, drop_unset, read_words, with_options
from remembrancer.cli.team import format_fact_count, format_weight, open_review
from remembrancer.cli.terminal import Terminal, format_count, quote
from remembrancer.errors import NotFound

if TYPE_CHECKING:
    from remembrancer.team.review import Review
    from remembrancer.types import Page, TeamEntry, TeamFact

FactId = Annotated[str, typer.Argument(metavar="ID", hidden=True)]
FactIds = Annotated[list[str], typer.Argument(metavar="ID", hidden=True)]

QUEUE_OPTIONS = {
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


@with_options(QUEUE_OPTIONS)
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
    cli: CliContext = context.obj
    marks: Any = {"status": status, "single": single, "contested": contested, "limit": limit}
    marks |= {name: read_words([text]) for name, text in drop_unset(options).items()}
    with cli.open_engine() as store:
        review = open_review(cli, store)
        found = review.list(**marks)
        others = _load_conflicts(review, found.items)
    cli.print_result(found, lambda out: _print_queue(out, found, others, status))


def team_approve(context: typer.Context, facts: FactIds) -> None:
    """Let the team be told.

    From the next moment on, by every process. All of the facts are approved, or none if one of them
    is not there. `rem team-review` tells the ID of each.

    \b
    Example:
      rem team-approve team_01kjq3v8r5w0m2x4y6z8b0c2d4
    """
    _change_facts(context.obj, "Approved.", lambda review: review.approve(*_dedupe_ids(facts)))


def team_reject(context: typer.Context, facts: FactIds) -> None:
    """Never tell the team.

    It stays, so that it is not proposed again; whoever says the same learns that it was rejected.
    All of the facts are rejected, or none if one of them is not there.

    \b
    Example:
      rem team-reject team_01kjq3v8r5w0m2x4y6z8b0c2d4
    """
    _change_facts(context.obj, "Rejected.", lambda review: review.reject(*_dedupe_ids(facts)))


def team_reopen(context: typer.Context, facts: FactIds) -> None:
    """Take a decision back.

    What was approved or rejected is pending again, and the team is not told meanwhile.

    \b
    Example:
      rem team-reopen team_01kjq3v8r5w0m2x4y6z8b0c2d4
    """
    _change_facts(context.obj, "Pending again.", lambda review: review.reopen(*_dedupe_ids(facts)))


def team_edit(context: typer.Context, fact: FactId, words: Words) -> None:
    """Give a team fact other words.

    They may say as little about a person as any proposal. How many have said it, and whether it is
    approved, stays as it is. WORDS may be - to read them from stdin.

    \b
    Example:
      rem team-edit team_01kjq3v8r5w0m2x4y6z8b0c2d4 "The proxy uses port 9000."
    """
    one, text = read_words([fact]), read_words(words)
    _change_facts(context.obj, "Changed.", lambda review: (review.edit(one, text),), embeds=True)


def team_importance(
    context: typer.Context,
    fact: FactId,
    importance: Annotated[float, typer.Argument(metavar="NUMBER", hidden=True)],
) -> None:
    """Say how much a team fact matters, from 1 to 5.

    Of two facts that fit a question as well, the more important one is told first.

    \b
    Example:
      rem team-importance team_01kjq3v8r5w0m2x4y6z8b0c2d4 5
    """
    one, word = read_words([fact]), f"Importance {importance:g}."
    _change_facts(context.obj, word, lambda review: (review.set_importance(one, importance),))


def team_delete(
    context: typer.Context,
    facts: FactIds,
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
    wanted = _dedupe_ids(facts)
    confirm_or_abort(yes, f"Delete {format_fact_count(len(wanted))} for good? It cannot be undone.")
    cli: CliContext = context.obj
    with cli.open_engine() as store:
        count = open_review(cli, store).delete(*wanted)
    words = f"{format_fact_count(count)} {'was' if count == 1 else 'were'} deleted for good."
    cli.print_result({"deleted": count}, lambda out: out.say(words))


def _load_conflicts(review: Review, entries: Sequence[TeamEntry]) -> dict[str, TeamFact]:
    """The facts that contradict one of these, to be shown beside it."""
    wanted = {one for entry in entries for one in entry.conflicts}
    others: dict[str, TeamFact] = {}
    for one in sorted(wanted):
        with contextlib.suppress(NotFound):  # It was deleted a moment ago.
            others[one] = review.get(one).fact
    return others


def _print_queue(
    out: Terminal, found: Page[TeamEntry], others: Mapping[str, TeamFact], status: str
) -> None:
    if not found.items:
        out.say("There is nothing here.")
    for number, entry in enumerate(found.items):
        if number:
            out.print_blank_line()
        _print_entry(out, entry, others)
    if found.items and status == "pending":
        out.print_blank_line()
        out.note("Decide: rem team-approve ID, rem team-reject ID")
    out.print_more_hint(found.cursor)


def _print_entry(out: Terminal, entry: TeamEntry, others: Mapping[str, TeamFact]) -> None:
    fact = entry.fact
    people = format_count(entry.contributors, "person", "people")
    out.say(fact.content)
    out.note(f"{format_weight(f'{fact.kind} by {fact.origin}', fact)} · said by {people}")
    out.note(f"{fact.id} · {out.format_date(fact.recorded_at)}")
    for other in (others[one] for one in entry.conflicts if one in others):
        out.say(f"! Contradicted by {quote(other.content)}")
        out.note(f"{other.id} · {other.status}", indent=2)


def _dedupe_ids(facts: Sequence[str]) -> tuple[str, ...]:
    """Each id once, however often it was typed."""
    return tuple(dict.fromkeys(read_words([one]) for one in facts))


def _change_facts(
    cli: CliContext,
    word: str,
    verb: Callable[[Review], tuple[TeamFact, ...]],
    *,
    embeds: bool = False,
) -> None:
    with cli.open_engine(embeds=embeds) as store:
        changed = verb(open_review(cli, store))

    def print_text(out: Terminal) -> None:
        for one in changed:
            out.say(f"{word} {quote(one.content)}")
            out.note(f"{one.id} · {one.status}")

    cli.print_result(changed, print_text)
