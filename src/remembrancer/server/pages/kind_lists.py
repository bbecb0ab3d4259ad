"""The pages of facts, rules and episodes, with their filters in the URL."""

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

OWN_HEADING = "About you"


@router.get("/facts")
def show_facts(context: CurrentPage) -> Response:
    me, filters = context.me, parse_filters(context.request.query_params)
    result = find_records(context, me, filters, [Kind.FACT])
    return context.render(
        "facts.html",
        "Facts",
        filters=filters,
        scopes=context.list_scopes(me),
        categories=list(context.profile.categories),
        groups=group_by_subject(context, me, result.records),
        cursor=result.cursor,
    )


@router.get("/playbook")
def show_playbook(context: CurrentPage) -> Response:
    me, filters = context.me, parse_filters(context.request.query_params)
    result = find_records(context, me, filters, [Kind.RULE])
    return context.render(
        "playbook.html",
        "Playbook",
        filters=filters,
        scopes=context.list_scopes(me),
        groups=group_by_maturity(context, me, result.records),
        cursor=result.cursor,
    )


@router.get("/episodes")
def show_episodes(context: CurrentPage) -> Response:
    me, filters = context.me, parse_filters(context.request.query_params)
    result = find_records(context, me, filters, [Kind.EPISODE])
    return context.render(
        "episodes.html",
        "Episodes",
        filters=filters,
        scopes=context.list_scopes(me),
        cards=[context.build_card(record, me) for record in result.records],
        cursor=result.cursor,
    )


def group_by_subject(
    context: PageContext, me: Memory, records: Iterable[Record]
) -> dict[str, list[Card]]:
    """Facts by subject, each with the version that it replaced."""
    records = list(records)
    replaced = me.several(record.supersedes for record in records if record.supersedes)
    groups: dict[str, list[Card]] = {}
    for record in records:
        card = context.build_card(record, me, old=replaced.get(record.supersedes or ""))
        groups.setdefault(_subject_heading(context, card.subject), []).append(card)
    return dict(sorted(groups.items(), key=lambda group: (group[0] != OWN_HEADING, not group[0])))


def _subject_heading(context: PageContext, subject: str) -> str:
    own = text.SELF_SUBJECTS | {context.caller.owner.user.casefold()}
    return OWN_HEADING if not subject or subject.casefold() in own else subject


def group_by_maturity(
    context: PageContext, me: Memory, records: Iterable[Record]
) -> dict[str, list[Card]]:
    """Rules by maturity, the most trusted first."""
    cards = [context.build_card(record, me) for record in records]
    order = (Maturity.PROVEN, Maturity.ESTABLISHED, Maturity.CANDIDATE, Maturity.ANTI_PATTERN)
    groups = {
        text.MATURITY_LABELS[maturity]: [card for card in cards if card.maturity is maturity]
        for maturity in order
    }
    return {name: members for name, members in groups.items() if members}
