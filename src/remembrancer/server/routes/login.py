"""Logs browsers in and out."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from starlette.responses import RedirectResponse

from remembrancer.access.keys import CAPABILITIES, LOGIN_CAPABILITY
from remembrancer.server import schemas
from remembrancer.server.cookies import SESSION_COOKIE, set_secret_cookie
from remembrancer.server.deps import Caller, Engine
from remembrancer.server.problems import Unauthenticated

router = APIRouter(tags=["server"])


@router.get("/login", response_class=RedirectResponse, status_code=303)
def login(
    request: Request, engine: Engine, token: Annotated[schemas.Text, Query(max_length=200)] = ""
) -> Response:
    """Log a browser in with the token that the server printed at startup."""
    principal = engine.principal_of(token, surface="web")
    if principal is None or LOGIN_CAPABILITY not in principal.capabilities:
        raise Unauthenticated("Invalid login token. Open the URL that the server printed.")
    hours = engine.settings.server.session_hours
    session = engine.create_session(principal.owner, CAPABILITIES, hours=hours)
    response = RedirectResponse(request.app.state.home, 303)
    set_secret_cookie(response, request, SESSION_COOKIE, session.secret, hours)
    return response


@router.post("/logout", status_code=204)
def logout(request: Request, engine: Engine, caller: Caller) -> Response:
    """Log a browser out."""
    engine.revoke_secret(request.cookies.get(SESSION_COOKIE, ""))
    response = Response(status_code=204)
    response.delete_cookie(SESSION_COOKIE, path="/")
    return response
