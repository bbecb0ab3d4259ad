"""Activity entries: an event as text, its memory, and whether it can be undone."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.responses import Response

from remembrancer.server.pages import text
from remembrancer.server.pages.page_context import PageContext
from remembrancer.types import Action, Event, Page, Record


@dataclass(frozen=True, slots=True)
class ActivityEntry:
    event: Event
    text: str
    actor: str
    memory: Record | None
    href: str
    undoable: bool


def build_entry(context: PageContext, event: Event, memory: Record | None) -> ActivityEntry:
    label, actor = text.describe_event(event), text.describe_actor(event)
    href = f"{context.root}/memory/{memory.id}" if memory else ""
    return ActivityEntry(event, label, actor, memory, href, context.can_undo(event))


def list_activity(
    context: PageContext, *, limit: int = 40, cursor: str | None = None
) -> Page[ActivityEntry]:
    """One page of activity, the latest first."""
    page = context.me.activity(limit=limit, cursor=cursor)
    memory_ids = {event.id: _pick_memory_id(event) for event in page.items if event.changes}
    memories = context.me.several(memory_ids.values())
    entries = tuple(
        build_entry(context, event, memories.get(memory_ids.get(event.id, "")))
        for event in page.items
    )
    return Page(entries, page.cursor)


def _pick_memory_id(event: Event) -> str:
    """The memory to show: the first message of a conversation, else the last change."""
    return event.changes[0 if event.action is Action.HEARD else -1].memory_id


def render_loading_page(context: PageContext, title: str) -> Response:
    """A page with the latest activity, shown while the first survey runs."""
    return context.render("loading.html", title, feed=list_activity(context, limit=12).items)
