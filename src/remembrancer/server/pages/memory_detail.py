"""One memory: why it is believed, where it comes from, its life, and what can be done about it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from fastapi import APIRouter
from starlette.responses import Response

from remembrancer.decay import decay_rate
from remembrancer.errors import NotFound
from remembrancer.maintenance.simulate import forecast
from remembrancer.memory import Memory
from remembrancer.server import schemas
from remembrancer.server.pages import charts, text
from remembrancer.server.pages.activity_feed import build_entry
from remembrancer.server.pages.charts import Chart, DecaySegment, Neighbour
from remembrancer.server.pages.forms import Form, SubmittedForm, redirect_back
from remembrancer.server.pages.page_context import CurrentPage, PageContext
from remembrancer.server.routes.kinds import get_record
from remembrancer.types import Action, Event, History, Link, Record, Relation, Status, Turn, Written

router = APIRouter()

RELATION_LABELS = {
    Relation.DERIVED_FROM: ("comes from", "led to"),
    Relation.SUPPORTS: ("supports", "supported by"),
    Relation.CONTRADICTS: ("contradicts", "contradicted by"),
    Relation.SUPERSEDES: ("replaces", "replaced by"),
    Relation.RELATED_TO: ("related to", "related to"),
}
"""How a link reads from its source, and from its target."""


@dataclass(frozen=True, slots=True)
class Quote:
    """A turn that a memory comes from, and the words in it that say so."""

    turn: Turn
    before: str
    quote: str
    after: str


ACTIONS: dict[str, Callable[[Memory, str, Form], Written]] = {
    "confirm": lambda me, one, _: me.confirm(one),
    "forget": lambda me, one, _: me.forget(one),
    "restore": lambda me, one, _: me.restore(one),
    "delete": lambda me, one, _: me.delete(one),
    "promote": lambda me, one, _: me.promote(one),
    "demote": lambda me, one, _: me.demote(one),
    "disable": lambda me, one, _: me.disable(one),
    "helpful": lambda me, one, _: me.helpful(one),
    "harmful": lambda me, one, form: me.harmful(one, form.get("reason") or None),
    "edit": lambda me, one, form: me.update(one, form.get("content")),
}


@router.get("/memory/{id}")
def show_memory(frame: CurrentPage, id: schemas.Name, part: str = "", edit: str = "") -> Response:
    """All there is to know about one memory; `part=drawer` is that without the frame."""
    me = frame.me
    record = get_record(me, id)
    history = me.history(id)
    linked = _load_linked(me, record, history.links)
    newer = [one for one in history.versions if one.supersedes == id]
    template = "drawer.html" if part == "drawer" else "one.html"
    return frame.render(
        template,
        record.content[:60],
        card=frame.build_card(record, me),
        record=record,
        reasons=_build_reasons(frame, me, record, history),
        quotes=_load_quotes(me, record),
        versions=[frame.build_card(one, me) for one in history.versions],
        newer=newer[-1] if newer else None,
        links=_draw_links(frame, record, history.links, linked),
        rules=[frame.build_card(one, me) for one in linked.values() if one.kind == "rule"],
        life=_draw_lifetime(frame, record, history),
        events=[
            build_entry(frame, one, None)
            for one in reversed(history.events)
            if _is_informative(one)
        ],
        applications=list(reversed(history.applications)),
        edit=bool(edit),
    )


@router.post("/memory/{id}/{verb}")
def change_memory(frame: CurrentPage, id: schemas.Name, verb: str, form: SubmittedForm) -> Response:
    """Do something about a memory; the page then says what, and offers to undo it."""
    if verb not in ACTIONS:
        raise NotFound("There is nothing of that name to do.")
    me = frame.me
    done = ACTIONS[verb](me, get_record(me, id).id, form)
    to = f"{frame.root}/memory/{done.memory.id}" if verb == "edit" else ""
    return redirect_back(form, done if done.event else "known", to)


def _is_informative(event: Event) -> bool:
    """Whether an event says more than the uses of a rule do."""
    return event.action not in (Action.HELPED, Action.HARMED) or event.note is not None


def _load_linked(me: Memory, record: Record, links: tuple[Link, ...]) -> dict[str, Record]:
    ends = {end for one in links for end in (one.source, one.target)} - {record.id}
    return me.several(ends)


def _build_reasons(frame: PageContext, me: Memory, record: Record, history: History) -> list[str]:
    """Why a memory is believed and for how long, in sentences."""
    said = text.SOURCE_LABELS[record.source]
    through = f", through {record.surface}" if record.surface != "library" else ""
    reasons = [f"{said[0].upper()}{said[1:]}, {frame.format_age(record.recorded_at)}{through}."]
    confirmed = sum(one.action is Action.CONFIRMED for one in history.events)
    if confirmed:
        times = "once" if confirmed == 1 else f"{confirmed} times"
        reasons.append(f"Confirmed {times}, last {frame.format_age(record.confirmed_at)}.")
    if record.recall_count and record.recalled_at:
        times = text.pluralize(record.recall_count, "time")
        reasons.append(f"Brought up {times}, last {frame.format_age(record.recalled_at)}.")
    else:
        reasons.append("Never brought up in a conversation.")
    if record.status is Status.ACTIVE:
        ahead = forecast(record, frame.profile.decay)
        if ahead.fades_at is None:
            reasons.append("It does not fade.")
        elif ahead.fades_at <= frame.now:
            reasons.append("It is too uncertain to be brought up by itself; confirm it to keep it.")
        else:
            reasons.append(f"Unless confirmed, it fades until {frame.format_day(ahead.fades_at)}.")
    if record.tainted:
        reasons.append("Its words come from a tool or a document, so nobody here vouches for them.")
    return reasons


def _load_quotes(me: Memory, record: Record) -> list[Quote]:
    """The turns that a memory comes from, the words that say so marked."""
    turns = me.several(one.turn_id for one in record.evidence)
    quotes = []
    for one in record.evidence:
        turn = turns.get(one.turn_id)
        if not isinstance(turn, Turn):
            continue
        before, quote, after = turn.content.partition(one.quote) if one.quote else ("", "", "")
        if not quote:
            before, after = turn.content, ""
        quotes.append(Quote(turn, before, quote, after))
    return quotes


def _draw_links(
    frame: PageContext, record: Record, links: tuple[Link, ...], linked: dict[str, Record]
) -> Chart | None:
    neighbours = []
    for one in links:
        outward = one.source == record.id
        other = linked.get(one.target if outward else one.source)
        if other is not None:
            relation = RELATION_LABELS[one.relation][0 if outward else 1]
            href = f"{frame.root}/memory/{other.id}"
            neighbours.append(Neighbour(other.content, relation, href))
    return charts.draw_graph("What it is linked to", neighbours) if neighbours else None


def _draw_lifetime(frame: PageContext, record: Record, history: History) -> Chart:
    """How far this version was believed, from when it was recorded on."""
    decay = frame.profile.decay
    lost = decay_rate(record.permanence, record.source, decay)
    renewed = [
        one.at
        for one in history.events
        if one.action in (Action.CONFIRMED, Action.RESTORED)
        and any(change.memory_id == record.id for change in one.changes)
    ]
    starts = sorted({record.recorded_at, *(at for at in renewed if at > record.recorded_at)})
    stretches = [DecaySegment(at, record.confidence, lost) for at in starts]
    return charts.draw_lifetime(
        "Its life",
        stretches,
        frame.now,
        recall_at=decay.recall_at,
        ended=record.retired_at if record.status is not Status.ACTIVE else None,
    )
