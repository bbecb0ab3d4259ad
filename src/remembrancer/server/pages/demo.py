"""Starts and ends a demo in the browser."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.background import BackgroundTask
from starlette.responses import RedirectResponse, Response

from remembrancer.errors import NotFound
from remembrancer.server.cookies import DEMO_COOKIE, SESSION_COOKIE, set_secret_cookie
from remembrancer.server.demos import DEMO_HOURS
from remembrancer.server.pages.forms import SubmittedForm
from remembrancer.server.pages.page_context import CurrentPage

router = APIRouter()


@router.post("/demo")
def enter(context: CurrentPage, form: SubmittedForm) -> Response:
    """Start a demo for this browser, in a store of its own."""
    demos = context.request.app.state.demos
    if demos is None:
        raise NotFound("This server has no demo. Start one with `rem demo`.")
    response = RedirectResponse("/memory", 303)
    set_secret_cookie(response, context.request, DEMO_COOKIE, demos.start(), DEMO_HOURS)
    return response


@router.post("/demo/leave")
def leave(context: CurrentPage, form: SubmittedForm) -> Response:
    """End the demo of this browser and delete its data."""
    end = context.request.app.state.leave
    if end is None:
        raise NotFound("This browser is not in a demo.")
    delete = BackgroundTask(end, context.request.cookies.get(SESSION_COOKIE, ""))
    response = RedirectResponse("/memory", 303, background=delete)
    response.delete_cookie(SESSION_COOKIE, path="/")
    return response
