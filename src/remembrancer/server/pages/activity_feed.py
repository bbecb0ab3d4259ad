"""Events as a story: what happened, to which memory, and whether it can be undone."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.responses import Response

from remembrancer.memory import Memory
from remembrancer.server.pages import text
from remembrancer.server.pages.page_context import PageContext
from remembrancer.types import Action, Event, Page, Record


@dataclass(frozen=True, slots=True)
class ActivityEntry:
    """One line of the story."""

    event: Event
    text: str
    actor: str
    memory: Record | None
    href: str
    undoable: bool


def build_entry(frame: PageContext, event: Event, memory: Record | None) -> ActivityEntry:
    """An event as a line."""
    by = event.agent or ("by itself" if event.surface == "jobs" else event.surface)
    href = f"{frame.root}/memory/{memory.id}" if memory else ""
    return ActivityEntry(event, text.describe_event(event), by, memory, href, frame.can_undo(event))


def list_activity(
    frame: PageContext, me: Memory, *, limit: int = 40, cursor: str | None = None
) -> Page[ActivityEntry]:
    """What happened, the latest first."""
    page = me.activity(limit=limit, cursor=cursor)
    shown = {one.id: _pick_memory_id(one) for one in page.items if one.changes}
    memories = me.several(shown.values())
    lines = [build_entry(frame, one, memories.get(shown.get(one.id, ""))) for one in page.items]
    return Page(tuple(lines), page.cursor)


def _pick_memory_id(event: Event) -> str:
    """The memory to show of several: of what was heard, what was said first; else the newest."""
    return event.changes[0 if event.action is Action.HEARD else -1].memory_id


def render_counting_page(frame: PageContext, title: str) -> Response:
    """What is shown while everything is counted for the first time: what happened last."""
    return frame.render("counting.html", title, feed=list_activity(frame, frame.me, limit=12).items)
