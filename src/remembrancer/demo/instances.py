"""Sample data of two isolated bots, each with its own memories."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from remembrancer.demo.actions import DemoAction

if TYPE_CHECKING:
    from remembrancer.engine import Remembrancer

SETTINGS: dict[str, dict[str, Any]] = {}
NOTES = (
    (160, "support-bot", "Refunds above a hundred pounds need a second signature.", "fact", 8),
    (95, "support-bot", "Looms on the old plan keep their price this year.", "decision", 9),
    (71, "support-bot", "Wants a short answer with one link.", "preference", 6),
    (40, "support-bot", "The outage in spring lasted forty minutes.", "event", 4),
    (12, "support-bot", "Mary looks after the weaving school in Leeds.", "relationship", 7),
    (30, "sales-bot", "The weaving school renews in autumn.", "fact", 7),
    (5, "sales-bot", "Turin asked for an offer on six looms.", "event", 8),
)


def list_actions(store: Remembrancer) -> Iterator[DemoAction]:
    for days, bot, words, category, importance in NOTES:
        me = store.for_user(agent=bot, surface="web")
        yield DemoAction(
            days, partial(me.remember, words, category=category, importance=importance)
        )
