"""The pages of isolated instances: each shows and edits the memories of one instance."""

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
def show_instances(context: CurrentPage, instance: str = "") -> Response:
    """The memories of one instance; without a name, the list of instances."""
    warning = find_embedder_warning(context.engine.settings)
    names = _list_instances(context)
    if not instance.strip():
        return context.render("instances.html", "Instances", names=names, warning=warning)
    context.agent = instance
    filters = parse_filters(context)
    options: dict[str, Any] = {"categories": [filters.category]} if filters.category else {}
    page = context.me.list(
        kinds=[Kind.FACT],
        minimum_importance=0,
        limit=PAGE_SIZE,
        cursor=filters.cursor or None,
        **options,
    )
    return context.render(
        "instance.html",
        instance,
        instance=instance,
        names=names,
        warning=warning,
        filters=filters,
        cards=context.build_cards(page.items),
        categories=list(context.profile.categories),
        most=context.profile.importance.max,
        final=context.profile.deletion.mode == "hard",
        cursor=page.cursor,
    )


def _list_instances(context: PageContext) -> list[tuple[str, int]]:
    """The instances and the number of memories of each."""
    if context.caller.agent is not None:
        return [(context.caller.agent, 0)]
    counts = context.engine.for_principal(context.caller).scopes()
    for name in context.engine.settings.agents:
        counts.setdefault(name, 0)
    return sorted((name, count) for name, count in counts.items() if name != GLOBAL_SCOPE)


def _open_memory(context: PageContext, form: Form) -> Memory:
    if not form.get("instance"):
        raise ScopeRequired("Choose an instance first.")
    return get_agent_memory(context.engine, context.caller, form.get("instance"))


@router.post("/instances/new")
def create_memory(context: CurrentPage, form: SubmittedForm) -> Response:
    details: dict[str, Any] = {
        "category": form.get("category") or None,
        "importance": form.get_number("importance"),
    }
    given = {name: value for name, value in details.items() if value is not None}
    done = _open_memory(context, form).remember(form.get("content"), **given)
    return redirect_back(form, done if done.event else "known")


@router.post("/instances/delete")
def delete_memories(context: CurrentPage, form: SubmittedForm) -> Response:
    ids = form.get_all("id")
    if not ids:
        raise InvalidInput("Nothing is selected. Select the memories to delete.")
    return redirect_back(form, _open_memory(context, form).delete_many(ids))


@router.post("/instances")
def open_instance(form: SubmittedForm) -> Response:
    """Redirect to an instance by name, even if it has no memories yet."""
    return RedirectResponse(f"/instances?instance={quote(form.get('instance'), safe='')}", 303)
