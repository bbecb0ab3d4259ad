"""The pages of facts, rules and episodes, with their filters in the URL."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from fastapi import APIRouter
from starlette.responses import Response

from remembrancer.server.pages import text
from remembrancer.server.pages.cards import Card
from remembrancer.server.pages.filters import (
    PageFilters,
    find_page,
    find_records,
    parse_filters,
)
from remembrancer.server.pages.page_context import PageContext, PastPage
from remembrancer.text_format import pluralize
from remembrancer.types import Kind, Maturity, Record, Status

router = APIRouter()

OWN_HEADING = "About you"
MAX_COUNTED = 100


@router.get("/facts")
def show_facts(context: PastPage) -> Response:
    page, values = find_page(context, [Kind.FACT])
    values["groups"] = group_by_subject(context, page.items)
    values["categories"] = list(context.profile.categories)
    values["review"] = load_review_queue(context)
    return context.render("facts.html", "Facts", **values)


@router.get("/playbook")
def show_playbook(context: PastPage) -> Response:
    filters = parse_filters(context)
    if filters.q or filters.maturity or filters.status:
        page = find_records(context, filters, [Kind.RULE])
        groups, cursor = group_by_maturity(context, page.items), page.cursor
    else:
        groups, cursor = load_rule_groups(context, filters), None
    disabled = () if filters.has_filters else load_disabled_rules(context)
    return context.render(
        "playbook.html",
        "Playbook",
        filters=filters,
        scopes=context.list_scopes(),
        agents=context.list_agents(),
        groups=groups,
        cursor=cursor,
        disabled=context.build_cards(disabled),
        maturities={one.value: label.lower() for one, label in text.MATURITY_LABELS.items()},
    )


@router.get("/episodes")
def show_episodes(context: PastPage) -> Response:
    page, values = find_page(context, [Kind.EPISODE])
    cards = context.build_cards(page.items)
    return context.render("episodes.html", "Episodes", cards=cards, **values)


@dataclass(frozen=True, slots=True)
class ReviewQueue:
    """Facts to review, the newest first; `more` says that there are even more."""

    records: tuple[Record, ...]
    more: bool

    def describe_count(self, noun: str) -> str:
        """`1 fact`, `3 facts`, `more than 100 facts`."""
        counted = pluralize(len(self.records), noun)
        return f"more than {counted}" if self.more else counted


def load_review_queue(context: PageContext) -> ReviewQueue:
    page = context.me.list(
        kinds=[Kind.FACT], status=Status.UNCONFIRMED, minimum_importance=0, limit=MAX_COUNTED
    )
    return ReviewQueue(page.items, page.cursor is not None)


def load_disabled_rules(context: PageContext) -> tuple[Record, ...]:
    return context.me.list(
        kinds=[Kind.RULE], status=Status.DISABLED, minimum_importance=0, limit=MAX_COUNTED
    ).items


def group_by_subject(context: PageContext, records: Iterable[Record]) -> dict[str, list[Card]]:
    """Facts by subject, each with the version that it replaced."""
    records = list(records)
    replaced = context.me.several(record.supersedes for record in records if record.supersedes)
    groups: dict[str, list[Card]] = {}
    for record in records:
        card = context.build_card(record, old=replaced.get(record.supersedes or ""))
        groups.setdefault(_subject_heading(context, card.subject), []).append(card)
    return dict(sorted(groups.items(), key=lambda group: (group[0] != OWN_HEADING, not group[0])))


def _subject_heading(context: PageContext, subject: str) -> str:
    own = text.SELF_SUBJECTS | {context.caller.owner.user.casefold()}
    return OWN_HEADING if not subject or subject.casefold() in own else subject


@dataclass(frozen=True, slots=True)
class RuleGroup:
    """The newest rules of one maturity; `more` says that there are older ones."""

    maturity: Maturity
    cards: tuple[Card, ...]
    more: bool = False

    @property
    def heading(self) -> str:
        return text.MATURITY_LABELS[self.maturity]


MATURITY_ORDER = (
    Maturity.PROVEN,
    Maturity.ESTABLISHED,
    Maturity.CANDIDATE,
    Maturity.ANTI_PATTERN,
)
"""The most trusted first."""


def load_rule_groups(context: PageContext, filters: PageFilters) -> list[RuleGroup]:
    """The newest rules of each maturity, so that new candidates do not hide proven rules."""
    groups: list[RuleGroup] = []
    for maturity in MATURITY_ORDER:
        page = find_records(context, replace(filters, maturity=maturity), [Kind.RULE])
        cards = tuple(context.build_cards(page.items))
        groups.append(RuleGroup(maturity, cards, more=page.cursor is not None))
    return [group for group in groups if group.cards]


def group_by_maturity(context: PageContext, records: Iterable[Record]) -> list[RuleGroup]:
    """The rules of one page by maturity."""
    cards = context.build_cards(records)
    groups = (
        RuleGroup(maturity, tuple(card for card in cards if card.maturity is maturity))
        for maturity in MATURITY_ORDER
    )
    return [group for group in groups if group.cards]
