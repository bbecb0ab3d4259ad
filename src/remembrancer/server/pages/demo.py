"""Into a demo and out of it again."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.background import BackgroundTask
from starlette.responses import RedirectResponse, Response

from remembrancer.errors import NotFound
from remembrancer.server.middleware.auth import SESSION_COOKIE, set_secret_cookie
from remembrancer.server.middleware.demo import DEMO_COOKIE, DEMO_HOURS
from remembrancer.server.pages.forms import SubmittedForm
from remembrancer.server.pages.page_context import CurrentPage

router = APIRouter()


@router.post("/demo")
def enter(frame: CurrentPage, form: SubmittedForm) -> Response:
    """Open a demo for this browser; nothing of it gets into the store of whoever asks."""
    demos = frame.request.app.state.demos
    if demos is None:
        raise NotFound("There is no demo to open here; `rem demo` starts one.")
    answer = RedirectResponse("/memory", 303)
    set_secret_cookie(answer, frame.request, DEMO_COOKIE, demos.start(), DEMO_HOURS)
    return answer


@router.post("/demo/leave")
def leave(frame: CurrentPage, form: SubmittedForm) -> Response:
    """Let the demo vanish that this browser is in."""
    end = frame.request.app.state.leave
    if end is None:
        raise NotFound("This is no demo that can be left.")
    vanish = BackgroundTask(end, frame.request.cookies.get(SESSION_COOKIE, ""))
    answer = RedirectResponse("/memory", 303, background=vanish)
    answer.delete_cookie(SESSION_COOKIE, path="/")
    return answer
