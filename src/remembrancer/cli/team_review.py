"""The verbs for reviewers of the team memory; contributors are never named."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from remembrancer.cli.cli_context import CliContext
from remembrancer.cli.options import (
    Cursor,
    Limit,
    Words,
    Yes,
    confirm_or_abort,
    drop_unset,
    read_words,
    with_options,
)
from remembrancer.cli.team import format_weight, open_review
from remembrancer.cli.terminal import Terminal, format_count, quote

if TYPE_CHECKING:
    from remembrancer.team.review import Review
    from remembrancer.types import Page, TeamEntry, TeamFact

FactId = Annotated[str, Argument(metavar="ID", hidden=True)]
FactIds = Annotated[list[str], Argument(metavar="ID", hidden=True)]

QUEUE_OPTIONS = {
    "kind": Annotated[
        str | None, Option(metavar="NAME", help="fact, howto, reference or glossary.")
    ],
    "origin": Annotated[
        list[str] | None,
        Option(metavar="NAME", help="Proposed by: user, agent or assistant; can be repeated."),
    ],
    "words": Annotated[str | None, Option(metavar="TEXT", help="Only facts with these words.")],
    "cursor": Cursor,
}


@with_options(QUEUE_OPTIONS)
def team_review(
    cli: CliContext,
    *,
    status: Annotated[
        str, Option(metavar="NAME", help="pending, approved or rejected.")
    ] = "pending",
    single: Annotated[bool, Option("--single", help="Only facts of one contributor.")] = False,
    contested: Annotated[bool, Option("--contested", help="Only contradicted facts.")] = False,
    limit: Limit = 20,
    **options: Any,
) -> None:
    """List the review queue, the newest first.

    Shows how many people proposed each fact, never who, and what contradicts it. --status lists
    decided facts.

    \b
    Examples:
      rem team-review
      rem team-review --single --kind howto
      rem team-review --status approved --contested
      rem team-review --words proxy --origin agent --origin user --limit 5
    """
    filters: Any = {"status": status, "single": single, "contested": contested, "limit": limit}
    for name, value in drop_unset(options).items():
        filters[name] = value if name == "origin" else read_words([value])
    with cli.open_engine() as store:
        review = open_review(cli, store)
        found = review.list(**filters)
        others = review.rivals(found.items)
    cli.print_result(found, lambda out: _print_queue(out, found, others, status))


def team_approve(cli: CliContext, facts: FactIds) -> None:
    """Approve team facts, so that the team recalls them.

    It takes effect at once, in every process. All facts are approved, or none if one of them does
    not exist. `rem team-review` lists the ids.

    \b
    Example:
      rem team-approve team_01kjq3v8r5w0m2x4y6z8b0c2d4
    """
    _change_facts(cli, "Approved.", lambda review: review.approve(*_dedupe_ids(facts)))


def team_reject(cli: CliContext, facts: FactIds) -> None:
    """Reject team facts.

    A rejected fact stays stored, so that it cannot be proposed again. All facts are rejected, or
    none if one of them does not exist.

    \b
    Example:
      rem team-reject team_01kjq3v8r5w0m2x4y6z8b0c2d4
    """
    _change_facts(cli, "Rejected.", lambda review: review.reject(*_dedupe_ids(facts)))


def team_reopen(cli: CliContext, facts: FactIds) -> None:
    """Take back an approval or a rejection.

    The fact is pending again, and the team does not recall it meanwhile.

    \b
    Example:
      rem team-reopen team_01kjq3v8r5w0m2x4y6z8b0c2d4
    """
    _change_facts(cli, "Pending again.", lambda review: review.reopen(*_dedupe_ids(facts)))


def team_edit(cli: CliContext, fact: FactId, words: Words) -> None:
    """Change the text of a team fact.

    As in a proposal, the text must not be about a person. The status and the number of contributors
    do not change. WORDS can be - to read them from stdin.

    \b
    Example:
      rem team-edit team_01kjq3v8r5w0m2x4y6z8b0c2d4 "The proxy uses port 9000."
    """
    one, text = read_words([fact]), read_words(words)
    _change_facts(cli, "Changed.", lambda review: (review.edit(one, text),), embeds=True)


def team_importance(
    cli: CliContext,
    fact: FactId,
    importance: Annotated[float, Argument(metavar="NUMBER", hidden=True)],
) -> None:
    """Set the importance of a team fact, from 1 to 5.

    Of two facts that match a question equally well, the more important one comes first.

    \b
    Example:
      rem team-importance team_01kjq3v8r5w0m2x4y6z8b0c2d4 5
    """
    one, word = read_words([fact]), f"Importance {importance:g}."
    _change_facts(cli, word, lambda review: (review.set_importance(one, importance),))


def team_delete(cli: CliContext, facts: FactIds, yes: Yes = False) -> None:
    """Delete team facts permanently.

    This cannot be undone. A deleted fact can be proposed again; to prevent that, reject it instead.

    \b
    Examples:
      rem team-delete team_01kjq3v8r5w0m2x4y6z8b0c2d4
      rem team-delete team_01kjq3v8r5w0m2x4y6z8b0c2d4 --yes
    """
    ids = _dedupe_ids(facts)
    confirm_or_abort(
        yes, f"Delete {format_count(len(ids), 'team fact')} for good? It cannot be undone."
    )
    with cli.open_engine() as store:
        count = open_review(cli, store).delete(*ids)
    words = f"{format_count(count, 'team fact was', 'team facts were')} deleted for good."
    cli.print_result({"deleted": count}, lambda out: out.say(words))


def _print_queue(
    out: Terminal, found: Page[TeamEntry], others: Mapping[str, TeamFact], status: str
) -> None:
    if not found.items:
        out.say("There is nothing here.")
    for entry in out.separate(found.items):
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
