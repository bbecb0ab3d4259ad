"""Liveness and readiness probes, and metrics."""

from __future__ import annotations

import threading
import time
from typing import Any, Literal

from fastapi import APIRouter, Depends, Request, Response

from remembrancer.engine import Remembrancer
from remembrancer.errors import RemembrancerError
from remembrancer.server import schemas
from remembrancer.server.deps import require_view
from remembrancer.server.metrics import Metrics

router = APIRouter(tags=["server"])


READINESS_SECONDS = 1.0
"""How long a result is valid, so that many probes cost no more than one."""


class Readiness:
    """Whether the store can be written, checked at most once a second."""

    def __init__(self, engine: Remembrancer) -> None:
        self._engine = engine
        self._lock = threading.Lock()
        self._checked_at = -READINESS_SECONDS
        self._failure: RemembrancerError | None = None

    def check(self) -> None:
        """Raise the reason if a write would fail."""
        with self._lock:
            if time.monotonic() - self._checked_at >= READINESS_SECONDS:
                self._failure = self._find_failure()
                self._checked_at = time.monotonic()
            failure = self._failure
        if failure is not None:
            raise failure

    def _find_failure(self) -> RemembrancerError | None:
        try:
            self._engine.check_writable()
        except RemembrancerError as error:
            return error
        return None


class HealthResponse(schemas.ResponseModel):
    """The server is healthy."""

    status: Literal["ok"] = "ok"


@router.get("/healthz", response_model=HealthResponse)
async def healthz() -> Any:
    """Liveness probe."""
    return HealthResponse()


@router.get("/readyz", response_model=HealthResponse)
def readyz(request: Request) -> Any:
    """Readiness probe: check that the store can be reached and written, or say why not."""
    request.app.state.readiness.check()
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
