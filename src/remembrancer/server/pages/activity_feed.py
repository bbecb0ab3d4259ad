"""Events as a story: what happened, to which memory, and whether it can be undone."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.responses import Response

from remembrancer.memory import Memory
from remembrancer.server.pages import text
from remembrancer.server.pages.page_context import Frame
from remembrancer.types import Action, Event, Page, Record


@dataclass(frozen=True, slots=True)
class Happening:
    """One line of the story."""

    event: Event
    said: str
    by: str
    memory: Record | None
    href: str
    undoable: bool


def told(frame: Frame, event: Event, memory: Record | None) -> Happening:
    """An event as a line."""
    by = event.agent or ("by itself" if event.surface == "jobs" else event.surface)
    href = f"{frame.root}/memory/{memory.id}" if memory else ""
    return Happening(event, text.happened(event), by, memory, href, frame.undoable(event))


def happenings(
    frame: Frame, me: Memory, *, limit: int = 40, cursor: str | None = None
) -> Page[Happening]:
    """What happened, the latest first."""
    page = me.activity(limit=limit, cursor=cursor)
    shown = {one.id: _most_telling(one) for one in page.items if one.changes}
    memories = me.several(shown.values())
    lines = [told(frame, one, memories.get(shown.get(one.id, ""))) for one in page.items]
    return Page(tuple(lines), page.cursor)


def _most_telling(event: Event) -> str:
    """The memory to show of several: of what was heard, what was said first; else the newest."""
    return event.changes[0 if event.action is Action.HEARD else -1].memory_id


def counting(frame: Frame, title: str) -> Response:
    """What is shown while everything is counted for the first time: what happened last."""
    return frame.show("counting.html", title, feed=happenings(frame, frame.me, limit=12).items)
