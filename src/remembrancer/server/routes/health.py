"""Liveness and readiness probes, and metrics."""

from __future__ import annotations

from typing import Any, Literal

from fastapi import APIRouter, Depends, Request, Response

from remembrancer.server import schemas
from remembrancer.server.deps import Engine, require_view
from remembrancer.server.metrics import Metrics

router = APIRouter(tags=["server"])


class HealthResponse(schemas.ResponseModel):
    """The server is healthy."""

    status: Literal["ok"] = "ok"


@router.get("/healthz", response_model=HealthResponse)
async def healthz() -> Any:
    """Liveness probe."""
    return HealthResponse()


@router.get("/readyz", response_model=HealthResponse)
def readyz(engine: Engine) -> Any:
    """Readiness probe: check that the store is reachable."""
    engine.health()
    return HealthResponse()


@router.get(
    "/metrics",
    dependencies=[Depends(require_view)],
    response_class=Response,
    responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}},
)
async def get_metrics(request: Request) -> Response:
    """Get Prometheus metrics. Needs the capability `users:view`."""
    metrics: Metrics = request.app.state.metrics
    return Response(metrics.render(), media_type=metrics.media_type)
