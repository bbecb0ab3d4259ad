"""Instances: the memories of one bot at a time, made and deleted by hand."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from fastapi import APIRouter
from starlette.responses import RedirectResponse, Response

from remembrancer.errors import InvalidInput, ScopeRequired
from remembrancer.memory import Memory
from remembrancer.server.deps import get_agent_memory
from remembrancer.server.pages.embedder_check import find_embedder_warning
from remembrancer.server.pages.filters import parse_filters
from remembrancer.server.pages.forms import Form, SubmittedForm, redirect_back
from remembrancer.server.pages.page_context import CurrentPage, PageContext
from remembrancer.types import GLOBAL_SCOPE, Kind

router = APIRouter()

PAGE_SIZE = 20


@router.get("/instances")
def show_instances(frame: CurrentPage, instance: str = "") -> Response:
    """One instance's memories; without one, which there are."""
    warning = find_embedder_warning(frame.engine.settings)
    names = _list_instances(frame)
    if not instance.strip():
        return frame.render("instances.html", "Instances", names=names, warning=warning)
    me, wanted = (
        get_agent_memory(frame.engine, frame.caller, instance),
        parse_filters(frame.request.query_params),
    )
    frame.agent = instance
    narrowing: dict[str, Any] = {"categories": [wanted.category]} if wanted.category else {}
    page = me.list(
        kinds=[Kind.FACT],
        minimum_importance=0,
        limit=PAGE_SIZE,
        cursor=wanted.cursor or None,
        **narrowing,
    )
    return frame.render(
        "instance.html",
        instance,
        instance=instance,
        names=names,
        warning=warning,
        wanted=wanted,
        cards=[frame.build_card(one, me) for one in page.items],
        categories=list(frame.profile.categories),
        most=frame.profile.importance.max,
        final=frame.profile.deletion.mode == "hard",
        cursor=page.cursor,
    )


def _list_instances(frame: PageContext) -> list[tuple[str, int]]:
    """The instances there are, and how much each of them remembers."""
    if frame.caller.agent is not None:
        return [(frame.caller.agent, 0)]
    counts = frame.engine.for_principal(frame.caller).scopes()
    for name in frame.engine.settings.agents:
        counts.setdefault(name, 0)
    return sorted((name, count) for name, count in counts.items() if name != GLOBAL_SCOPE)


def _open_memory(frame: PageContext, form: Form) -> Memory:
    if not form.get("instance"):
        raise ScopeRequired("Choose an instance first.")
    return get_agent_memory(frame.engine, frame.caller, form.get("instance"))


@router.post("/instances/new")
def create_memory(frame: CurrentPage, form: SubmittedForm) -> Response:
    """Make a memory by hand; the instance knows it on the next turn."""
    details: dict[str, Any] = {
        "category": form.get("category") or None,
        "importance": form.get_number("importance"),
    }
    said = {name: value for name, value in details.items() if value is not None}
    done = _open_memory(frame, form).remember(form.get("content"), **said)
    return redirect_back(form, done if done.event else "known")


@router.post("/instances/delete")
def delete_memories(frame: CurrentPage, form: SubmittedForm) -> Response:
    """Delete the memories that are ticked."""
    ids = form.get_all("id")
    if not ids:
        raise InvalidInput("Nothing is ticked: choose what is to be deleted.")
    return redirect_back(form, _open_memory(frame, form).delete_many(ids))


@router.post("/instances")
def open_instance(form: SubmittedForm) -> Response:
    """Go to an instance by its name, one that has no memories yet included."""
    return RedirectResponse(f"/instances?instance={quote(form.get('instance'), safe='')}", 303)
