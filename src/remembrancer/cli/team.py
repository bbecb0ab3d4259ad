"""The verbs of team memory: propose, ask, and look after it; nobody who said something is named."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from remembrancer.cli.arguments import Words, be_sure, given, said, taking
from remembrancer.cli.desk import Desk
from remembrancer.cli.page import Page, quoted
from remembrancer.errors import InvalidInput

if TYPE_CHECKING:
    from remembrancer.engine import Remembrancer
    from remembrancer.review import Review, TeamStats
    from remembrancer.switches import Switches
    from remembrancer.team import Proposed
    from remembrancer.types import Json, TeamEntry, TeamFact, TeamRecalled
    from remembrancer.types import Page as Listing

REASONS = {
    "first-person": "It speaks of you, or of us.",
    "second-person": "It speaks to someone.",
    "third-person": "It speaks of somebody in particular.",
    "person-name": "It has the name of a person.",
    "email": "It has an address for mail.",
    "phone": "It has a phone number.",
    "ip-address": "It has the address of a machine in a network.",
    "host": "It names a machine or a site that is not known to everyone.",
    "handle": "It has the name that someone goes by on a service.",
    "address": "It says where somebody lives or gets mail.",
    "national-id": "It has a number from someone's papers.",
    "account-number": "It has the number of a card or an account.",
    "payment": "It asks for money to be paid.",
    "file-path": "It names a place on a disk.",
    "url-with-person": "It has a link with a login in it, or to someone's own page.",
    "age-or-birth": "It says how old someone is, or when or where they were born.",
    "secret": "It has a password, a key or another secret.",
    "unreadable": "A part of it cannot be read.",
    "override": "It tells an assistant to ignore its instructions.",
    "persona": "It tells an assistant to be someone else.",
    "role-marker": "It is made up to look like a message from the system.",
    "memory-directive": "It tells an assistant what to remember, or how to behave from now on.",
    "exfiltration": "It tells an assistant to give something away.",
    "privilege": "It claims rights, or tells an assistant to go around a check.",
    "addressed-command": "It gives orders to an assistant.",
    "secrecy": "It tells an assistant to keep something from people.",
    "reply-steering": "It tells an assistant what to answer.",
    "planted-code": "It wants harmful code to be put into someone's work.",
}
"""Why something must not be shared, by the name of the rule, in plain words."""

EITHER = ("personal_learning", "team_learning")
NUMBERS = ("promote_at", "dedup_threshold", "recall_confidence", "limit")
RECALL, NOBODY = "team_recall", "anonymous"
SETTINGS = (*EITHER, f"{RECALL}.SURFACE", *NUMBERS)
STATES = {"on": True, "true": True, "yes": True, "off": False, "false": False, "no": False}
MEANINGS = {
    "personal_learning": "Learn about people from conversations.",
    "team_learning": "Learn for the team from conversations.",
    "promote_at": "Approve what so many people have said.",
    "dedup_threshold": "Texts so similar say the same, from 0 to 1.",
    "recall_confidence": "Tell what is at least so sure, from 0 to 1.",
    "limit": "Tell so many facts at most.",
}

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
        waits = proposed.verdict == "pending"
        until = _until(_review(desk, store), proposed) if waits else ""

    def told(page: Page) -> None:
        _verdict(page, proposed, until)
        _without_team(page, desk)

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
    from remembrancer.recall import checked_limit

    desk: Desk = context.obj
    most = checked_limit(limit) if limit is not None else None
    with desk.opened(embeds=True) as store:
        me = store.for_user(desk.user, tenant=desk.tenant, agent=desk.agent, surface="cli")
        found = me.team(said(words))[:most]
        told = _has_team(desk) and _review(desk, store).switches().recalls("cli")
    desk.answer({"results": found, "told": told}, lambda page: _known(page, desk, found, told=told))


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
        review = _review(desk, store)
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
    be_sure(yes, f"Delete {_facts(len(wanted))} for good? It cannot be undone.")
    desk: Desk = context.obj
    with desk.opened() as store:
        count = _review(desk, store).delete(*wanted)
    words = f"{_facts(count)} {'was' if count == 1 else 'were'} deleted for good."
    desk.answer({"deleted": count}, lambda page: page.say(words))


def team_stats(context: typer.Context) -> None:
    """Count what the team knows, and show the switches.

    By status, kind and origin, how many facts are contradicted, and the settings in force, which
    `rem team-switch` changes.

    \b
    Example:
      rem team-stats
    """
    desk: Desk = context.obj
    with desk.opened() as store:
        stats = _review(desk, store).stats()
    answer = {
        "by_status": stats.by_status,
        "by_kind": stats.by_kind,
        "by_origin": stats.by_origin,
        "contested": stats.contested,
        "switches": stats.switches.model_dump(),
    }

    def told(page: Page) -> None:
        _counts(page, stats)
        page.heading("Switches in force")
        _switches(page, stats.switches)
        _without_team(page, desk)

    desk.answer(answer, told)


def team_switch(
    context: typer.Context,
    settings: Annotated[list[str], typer.Argument(metavar="NAME=VALUE", hidden=True)],
) -> None:
    """Change how the team's memory works while everything runs.

    Every process goes by it within a second; a mistake changes nothing. promote_at is a number of
    people, or off if only a reviewer may approve. team_recall.SURFACE says whether those who ask
    through a surface are told, and team_recall.anonymous whether nobody in particular is. The other
    names are in `rem team-stats`.

    \b
    Examples:
      rem team-switch promote_at=3
      rem team-switch promote_at=off team_learning=off
      rem team-switch team_recall.telegram=off team_recall.anonymous=on
      rem team-switch dedup_threshold=0.95
    """
    desk: Desk = context.obj
    changes = _changes(settings)
    with desk.opened() as store:
        switches = _review(desk, store).switch(**changes)

    def told(page: Page) -> None:
        page.say("Switched. In force:")
        page.gap()
        _switches(page, switches)
        _without_team(page, desk)

    desk.answer(switches.model_dump(), told)


def _review(desk: Desk, store: Remembrancer) -> Review:
    """The desk of whoever runs the command, who may do anything with a store of their own."""
    return store.review(desk.user, tenant=desk.tenant)


def _has_team(desk: Desk) -> bool:
    return desk.settings.profile_for(desk.agent).team.enabled


def _without_team(page: Page, desk: Desk) -> None:
    """Say why nobody will be told, if the profile says so."""
    if not _has_team(desk):
        page.gap()
        page.say(
            f"The profile {desk.settings.profile} has no team memory, so nobody is told.\n"
            "One that has: rem --profile assistant …"
        )


def _verdict(page: Page, proposed: Proposed, until: str) -> None:
    from typing import assert_never

    from remembrancer.team import Verdict

    match proposed.verdict:
        case Verdict.PENDING:
            page.say(f"Proposed. {until}")
        case Verdict.CORROBORATED:
            page.say("Someone else has said the same, and you are counted as one more.")
        case Verdict.APPROVED:
            page.say("Approved: enough people have said the same, and the team is told.")
        case Verdict.KNOWN:
            page.say("You have said so before. Nothing was changed.")
        case Verdict.REJECTED_BEFORE:
            page.say("A reviewer has rejected this before. Nothing was changed.")
            page.note(f"To think about it again: rem team-reopen {proposed.fact_id}")
        case Verdict.REFUSED:
            page.say("Refused, and not kept:")
            for rule in dict.fromkeys(proposed.rules):
                page.say(f"- {REASONS.get(rule, rule)}")
            page.note("Without that, the rest can be proposed.")
        case _:
            assert_never(proposed.verdict)
    if proposed.fact_id is not None and proposed.verdict is not Verdict.REJECTED_BEFORE:
        page.note(proposed.fact_id)


def _until(review: Review, proposed: Proposed) -> str:
    """What a pending proposal waits for."""
    contested = review.list(status="pending", contested=True).items
    if any(entry.fact.id == proposed.fact_id for entry in contested):
        return "Something else contradicts it, so it is pending until a reviewer approves it."
    match review.switches().promote_at:
        case None:
            return "It is pending until a reviewer approves it."
        case 2:
            return "Pending until someone else says the same or a reviewer approves it."
        case enough:
            return f"Pending until {enough} people have said so or a reviewer approves it."


def _known(page: Page, desk: Desk, found: Sequence[TeamRecalled], *, told: bool) -> None:
    if not told and _has_team(desk):
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
        page.note(_weight(one.kind, one))


def _weight(name: str, fact: TeamRecalled | TeamFact) -> str:
    return f"{name} · importance {fact.importance:g} · confidence {fact.confidence:.2f}"


def _opposed(review: Review, entries: Sequence[TeamEntry]) -> dict[str, TeamFact]:
    """The facts that contradict one of these, to be shown beside it."""
    wanted = {one for entry in entries for one in entry.conflicts}
    if not wanted:
        return {}
    contested = review.list(contested=True, limit=1000).items
    return {one.fact.id: one.fact for one in contested if one.fact.id in wanted}


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
    page.note(f"{_weight(f'{fact.kind} by {fact.origin}', fact)} · said by {people}")
    page.note(f"{fact.id} · {page.date(fact.recorded_at)}")
    for one in entry.conflicts:
        other = others.get(one)
        page.say(f"! Contradicted by {quoted(other.content)}" if other else "! Contradicted by")
        page.note(f"{one} · {other.status}" if other else one, indent=2)


def _once(facts: Sequence[str]) -> tuple[str, ...]:
    """Each id once, however often it was typed."""
    return tuple(dict.fromkeys(said([one]) for one in facts))


def _facts(count: int) -> str:
    return f"{count} team {'fact' if count == 1 else 'facts'}"


def _decide(
    desk: Desk,
    word: str,
    verb: Callable[[Review], tuple[TeamFact, ...]],
    *,
    embeds: bool = False,
) -> None:
    with desk.opened(embeds=embeds) as store:
        changed = verb(_review(desk, store))

    def told(page: Page) -> None:
        for one in changed:
            page.say(f"{word} {quoted(one.content)}")
            page.note(f"{one.id} · {one.status}")

    desk.answer(changed, told)


def _counts(page: Page, stats: TeamStats) -> None:
    from remembrancer.cli import tables

    count = sum(stats.by_status.values())
    if not count:
        page.say("The team knows nothing yet.")
        page.note("Try: rem propose “The proxy pool uses ports 9000 to 9999.”")
        return
    page.say(f"{_facts(count)}.")
    page.gap()
    rows = [
        ("status", _listed(stats.by_status)),
        ("kind", _listed(stats.by_kind)),
        ("origin", _listed(stats.by_origin)),
        ("contradicted", str(stats.contested) if stats.contested else "none"),
    ]
    tables.pairs(page, rows)


def _listed(some: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {name}" for name, count in some.items())


def _switches(page: Page, switches: Switches) -> None:
    from remembrancer.cli import tables

    tables.settings(page, _rows(switches))
    page.note("Every other surface is told what the team knows.")


def _rows(switches: Switches) -> Iterator[tuple[str, str, str]]:
    """Each switch under the name by which it is changed, its value, and what that does."""
    for name in (*EITHER, *NUMBERS):
        value = getattr(switches, name)
        if value is None:
            yield name, "off", "Only a reviewer approves."
        else:
            yield name, _shown(value), MEANINGS[name]
    for surface in sorted(switches.team_recall.keys() - {NOBODY}):
        told = _shown(switches.recalls(surface))
        yield f"{RECALL}.{surface}", told, f"Tell those who ask through {surface}."
    told = _shown(switches.recalls(None))
    yield f"{RECALL}.{NOBODY}", told, "Tell whoever does not say who they are."


def _shown(value: float | bool) -> str:
    return ("on" if value else "off") if isinstance(value, bool) else f"{value:g}"


def _changes(settings: Sequence[str]) -> dict[str, Json]:
    """What was typed as NAME=VALUE, read by what each name takes."""
    changes: dict[str, Json] = {}
    surfaces: dict[str, Json] = {}
    for setting in settings:
        name, sign, text = setting.partition("=")
        if not sign:
            raise InvalidInput("Say NAME=VALUE, such as promote_at=3 or team_learning=off.")
        group, dot, surface = name.partition(".")
        if name in EITHER:
            changes[name] = _state(name, text)
        elif name in NUMBERS:
            changes[name] = _number(name, text)
        elif group == RECALL and dot:
            from remembrancer.types import checked_name

            surfaces[checked_name(surface, "surface")] = _state(name, text)
        elif name == RECALL:
            raise InvalidInput("Say for which surface, such as team_recall.telegram=off.")
        else:
            names = ", ".join(SETTINGS)
            raise InvalidInput(f"There is no switch {name!r}: use one of {names}.")
    return {**changes, **({RECALL: surfaces} if surfaces else {})}


def _state(name: str, text: str) -> bool:
    if text.lower() not in STATES:
        raise InvalidInput(f"{name}: say on or off, not {text!r}.")
    return STATES[text.lower()]


def _number(name: str, text: str) -> float | None:
    can_be_off = name == "promote_at"
    if can_be_off and text.lower() == "off":
        return None
    try:
        return int(text) if text.isdecimal() else float(text)
    except ValueError:
        what = "a number, or off" if can_be_off else "a number"
        raise InvalidInput(f"{name}: give {what}, not {text!r}.") from None
