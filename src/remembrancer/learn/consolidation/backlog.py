"""The episodes that wait for consolidation. Notes never do: they are saved for the person."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from remembrancer.call import Call
from remembrancer.store.contract import Filter, Store, Visibility
from remembrancer.text_format import pluralize
from remembrancer.types import Backlog, Episode, Kind, Owner

MAX_PENDING_EPISODES = 100_000


def load_pending_episodes(call: Call, visible: Visibility) -> dict[str, list[Episode]]:
    """Pending episodes by scope, oldest first."""
    found: dict[str, list[Episode]] = {}
    with call.store.open_reader(call.owner) as reader:
        pending = _build_filter(call.now(), visible)
        for one in reader.find(pending, MAX_PENDING_EPISODES, oldest_first=True):
            if isinstance(one, Episode) and not one.is_note:
                found.setdefault(one.scope, []).append(one)
    return found


def count_pending(store: Store, owners: Iterable[Owner], now: datetime) -> int:
    """The number of pending episodes of some people."""
    count = 0
    for owner in owners:
        with store.open_reader(owner) as reader:
            count += reader.count(_build_filter(now, Visibility()))
    return count


def describe_waiting(count: int) -> str:
    """Say that episodes wait because there is no model."""
    verb = "waits" if count == 1 else "wait"
    return f"{pluralize(count, 'episode')} {verb}: no model is configured"


def _build_filter(now: datetime, visible: Visibility) -> Filter:
    return Filter(now=now, kinds=(Kind.EPISODE,), visible=visible, backlogs=(Backlog.PENDING,))
