"""What is true, how to behave, what happened: one page for each, with filters in its address."""

from __future__ import annotations

from collections.abc import Iterable

from fastapi import APIRouter
from starlette.responses import Response

from remembrancer.memory import Memory
from remembrancer.server.pages import text
from remembrancer.server.pages.cards import Card
from remembrancer.server.pages.filters import find_records, parse_filters
from remembrancer.server.pages.page_context import CurrentPage, PageContext
from remembrancer.types import Kind, Maturity, Record

router = APIRouter()


@router.get("/facts")
def show_facts(frame: CurrentPage) -> Response:
    """What is true, by what it is about."""
    me, wanted = frame.me, parse_filters(frame.request.query_params)
    result = find_records(frame, me, wanted, [Kind.FACT])
    return frame.render(
        "facts.html",
        "Facts",
        wanted=wanted,
        scopes=frame.list_scopes(me),
        categories=list(frame.profile.categories),
        groups=group_by_subject(frame, me, result.records),
        cursor=result.cursor,
    )


@router.get("/playbook")
def show_playbook(frame: CurrentPage) -> Response:
    """How to behave, the most trusted first."""
    me, wanted = frame.me, parse_filters(frame.request.query_params)
    result = find_records(frame, me, wanted, [Kind.RULE])
    return frame.render(
        "playbook.html",
        "Playbook",
        wanted=wanted,
        scopes=frame.list_scopes(me),
        groups=group_by_maturity(frame, me, result.records),
        cursor=result.cursor,
    )


@router.get("/episodes")
def show_episodes(frame: CurrentPage) -> Response:
    """What happened, the latest first."""
    me, wanted = frame.me, parse_filters(frame.request.query_params)
    result = find_records(frame, me, wanted, [Kind.EPISODE])
    return frame.render(
        "episodes.html",
        "Episodes",
        wanted=wanted,
        scopes=frame.list_scopes(me),
        cards=[frame.build_card(one, me) for one in result.records],
        cursor=result.cursor,
    )


def group_by_subject(
    frame: PageContext, me: Memory, records: Iterable[Record]
) -> dict[str, list[Card]]:
    """Facts by what they are about, each with the words that it replaced."""
    records = list(records)
    before = me.several(one.supersedes for one in records if one.supersedes)
    groups: dict[str, list[Card]] = {}
    for one in records:
        shown = frame.build_card(one, me, old=before.get(one.supersedes or ""))
        groups.setdefault(_subject_heading(frame, shown.subject), []).append(shown)
    first = "About you"
    return dict(sorted(groups.items(), key=lambda group: (group[0] != first, not group[0])))


def _subject_heading(frame: PageContext, subject: str) -> str:
    own = text.SELF_SUBJECTS | {frame.caller.owner.user.casefold()}
    return "About you" if not subject or subject.casefold() in own else subject


def group_by_maturity(
    frame: PageContext, me: Memory, records: Iterable[Record]
) -> dict[str, list[Card]]:
    """Rules by how far they are trusted."""
    cards = [frame.build_card(one, me) for one in records]
    order = (Maturity.PROVEN, Maturity.ESTABLISHED, Maturity.CANDIDATE, Maturity.ANTI_PATTERN)
    groups = {
        text.MATURITY_LABELS[one]: [card for card in cards if card.maturity is one] for one in order
    }
    return {name: found for name, found in groups.items() if found}
