"""The settings pages: live settings, jobs, API keys, health checks and erasure."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Depends
from starlette.responses import Response

from remembrancer.access.account_links import LinkCode
from remembrancer.access.keys import NewKey
from remembrancer.doctor import run_checks
from remembrancer.errors import InvalidInput, NotAllowed
from remembrancer.integrations.hooks.session_episode import CLIENT_NAMES
from remembrancer.server import schemas, telegram
from remembrancer.server.cookies import SESSION_COOKIE
from remembrancer.server.deps import TeamReview, require_edit, require_view
from remembrancer.server.pages.embedder_check import find_embedder_warning
from remembrancer.server.pages.forms import Form, SubmittedForm, redirect_back
from remembrancer.server.pages.page_context import CurrentPage, PageContext, list_zone_names
from remembrancer.server.pages.team import confirm_name
from remembrancer.server.routes.keys import list_manageable_keys, revoke_manageable_key
from remembrancer.team.review import EDIT_CAPABILITY, VIEW_CAPABILITY
from remembrancer.team.settings import ANONYMOUS, TeamSettings

router = APIRouter()

SURFACES = {
    "web": "Web",
    "rest": "REST API",
    "cli": "Terminal",
    "mcp": "MCP",
    "telegram": "Telegram",
    **CLIENT_NAMES,
    "langgraph": "LangGraph",
    "library": "Library",
    ANONYMOUS: "Anonymous calls",
}
LEARNING_FIELDS = ("personal_learning", "team_learning")
NUMBER_FIELDS = ("dedup_threshold", "recall_confidence")


@router.get("/settings")
def show_settings(context: CurrentPage) -> Response:
    return _render_settings(context)


@router.post("/settings/link-code")
def create_link_code(context: CurrentPage, form: SubmittedForm) -> Response:
    """Create a code that links a Telegram chat, and show it."""
    created = telegram.create_link_code(context.engine, context.caller)
    return _render_settings(context, created, telegram.find_bot_name(context.engine))


def _render_settings(
    context: PageContext, link_code: LinkCode | None = None, bot: str | None = None
) -> Response:
    return context.render(
        "settings.html",
        "Settings",
        switches=_load_live_settings(context),
        surfaces=SURFACES,
        edit=EDIT_CAPABILITY,
        settings=context.engine.settings,
        profile=context.profile,
        model=context.engine.embedding_model,
        warning=find_embedder_warning(context.engine.settings),
        jobs=context.engine.schedule(),
        own_zone=context.engine.find_own_time_zone(context.caller.owner),
        zones=sorted(list_zone_names()),
        link_code=link_code,
        bot=bot,
    )


def _load_live_settings(context: PageContext) -> TeamSettings | None:
    """The live settings; None for users who must not see them."""
    if not context.has_capability(VIEW_CAPABILITY):
        return None
    caller = context.caller
    return context.engine.review(
        caller.owner.user, tenant=caller.owner.tenant, capabilities=caller.capabilities
    ).settings()


@router.post("/settings/switches")
def save_live_settings(context: CurrentPage, review: TeamReview, form: SubmittedForm) -> Response:
    """Save the live settings; every process reads them within a second."""
    changes: dict[str, Any] = {name: bool(form.get(name)) for name in LEARNING_FIELDS}
    if not context.profile.team.enabled:
        review.change_settings(personal_learning=changes["personal_learning"])
        return redirect_back(form, "saved")
    checked = set(form.get_all("team_recall"))
    changes["team_recall"] = {surface: surface in checked for surface in SURFACES}
    promote = form.get_number("promote_at")
    changes["promote_at"] = int(promote) if promote else None
    for name in NUMBER_FIELDS:
        changes[name] = _get_required_number(form, name)
    changes["limit"] = int(_get_required_number(form, "limit"))
    review.change_settings(**changes)
    return redirect_back(form, "saved")


@router.post("/settings/time-zone")
def save_time_zone(context: CurrentPage, form: SubmittedForm) -> Response:
    """Set the user's own time zone; an empty one takes that of the browser or the server."""
    context.me.set_time_zone(form.get("time_zone") or None)
    return redirect_back(form, "saved")


def _get_required_number(form: Form, name: str) -> float:
    number = form.get_number(name)
    if number is None:
        raise InvalidInput(f"{name}: enter a number.")
    return number


@router.post("/settings/jobs/{job}", dependencies=[Depends(require_edit)])
def run_job(context: CurrentPage, job: schemas.Name, form: SubmittedForm) -> Response:
    """Run a job now, for the caller's tenant only."""
    context.engine.run_job(job, tenant=context.caller.owner.tenant)
    return redirect_back(form, "ran")


@router.get("/settings/keys")
def show_keys(context: CurrentPage) -> Response:
    return _render_keys(context, None)


def _render_keys(context: PageContext, created: NewKey | None) -> Response:
    keys = list_manageable_keys(context.engine, context.caller)
    return context.render("keys.html", "API keys", keys=keys, created=created)


@router.post("/settings/keys")
def create_key(context: CurrentPage, form: SubmittedForm) -> Response:
    """Create a key and show its secret, this once."""
    agent = form.get("agent") or context.caller.agent
    if context.caller.agent not in (None, agent):
        raise NotAllowed(f"Your key is limited to the agent {context.caller.agent!r}.")
    owner = context.caller.owner
    created = context.engine.create_key(
        owner.user, tenant=owner.tenant, agent=agent, label=form.get("label") or None
    )
    return _render_keys(context, created)


@router.post("/settings/keys/{id}/revoke")
def revoke_key(context: CurrentPage, id: schemas.Name, form: SubmittedForm) -> Response:
    revoke_manageable_key(context.engine, context.caller, id)
    return redirect_back(form, "revoked")


@router.get("/settings/checks", dependencies=[Depends(require_view)])
def show_checks(context: CurrentPage) -> Response:
    """The results of `rem doctor`."""
    in_memory = context.engine.health().place == "memory"
    results = run_checks(lambda: context.engine.settings, in_memory=in_memory)
    return context.render("checks.html", "Health checks", results=results)


@router.get("/settings/erase")
def show_inventory(context: CurrentPage) -> Response:
    """The amount of stored data, shown before erasure."""
    owner = context.caller.owner
    inventory = context.engine.inventory(owner.user, tenant=owner.tenant)
    return context.render("erase.html", "Erase my data", inventory=inventory)


@router.post("/settings/erase")
def erase_self(context: CurrentPage, form: SubmittedForm) -> Response:
    """Erase all data of the caller and show the receipt; without an account the session ends."""
    owner = context.caller.owner
    if context.caller.agent is not None:
        raise NotAllowed("An agent cannot erase its user. Sign in as the user.")
    confirm_name(form, owner.user)
    keep_account = bool(form.get("keep_account"))
    receipt = context.engine.erase(owner.user, tenant=owner.tenant, keep_account=keep_account)
    response = context.render("receipt.html", "Erased", receipt=receipt, own=True)
    if not keep_account:
        response.delete_cookie(SESSION_COOKIE, path="/")
    return response
