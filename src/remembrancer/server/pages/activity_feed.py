"""Activity entries: an event as text, its memory, and whether it can be undone."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain

from starlette.responses import Response

from remembrancer.server.pages import text
from remembrancer.server.pages.page_context import PageContext
from remembrancer.types import Action, Event, Page, Record

MAX_FADING = 5
"""The number of memories that an alert names; its text counts all of them."""


@dataclass(frozen=True, slots=True)
class ActivityEntry:
    """An event as text, with the memory to name, and the others that an alert is about.

    `note` is empty if it would repeat the text.
    """

    event: Event
    text: str
    actor: str
    memory: Record | None
    href: str
    undoable: bool
    note: str = ""
    others: tuple[Record, ...] = ()


def build_entry(
    context: PageContext, event: Event, memory: Record | None, others: Iterable[Record] = ()
) -> ActivityEntry:
    label, actor = text.describe_event(event), text.describe_actor(event)
    href = context.memory_url(memory.id) if memory else ""
    note = event.note if event.note and event.action is not Action.INVERTED else ""
    undoable = context.can_undo(event)
    return ActivityEntry(event, label, actor, memory, href, undoable, note, tuple(others))


def list_activity(
    context: PageContext, *, limit: int = 40, cursor: str | None = None
) -> Page[ActivityEntry]:
    """One page of activity, the latest first."""
    page = context.me.activity(limit=limit, cursor=cursor)
    ids = {event.id: list_memory_ids(event) for event in page.items}
    memories = context.me.several(chain.from_iterable(ids.values()))
    entries = []
    for event in page.items:
        named = [memories[one] for one in ids[event.id] if one in memories]
        entries.append(build_entry(context, event, named[0] if named else None, named[1:]))
    return Page(tuple(entries), page.cursor)


def list_memory_ids(event: Event) -> list[str]:
    """The memories to name: the first message of a conversation, else the one it is about."""
    ids = [change.memory_id for change in event.changes]
    match event.action:
        case Action.HEARD:
            return ids[:1]
        case Action.FADED:
            return ids[:MAX_FADING]
        case _:
            return _find_main_changes(event)[-1:] or ids[-1:]


def _find_main_changes(event: Event) -> list[str]:
    """What the event stored, or else changed, without what it only linked."""
    changed = [one for one in event.changes if "link" not in (one.after or {})]
    stored = [one for one in changed if one.before is None and one.after is not None]
    return [one.memory_id for one in stored or changed]


def render_loading_page(context: PageContext, title: str) -> Response:
    """A page with the latest activity, shown while the first survey runs."""
    return context.render("loading.html", title, feed=list_activity(context, limit=12).items)
