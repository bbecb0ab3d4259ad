"""What is true, how to behave, what happened: one page for each, with filters in its address."""

from __future__ import annotations

from collections.abc import Iterable

from fastapi import APIRouter
from starlette.responses import Response

from remembrancer.memory import Memory
from remembrancer.server.pages import text
from remembrancer.server.pages.cards import Card
from remembrancer.server.pages.filters import asked, found
from remembrancer.server.pages.page_context import Frame, Framed
from remembrancer.types import Kind, Maturity, Record

router = APIRouter()


@router.get("/facts")
def facts(frame: Framed) -> Response:
    """What is true, by what it is about."""
    me, wanted = frame.me, asked(frame.request.query_params)
    result = found(frame, me, wanted, [Kind.FACT])
    return frame.show(
        "facts.html",
        "Facts",
        wanted=wanted,
        scopes=frame.scopes(me),
        categories=list(frame.profile.categories),
        groups=by_subject(frame, me, result.records),
        cursor=result.cursor,
    )


@router.get("/playbook")
def playbook(frame: Framed) -> Response:
    """How to behave, the most trusted first."""
    me, wanted = frame.me, asked(frame.request.query_params)
    result = found(frame, me, wanted, [Kind.RULE])
    return frame.show(
        "playbook.html",
        "Playbook",
        wanted=wanted,
        scopes=frame.scopes(me),
        groups=by_maturity(frame, me, result.records),
        cursor=result.cursor,
    )


@router.get("/episodes")
def episodes(frame: Framed) -> Response:
    """What happened, the latest first."""
    me, wanted = frame.me, asked(frame.request.query_params)
    result = found(frame, me, wanted, [Kind.EPISODE])
    return frame.show(
        "episodes.html",
        "Episodes",
        wanted=wanted,
        scopes=frame.scopes(me),
        cards=[frame.card(one, me) for one in result.records],
        cursor=result.cursor,
    )


def by_subject(frame: Frame, me: Memory, records: Iterable[Record]) -> dict[str, list[Card]]:
    """Facts by what they are about, each with the words that it replaced."""
    records = list(records)
    before = me.several(one.supersedes for one in records if one.supersedes)
    groups: dict[str, list[Card]] = {}
    for one in records:
        shown = frame.card(one, me, old=before.get(one.supersedes or ""))
        groups.setdefault(_about(frame, shown.subject), []).append(shown)
    first = "About you"
    return dict(sorted(groups.items(), key=lambda group: (group[0] != first, not group[0])))


def _about(frame: Frame, subject: str) -> str:
    own = text.SELF | {frame.caller.owner.user.casefold()}
    return "About you" if not subject or subject.casefold() in own else subject


def by_maturity(frame: Frame, me: Memory, records: Iterable[Record]) -> dict[str, list[Card]]:
    """Rules by how far they are trusted."""
    cards = [frame.card(one, me) for one in records]
    order = (Maturity.PROVEN, Maturity.ESTABLISHED, Maturity.CANDIDATE, Maturity.ANTI_PATTERN)
    groups = {text.MATURITY[one]: [card for card in cards if card.maturity is one] for one in order}
    return {name: found for name, found in groups.items() if found}
