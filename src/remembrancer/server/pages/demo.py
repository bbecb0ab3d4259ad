"""Into a demo and out of it again."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.background import BackgroundTask
from starlette.responses import RedirectResponse, Response

from remembrancer.errors import NotFound
from remembrancer.server.middleware.auth import COOKIE, keep_secret
from remembrancer.server.middleware.demo import DEMO, HOURS
from remembrancer.server.pages.forms import Sent
from remembrancer.server.pages.page_context import Framed

router = APIRouter()


@router.post("/demo")
def enter(frame: Framed, form: Sent) -> Response:
    """Open a demo for this browser; nothing of it gets into the store of whoever asks."""
    demos = frame.request.app.state.demos
    if demos is None:
        raise NotFound("There is no demo to open here; `rem demo` starts one.")
    answer = RedirectResponse("/memory", 303)
    keep_secret(answer, frame.request, DEMO, demos.start(), HOURS)
    return answer


@router.post("/demo/leave")
def leave(frame: Framed, form: Sent) -> Response:
    """Let the demo vanish that this browser is in."""
    end = frame.request.app.state.leave
    if end is None:
        raise NotFound("This is no demo that can be left.")
    vanish = BackgroundTask(end, frame.request.cookies.get(COOKIE, ""))
    answer = RedirectResponse("/memory", 303, background=vanish)
    answer.delete_cookie(COOKIE, path="/")
    return answer
