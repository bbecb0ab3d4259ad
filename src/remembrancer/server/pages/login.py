"""Signs a browser in with a login link, whose code stands behind the `#`.

Browsers send nothing that stands behind a `#`: neither servers nor proxies log it, and fetching the
link in advance does not use it up. A script takes the code out of the address and posts it.
"""

from __future__ import annotations

from urllib.parse import parse_qsl

from fastapi import APIRouter, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import HTMLResponse, RedirectResponse, Response

from remembrancer.access.keys import CAPABILITIES
from remembrancer.server.cookies import DEMO_COOKIE, SESSION_COOKIE, set_secret_cookie
from remembrancer.server.deps import Engine
from remembrancer.server.pages.page_context import (
    PAGE_HEADERS,
    THEME_COOKIE,
    THEMES,
    load_templates,
)
from remembrancer.server.problems import InvalidLogin

router = APIRouter()

CODE_FIELD = "code"
MAX_CODE_CHARS = 200


@router.get("/login")
async def show(request: Request) -> HTMLResponse:
    """The page that a login link opens; it does not use the code up."""
    theme = request.cookies.get(THEME_COOKIE, "auto")
    html = (
        load_templates()
        .get_template("login.html")
        .render(title="Sign in", theme=theme if theme in THEMES else "auto", field=CODE_FIELD)
    )
    return HTMLResponse(html, 200, PAGE_HEADERS)


@router.post("/login")
async def sign_in(request: Request, engine: Engine) -> Response:
    """Exchange the code of a login link for a session cookie; each code works once."""
    code = _read_code(await request.body())
    state = request.app.state
    await state.wrong_keys.check(request.scope, code)
    owner = await run_in_threadpool(engine.login_links.redeem, code, state.start)
    if owner is None:
        state.wrong_keys.count(request.scope)
        raise InvalidLogin(
            "This login link was used before, has expired, or belongs to an earlier start of the "
            "server. `rem login` prints a new one."
        )
    hours = engine.settings.server.session_hours
    session = await run_in_threadpool(engine.create_session, owner, CAPABILITIES, hours=hours)
    response = RedirectResponse(state.home, 303, PAGE_HEADERS)
    set_secret_cookie(response, request, SESSION_COOKIE, session.secret, hours)
    response.delete_cookie(DEMO_COOKIE, path="/")
    return response


def _read_code(body: bytes) -> str:
    """The code in a submitted form; "" if there is none."""
    try:
        fields = dict(parse_qsl(body.decode("ascii"), max_num_fields=4))
    except ValueError:
        return ""
    code = fields.get(CODE_FIELD, "").strip()
    return code if len(code) <= MAX_CODE_CHARS else ""
