"""Settings: the live switches, keys, what runs when, whether all is well, and the way out."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from starlette.responses import Response

from remembrancer.doctor import examine
from remembrancer.errors import InvalidInput, NotAllowed
from remembrancer.server import schemas
from remembrancer.server.middleware.auth import COOKIE
from remembrancer.server.pages.forms import Form, Sent, back
from remembrancer.server.pages.page_context import Frame, Framed
from remembrancer.server.pages.team import confirm_name
from remembrancer.server.pages.warnings import embedder_warning
from remembrancer.team.review import EDIT, VIEW, Review
from remembrancer.types import Key

router = APIRouter()

SURFACES = ("web", "rest", "cli", "mcp", "telegram", "anonymous")
LEARNING = ("personal_learning", "team_learning")
NUMBERS = ("dedup_threshold", "recall_confidence")


@router.get("/settings")
def settings(frame: Framed) -> Response:
    """What holds here: the live switches, the profile and the models."""
    return frame.show(
        "settings.html",
        "Settings",
        switches=_desk(frame).switches() if frame.may(VIEW) else None,
        surfaces=SURFACES,
        edit=EDIT,
        settings=frame.engine.settings,
        profile=frame.profile,
        model=frame.engine.model,
        warning=embedder_warning(frame.engine.settings),
        jobs=frame.engine.schedule(),
    )


def _desk(frame: Frame) -> Review:
    owner = frame.caller.owner
    return frame.engine.review(
        owner.user, tenant=owner.tenant, capabilities=frame.caller.capabilities
    )


@router.post("/settings/switches")
def switch(frame: Framed, form: Sent) -> Response:
    """Turn the live switches; every process goes by them within a second."""
    changes: dict[str, Any] = {name: bool(form.get(name)) for name in LEARNING}
    told = set(form.all("team_recall"))
    changes["team_recall"] = {surface: surface in told for surface in SURFACES}
    promote = form.number("promote_at")
    changes["promote_at"] = int(promote) if promote else None
    for name in NUMBERS:
        changes[name] = _required(form, name)
    changes["limit"] = int(_required(form, "limit"))
    _desk(frame).switch(**changes)
    return back(form, "saved")


def _required(form: Form, name: str) -> float:
    number = form.number(name)
    if number is None:
        raise InvalidInput(f"{name}: give a number.")
    return number


@router.post("/settings/jobs/{job}")
def run_job(frame: Framed, job: schemas.Name, form: Sent) -> Response:
    """Do a job now, for the people of one's own tenant."""
    if not frame.may(EDIT):
        raise NotAllowed(f"This needs the capability {EDIT}.")
    frame.engine.run_job(job, tenant=frame.caller.owner.tenant)
    return back(form, "ran")


@router.get("/settings/keys")
def keys(frame: Framed) -> Response:
    """What opens this memory."""
    return frame.show("keys.html", "Keys", keys=_keys(frame), made=None)


def _keys(frame: Frame) -> list[Key]:
    own = frame.engine.list_keys(frame.caller.owner)
    return [one for one in own if frame.caller.agent in (None, one.agent)]


@router.post("/settings/keys")
def create_key(frame: Framed, form: Sent) -> Response:
    """Make a key, and tell its secret this once."""
    agent = form.get("agent") or frame.caller.agent
    if frame.caller.agent not in (None, agent):
        raise NotAllowed(f"This key is for the agent {frame.caller.agent!r} alone.")
    owner = frame.caller.owner
    made = frame.engine.create_key(
        owner.user, tenant=owner.tenant, agent=agent, label=form.get("label") or None
    )
    return frame.show("keys.html", "Keys", keys=_keys(frame), made=made)


@router.post("/settings/keys/{id}/revoke")
def revoke_key(frame: Framed, id: schemas.Name, form: Sent) -> Response:
    """Let a key open nothing any more."""
    own = {one.id for one in _keys(frame)}
    frame.engine.revoke_key(id if id in own else "", frame.caller.owner)
    return back(form, "revoked")


@router.get("/settings/checks")
def checks(frame: Framed) -> Response:
    """Whether everything works, as `rem doctor` says."""
    if not frame.may(VIEW):
        raise NotAllowed(f"This needs the capability {VIEW}.")
    vanishing = frame.engine.health().place == "memory"
    findings = examine(lambda: frame.engine.settings, vanishing=vanishing)
    return frame.show("checks.html", "Checks", findings=findings)


@router.get("/settings/erase")
def inventory(frame: Framed) -> Response:
    """What there is of whoever looks, before they decide."""
    owner = frame.caller.owner
    there = frame.engine.inventory(owner.user, tenant=owner.tenant)
    return frame.show("erase.html", "Erase me", there=there)


@router.post("/settings/erase")
def erase(frame: Framed, form: Sent) -> Response:
    """Remove everything of whoever asks, and hand over the receipt: the session ends with it."""
    owner = frame.caller.owner
    if frame.caller.agent is not None:
        raise NotAllowed("An agent cannot erase the person it acts for.")
    confirm_name(form, owner.user)
    receipt = frame.engine.erase(owner.user, tenant=owner.tenant)
    answer = frame.show("receipt.html", "Erased", receipt=receipt, own=True)
    answer.delete_cookie(COOKIE, path="/")
    return answer
