"""The pages of isolated instances: each shows and edits the memories of one instance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import quote

from fastapi import APIRouter
from starlette.responses import RedirectResponse, Response

from remembrancer.access.instances import ADMIN_CAPABILITY
from remembrancer.errors import InvalidInput, ScopeRequired
from remembrancer.memory import Memory
from remembrancer.server.deps import get_agent_memory
from remembrancer.server.instance_memories import (
    find_live,
    list_conversations,
    list_created,
    list_facts,
    remember_fact,
    search_facts,
)
from remembrancer.server.pages.cards import Card
from remembrancer.server.pages.embedder_check import find_embedder_warning
from remembrancer.server.pages.filters import MAX_SEARCH_RESULTS, PageFilters, parse_filters
from remembrancer.server.pages.forms import Form, SubmittedForm, redirect_back
from remembrancer.server.pages.page_context import CurrentPage, PageContext
from remembrancer.types import GLOBAL_SCOPE, Fact, Page

router = APIRouter()

PAGE_SIZE = 20


@dataclass(frozen=True, slots=True)
class InstanceEntry:
    """An instance in the list."""

    name: str
    count: int
    memory_enabled: bool
    is_open: bool


@router.get("/instances")
def show_instances(context: CurrentPage, instance: str = "") -> Response:
    """The memories of one instance; without a name, the list of instances."""
    if instance.strip():
        return _show_instance(context, instance)
    entries = [_build_entry(context, name) for name in _list_names(context)]
    is_needed = not entries or any(one.memory_enabled for one in entries)
    warning = find_embedder_warning(context.engine.settings) if is_needed else None
    return context.render("instances.html", "Instances", entries=entries, warning=warning)


def _show_instance(context: PageContext, instance: str) -> Response:
    context.agent = instance
    me = context.me
    settings = context.engine.instance_settings(context.caller, instance)
    filters = parse_filters(context)
    page = _find_facts(me, filters)
    engine = context.engine
    return context.render(
        "instance.html",
        instance,
        instance=instance,
        names=_list_names(context),
        settings=settings,
        admin=context.has_capability(ADMIN_CAPABILITY),
        warning=find_embedder_warning(engine.settings) if settings.memory_enabled else None,
        filters=filters,
        cards=_build_cards(context, page.items),
        categories=list(context.profile.categories),
        most=context.profile.importance.max,
        cursor=page.cursor,
    )


def _find_facts(me: Memory, filters: PageFilters) -> Page[Fact]:
    options: dict[str, Any] = {"categories": [filters.category]} if filters.category else {}
    if filters.q:
        return Page(tuple(search_facts(me, filters.q, limit=MAX_SEARCH_RESULTS, **options)))
    return list_facts(me, limit=PAGE_SIZE, cursor=filters.cursor or None, **options)


def _build_cards(context: PageContext, facts: Sequence[Fact]) -> list[Card]:
    """The cards with the time of creation, and without links to conversations that are gone."""
    created, known = list_created(context.me, facts), list_conversations(context.me, facts)
    return [
        replace(
            card,
            recorded_at=created[fact.lineage],
            session_href=card.session_href if fact.session_id in known else "",
        )
        for fact, card in zip(facts, context.build_cards(facts), strict=True)
    ]


def _list_names(context: PageContext) -> list[str]:
    """The instances that the caller can use, and those whose memories belong to the caller."""
    own = context.engine.for_principal(context.caller).scopes().keys() - {GLOBAL_SCOPE}
    return sorted({*context.engine.list_instances(context.caller), *own})


def _build_entry(context: PageContext, name: str) -> InstanceEntry:
    settings = context.engine.instance_settings(context.caller, name)
    count = get_agent_memory(context.engine, context.caller, name).scopes().get(name, 0)
    return InstanceEntry(name, count, settings.memory_enabled, settings.members is None)


def _open_memory(context: PageContext, form: Form) -> Memory:
    if not form.get("instance"):
        raise ScopeRequired("Choose an instance first.")
    context.agent = form.get("instance")
    return context.me


@router.post("/instances/new")
def create_memory(context: CurrentPage, form: SubmittedForm) -> Response:
    done = remember_fact(
        _open_memory(context, form),
        form.get("content"),
        source_conversation=form.get("source") or None,
        category=form.get("category") or None,
        importance=form.get_number("importance"),
    )
    return redirect_back(form, done if done.event else "known")


@router.post("/instances/delete")
def delete_memories(context: CurrentPage, form: SubmittedForm) -> Response:
    """Delete one memory or those that are selected; asks first if that is final."""
    ids = form.get_all("only") or form.get_all("id")
    if not ids:
        raise InvalidInput("Nothing is selected. Select the memories to delete.")
    me = _open_memory(context, form)
    facts = {one.lineage: one for one in (find_live(me, id) for id in ids)}
    if context.profile.deletion.mode == "hard" and not form.get("sure"):
        context.return_path = (
            form.get("back") or f"/instances?instance={quote(context.agent or '')}"
        )
        return context.render(
            "instance_delete.html", "Delete memories", instance=context.agent, facts=facts
        )
    return redirect_back(form, me.delete_many([one.id for one in facts.values()]))


@router.post("/instances/settings")
def change_settings(context: CurrentPage, form: SubmittedForm) -> Response:
    """Change whether an instance has a memory, and who can use it."""
    users = [line.strip() for line in form.get("members").splitlines() if line.strip()]
    is_open = form.get("access") == "open"
    context.engine.change_instance(
        context.caller,
        form.get("instance"),
        memory_enabled=bool(form.get("memory")),
        members=None if is_open else users,
        is_open=is_open,
    )
    return redirect_back(form, "saved")


@router.post("/instances")
def open_instance(form: SubmittedForm) -> Response:
    """Redirect to an instance by name, even if it has no memories yet."""
    return RedirectResponse(f"/instances?instance={quote(form.get('instance'), safe='')}", 303)
