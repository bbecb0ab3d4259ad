"""Logs browsers out; `pages/login.py` logs them in."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from remembrancer.server.cookies import SESSION_COOKIE
from remembrancer.server.deps import Caller, Engine

router = APIRouter(tags=["server"])


@router.post("/logout", status_code=204)
def logout(request: Request, engine: Engine, caller: Caller) -> Response:
    """Log a browser out."""
    engine.revoke_secret(request.cookies.get(SESSION_COOKIE, ""))
    response = Response(status_code=204)
    response.delete_cookie(SESSION_COOKIE, path="/")
    return response
