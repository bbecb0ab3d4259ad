"""What is asked of a server before anything else: is it well, how busy is it, may I come in."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Query, Request, Response
from starlette.responses import RedirectResponse

from remembrancer.access.keys import CAPABILITIES, LOGIN_CAPABILITY
from remembrancer.server import schemas
from remembrancer.server.deps import Caller, Engine, require_view
from remembrancer.server.metrics import Metrics
from remembrancer.server.middleware.auth import SESSION_COOKIE, set_secret_cookie
from remembrancer.server.problems import Unauthenticated

router = APIRouter(tags=["server"])


class HealthResponse(schemas.ResponseModel):
    """All is well."""

    status: Literal["ok"] = "ok"


@router.get("/healthz", response_model=HealthResponse)
async def healthz() -> Any:
    """Whether the process is alive."""
    return HealthResponse()


@router.get("/readyz", response_model=HealthResponse)
def readyz(engine: Engine) -> Any:
    """Whether the store can be reached."""
    engine.health()
    return HealthResponse()


@router.get(
    "/metrics",
    dependencies=[Depends(require_view)],
    response_class=Response,
    responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}},
)
async def get_metrics(request: Request) -> Response:
    """How many requests were answered and how long they took, for Prometheus."""
    found: Metrics = request.app.state.metrics
    return Response(found.render(), media_type=found.media_type)


@router.get("/login", response_class=RedirectResponse, status_code=303)
def login(
    request: Request, engine: Engine, token: Annotated[schemas.Text, Query(max_length=200)] = ""
) -> Response:
    """Exchange the token that the server printed when it started for a browser's session."""
    principal = engine.principal_of(token, surface="web")
    if principal is None or LOGIN_CAPABILITY not in principal.capabilities:
        raise Unauthenticated("Use the address that the server printed when it started.")
    hours = engine.settings.server.session_hours
    made = engine.create_session(principal.owner, CAPABILITIES, hours=hours)
    answer = RedirectResponse(request.app.state.home, 303)
    set_secret_cookie(answer, request, SESSION_COOKIE, made.secret, hours)
    return answer


@router.post("/logout", status_code=204)
def logout(request: Request, engine: Engine, caller: Caller) -> Response:
    """End a browser's session."""
    engine.revoke_secret(request.cookies.get(SESSION_COOKIE, ""))
    answer = Response(status_code=204)
    answer.delete_cookie(SESSION_COOKIE, path="/")
    return answer
