"""Settings: the live switches, keys, what runs when, whether all is well, and the way out."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from starlette.responses import Response

from remembrancer.doctor import run_checks
from remembrancer.errors import InvalidInput, NotAllowed
from remembrancer.server import schemas
from remembrancer.server.middleware.auth import SESSION_COOKIE
from remembrancer.server.pages.embedder_check import find_embedder_warning
from remembrancer.server.pages.forms import Form, SubmittedForm, redirect_back
from remembrancer.server.pages.page_context import CurrentPage, PageContext
from remembrancer.server.pages.team import confirm_name
from remembrancer.team.review import EDIT_CAPABILITY, VIEW_CAPABILITY, Review
from remembrancer.types import Key

router = APIRouter()

SURFACES = ("web", "rest", "cli", "mcp", "telegram", "anonymous")
LEARNING_FIELDS = ("personal_learning", "team_learning")
NUMBER_FIELDS = ("dedup_threshold", "recall_confidence")


@router.get("/settings")
def show_settings(frame: CurrentPage) -> Response:
    """What holds here: the live switches, the profile and the models."""
    return frame.render(
        "settings.html",
        "Settings",
        switches=_open_review(frame).settings() if frame.has_capability(VIEW_CAPABILITY) else None,
        surfaces=SURFACES,
        edit=EDIT_CAPABILITY,
        settings=frame.engine.settings,
        profile=frame.profile,
        model=frame.engine.embedding_model,
        warning=find_embedder_warning(frame.engine.settings),
        jobs=frame.engine.schedule(),
    )


def _open_review(frame: PageContext) -> Review:
    owner = frame.caller.owner
    return frame.engine.review(
        owner.user, tenant=owner.tenant, capabilities=frame.caller.capabilities
    )


@router.post("/settings/switches")
def save_live_settings(frame: CurrentPage, form: SubmittedForm) -> Response:
    """Turn the live switches; every process goes by them within a second."""
    changes: dict[str, Any] = {name: bool(form.get(name)) for name in LEARNING_FIELDS}
    told = set(form.get_all("team_recall"))
    changes["team_recall"] = {surface: surface in told for surface in SURFACES}
    promote = form.get_number("promote_at")
    changes["promote_at"] = int(promote) if promote else None
    for name in NUMBER_FIELDS:
        changes[name] = _get_required_number(form, name)
    changes["limit"] = int(_get_required_number(form, "limit"))
    _open_review(frame).change_settings(**changes)
    return redirect_back(form, "saved")


def _get_required_number(form: Form, name: str) -> float:
    number = form.get_number(name)
    if number is None:
        raise InvalidInput(f"{name}: give a number.")
    return number


@router.post("/settings/jobs/{job}")
def run_job(frame: CurrentPage, job: schemas.Name, form: SubmittedForm) -> Response:
    """Do a job now, for the people of one's own tenant."""
    if not frame.has_capability(EDIT_CAPABILITY):
        raise NotAllowed(f"This needs the capability {EDIT_CAPABILITY}.")
    frame.engine.run_job(job, tenant=frame.caller.owner.tenant)
    return redirect_back(form, "ran")


@router.get("/settings/keys")
def show_keys(frame: CurrentPage) -> Response:
    """What opens this memory."""
    return frame.render("keys.html", "Keys", keys=_list_keys(frame), made=None)


def _list_keys(frame: PageContext) -> list[Key]:
    own = frame.engine.list_keys(frame.caller.owner)
    return [one for one in own if frame.caller.agent in (None, one.agent)]


@router.post("/settings/keys")
def create_key(frame: CurrentPage, form: SubmittedForm) -> Response:
    """Make a key, and tell its secret this once."""
    agent = form.get("agent") or frame.caller.agent
    if frame.caller.agent not in (None, agent):
        raise NotAllowed(f"This key is for the agent {frame.caller.agent!r} alone.")
    owner = frame.caller.owner
    made = frame.engine.create_key(
        owner.user, tenant=owner.tenant, agent=agent, label=form.get("label") or None
    )
    return frame.render("keys.html", "Keys", keys=_list_keys(frame), made=made)


@router.post("/settings/keys/{id}/revoke")
def revoke_key(frame: CurrentPage, id: schemas.Name, form: SubmittedForm) -> Response:
    """Let a key open nothing any more."""
    own = {one.id for one in _list_keys(frame)}
    frame.engine.revoke_key(id if id in own else "", frame.caller.owner)
    return redirect_back(form, "revoked")


@router.get("/settings/checks")
def show_checks(frame: CurrentPage) -> Response:
    """Whether everything works, as `rem doctor` says."""
    if not frame.has_capability(VIEW_CAPABILITY):
        raise NotAllowed(f"This needs the capability {VIEW_CAPABILITY}.")
    vanishing = frame.engine.health().place == "memory"
    findings = run_checks(lambda: frame.engine.settings, in_memory=vanishing)
    return frame.render("checks.html", "Checks", findings=findings)


@router.get("/settings/erase")
def show_inventory(frame: CurrentPage) -> Response:
    """What there is of whoever looks, before they decide."""
    owner = frame.caller.owner
    there = frame.engine.inventory(owner.user, tenant=owner.tenant)
    return frame.render("erase.html", "Erase me", there=there)


@router.post("/settings/erase")
def erase_self(frame: CurrentPage, form: SubmittedForm) -> Response:
    """Remove everything of whoever asks, and hand over the receipt: the session ends with it."""
    owner = frame.caller.owner
    if frame.caller.agent is not None:
        raise NotAllowed("An agent cannot erase the person it acts for.")
    confirm_name(form, owner.user)
    receipt = frame.engine.erase(owner.user, tenant=owner.tenant)
    answer = frame.render("receipt.html", "Erased", receipt=receipt, own=True)
    answer.delete_cookie(SESSION_COOKIE, path="/")
    return answer
