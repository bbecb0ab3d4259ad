"""The pages of facts, rules and episodes, with their filters in the URL."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from fastapi import APIRouter
from starlette.responses import Response

from remembrancer.server.pages import text
from remembrancer.server.pages.cards import Card
from remembrancer.server.pages.filters import find_page
from remembrancer.server.pages.page_context import CurrentPage, PageContext
from remembrancer.text_format import pluralize
from remembrancer.types import Kind, Maturity, Record, Status

router = APIRouter()

OWN_HEADING = "About you"
MAX_COUNTED = 100


@router.get("/facts")
def show_facts(context: CurrentPage) -> Response:
    page, values = find_page(context, [Kind.FACT])
    values["groups"] = group_by_subject(context, page.items)
    values["categories"] = list(context.profile.categories)
    values["review"] = load_review_queue(context)
    return context.render("facts.html", "Facts", **values)


@router.get("/playbook")
def show_playbook(context: CurrentPage) -> Response:
    page, values = find_page(context, [Kind.RULE])
    disabled = () if values["filters"].has_filters else load_disabled_rules(context)
    return context.render(
        "playbook.html",
        "Playbook",
        groups=group_by_maturity(context, page.items),
        disabled=context.build_cards(disabled),
        maturities={one.value: label.lower() for one, label in text.MATURITY_LABELS.items()},
        **values,
    )


@router.get("/episodes")
def show_episodes(context: CurrentPage) -> Response:
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


def group_by_maturity(context: PageContext, records: Iterable[Record]) -> dict[str, list[Card]]:
    """Rules by maturity, the most trusted first."""
    cards = context.build_cards(records)
    order = (Maturity.PROVEN, Maturity.ESTABLISHED, Maturity.CANDIDATE, Maturity.ANTI_PATTERN)
    groups = {
        text.MATURITY_LABELS[maturity]: [card for card in cards if card.maturity is maturity]
        for maturity in order
    }
    return {name: members for name, members in groups.items() if members}
