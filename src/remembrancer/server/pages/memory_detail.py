"""The page of one memory: its source, versions, links and history, and its actions."""

from __future__ import annotations

from collections.abc import Callable

from fastapi import APIRouter
from starlette.responses import Response

from remembrancer.decay import decay_rate, predict_drop_below
from remembrancer.errors import NotFound
from remembrancer.maintenance.simulate import forecast
from remembrancer.memory import Memory
from remembrancer.remember.doubt import describe_doubt
from remembrancer.server import schemas
from remembrancer.server.pages import charts
from remembrancer.server.pages.activity_feed import build_entry
from remembrancer.server.pages.charts import Chart, DecaySegment, Neighbour
from remembrancer.server.pages.forms import Form, SubmittedForm, redirect_back
from remembrancer.server.pages.memory_source import build_source
from remembrancer.server.pages.page_context import CurrentPage, PageContext, PastPage
from remembrancer.server.routes.kinds import get_record
from remembrancer.text_format import pluralize
from remembrancer.types import (
    Action,
    Event,
    History,
    Link,
    Record,
    Relation,
    Source,
    Status,
    Written,
)

router = APIRouter()

RELATION_LABELS = {
    Relation.DERIVED_FROM: ("comes from", "led to"),
    Relation.SUPPORTS: ("supports", "supported by"),
    Relation.CONTRADICTS: ("contradicts", "contradicted by"),
    Relation.SUPERSEDES: ("replaces", "replaced by"),
    Relation.RELATED_TO: ("related to", "related to"),
}
"""The label of a relation on the page of its source, and of its target."""


ACTIONS: dict[str, Callable[[Memory, str, Form], Written]] = {
    "confirm": lambda me, memory_id, _: me.confirm(memory_id),
    "forget": lambda me, memory_id, _: me.forget(memory_id),
    "restore": lambda me, memory_id, _: me.restore(memory_id),
    "delete": lambda me, memory_id, _: me.delete(memory_id),
    "promote": lambda me, memory_id, _: me.promote(memory_id),
    "demote": lambda me, memory_id, _: me.demote(memory_id),
    "disable": lambda me, memory_id, _: me.disable(memory_id),
    "helpful": lambda me, memory_id, _: me.helpful(memory_id),
    "harmful": lambda me, memory_id, form: me.harmful(memory_id, form.get("reason") or None),
    "edit": lambda me, memory_id, form: me.update(memory_id, form.get("content")),
}


@router.get("/memory/{id}")
def show_memory(context: PastPage, id: schemas.Name, part: str = "", edit: str = "") -> Response:
    """One memory; `part=drawer` renders it without the layout."""
    record, history = _load_memory(context, id)
    ends = {end for link in history.links for end in (link.source, link.target)}
    linked = context.load_memories(ends - {record.id})
    newer = [version for version in history.versions if version.supersedes == record.id]
    template = "drawer.html" if part == "drawer" else "memory.html"
    return context.render(
        template,
        record.content[:60],
        card=context.build_card(record),
        record=record,
        reasons=_build_reasons(context, record, history),
        source=build_source(context, record, history.links),
        versions=context.build_cards(history.versions),
        newer=newer[-1] if newer else None,
        links=_draw_links(context, record, history.links, linked),
        rules=[context.build_card(other) for other in linked.values() if other.kind == "rule"],
        life=_draw_lifetime(context, record, history),
        events=[
            build_entry(context, event, None)
            for event in reversed(history.events)
            if _is_informative(event)
        ],
        applications=list(reversed(history.applications)),
        edit=bool(edit),
    )


def _load_memory(context: PageContext, memory_id: str) -> tuple[Record, History]:
    """A memory with its history; on a day in the past, the version that was known on that day."""
    record = get_record(context.me, memory_id)
    if context.past is None:
        return record, context.me.history(memory_id)
    history = context.me.history(memory_id, as_of=context.past.as_of)
    if not history.versions:
        raise NotFound("This memory was not known on that day.")
    for version in history.versions:
        if version.id == memory_id:
            return version, history
    latest = history.versions[-1]
    return latest, context.me.history(latest.id, as_of=context.past.as_of)


@router.post("/memory/{id}/{verb}")
def change_memory(
    context: CurrentPage, id: schemas.Name, verb: str, form: SubmittedForm
) -> Response:
    """Run an action on a memory and redirect to a page with an Undo toast."""
    if verb not in ACTIONS:
        raise NotFound("This action does not exist.")
    me = context.me
    written = ACTIONS[verb](me, get_record(me, id).id, form)
    to = f"{context.root}/memory/{written.memory.id}" if verb == "edit" else ""
    return redirect_back(form, written if written.event else "known", to)


def _is_informative(event: Event) -> bool:
    """False for feedback without a note: the list of feedback shows it already."""
    return event.action not in (Action.HELPED, Action.HARMED) or event.note is not None


def _build_reasons(context: PageContext, record: Record, history: History) -> list[str]:
    """Sentences on the use and the expected fading of a memory, and on doubts about it.

    How often it had been used by a day in the past is not known.
    """
    reasons = []
    confirmed = sum(event.action is Action.CONFIRMED for event in history.events)
    if confirmed:
        times = "once" if confirmed == 1 else f"{confirmed} times"
        reasons.append(f"Confirmed {times}, last {context.format_age(record.confirmed_at)}.")
    if context.past is None:
        reasons.append(_describe_use(context, record))
        if record.status is Status.ACTIVE:
            reasons.append(_describe_fading(context, record))
    if doubt := describe_doubt(record):
        reasons.append(f"{doubt} No assistant is told of it until you keep it.")
    return reasons


def _describe_use(context: PageContext, record: Record) -> str:
    if not record.recall_count or record.recalled_at is None:
        return "Never used in an answer."
    times = pluralize(record.recall_count, "time")
    return f"Used {times}, last {context.format_age(record.recalled_at)}."


def _describe_fading(context: PageContext, record: Record) -> str:
    ahead = forecast(record, context.profile.decay)
    if ahead.fades_at is None:
        return _describe_loading(context, record)
    if ahead.fades_at <= context.now:
        return "It is too uncertain to be used. Confirm it to keep it."
    return f"It will fade by {context.format_day(ahead.fades_at)} unless confirmed."


def _describe_loading(context: PageContext, record: Record) -> str:
    """Until when new chats start with a memory that is recalled at any confidence."""
    settings, decay = context.profile.context, context.profile.decay
    if settings.style != "hot_set" or record.source is Source.EXPLICIT:
        return "It never fades."
    until = predict_drop_below(record, decay, settings.inject_extracted_at)
    if until is None:
        return "It never fades."
    if until <= context.now:
        return "It is too uncertain for new chats to start with. It is recalled when needed."
    day = context.format_day(until)
    return f"New chats start with it until {day} unless confirmed. Then it is recalled when needed."


def _draw_links(
    context: PageContext, record: Record, links: tuple[Link, ...], linked: dict[str, Record]
) -> Chart | None:
    neighbours = []
    for link in links:
        outward = link.source == record.id
        other = linked.get(link.target if outward else link.source)
        if other is not None:
            relation = RELATION_LABELS[link.relation][0 if outward else 1]
            href = context.memory_url(other.id)
            neighbours.append(Neighbour(other.content, relation, href))
    return charts.draw_graph("Linked memories", neighbours) if neighbours else None


def _draw_lifetime(context: PageContext, record: Record, history: History) -> Chart:
    """The confidence of this version over time."""
    decay, settings = context.profile.decay, context.profile.context
    threshold = (
        ("recalled above", decay.recall_at)
        if decay.recall_at or settings.style != "hot_set"
        else ("in new chats above", settings.inject_extracted_at)
    )
    rate = decay_rate(record.permanence, record.source, decay)
    renewed = [
        event.at
        for event in history.events
        if event.action in (Action.CONFIRMED, Action.RESTORED)
        and any(change.memory_id == record.id for change in event.changes)
    ]
    starts = sorted({record.recorded_at, *(at for at in renewed if at > record.recorded_at)})
    segments = [DecaySegment(at, record.confidence, rate) for at in starts]
    return charts.draw_lifetime(
        "Confidence over time",
        segments,
        context.moment,
        context.zone,
        threshold=threshold,
        ended=record.retired_at if record.status is not Status.ACTIVE else None,
    )
