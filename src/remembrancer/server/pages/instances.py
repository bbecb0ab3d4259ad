"""Instances: the memories of one bot at a time, made and deleted by hand."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from fastapi import APIRouter
from starlette.responses import RedirectResponse, Response

from remembrancer.errors import InvalidInput, ScopeRequired
from remembrancer.memory import Memory
from remembrancer.server.deps import memory_of
from remembrancer.server.pages.filters import asked
from remembrancer.server.pages.forms import Form, Sent, back
from remembrancer.server.pages.page_context import Frame, Framed
from remembrancer.server.pages.warnings import embedder_warning
from remembrancer.types import GLOBAL, Kind

router = APIRouter()

PAGE = 20


@router.get("/instances")
def instances(frame: Framed, instance: str = "") -> Response:
    """One instance's memories; without one, which there are."""
    warning = embedder_warning(frame.engine.settings)
    names = _names(frame)
    if not instance.strip():
        return frame.show("instances.html", "Instances", names=names, warning=warning)
    me, wanted = memory_of(frame.engine, frame.caller, instance), asked(frame.request.query_params)
    frame.agent = instance
    narrowing: dict[str, Any] = {"categories": [wanted.category]} if wanted.category else {}
    page = me.list(
        kinds=[Kind.FACT],
        minimum_importance=0,
        limit=PAGE,
        cursor=wanted.cursor or None,
        **narrowing,
    )
    return frame.show(
        "instance.html",
        instance,
        instance=instance,
        names=names,
        warning=warning,
        wanted=wanted,
        cards=[frame.card(one, me) for one in page.items],
        categories=list(frame.profile.categories),
        most=frame.profile.importance.max,
        final=frame.profile.deletion.mode == "hard",
        cursor=page.cursor,
    )


def _names(frame: Frame) -> list[tuple[str, int]]:
    """The instances there are, and how much each of them remembers."""
    if frame.caller.agent is not None:
        return [(frame.caller.agent, 0)]
    counts = frame.engine.for_principal(frame.caller).scopes()
    for name in frame.engine.settings.agents:
        counts.setdefault(name, 0)
    return sorted((name, count) for name, count in counts.items() if name != GLOBAL)


def _memory(frame: Frame, form: Form) -> Memory:
    if not form.get("instance"):
        raise ScopeRequired("Choose an instance first.")
    return memory_of(frame.engine, frame.caller, form.get("instance"))


@router.post("/instances/new")
def create(frame: Framed, form: Sent) -> Response:
    """Make a memory by hand; the instance knows it on the next turn."""
    details: dict[str, Any] = {
        "category": form.get("category") or None,
        "importance": form.number("importance"),
    }
    said = {name: value for name, value in details.items() if value is not None}
    done = _memory(frame, form).remember(form.get("content"), **said)
    return back(form, done if done.event else "known")


@router.post("/instances/delete")
def delete(frame: Framed, form: Sent) -> Response:
    """Delete the memories that are ticked."""
    ids = form.all("id")
    if not ids:
        raise InvalidInput("Nothing is ticked: choose what is to be deleted.")
    return back(form, _memory(frame, form).delete_many(ids))


@router.post("/instances")
def open_instance(form: Sent) -> Response:
    """Go to an instance by its name, one that has no memories yet included."""
    return RedirectResponse(f"/instances?instance={quote(form.get('instance'), safe='')}", 303)
