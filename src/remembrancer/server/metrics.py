"""Prometheus metrics: requests by route template, and the process."""

from __future__ import annotations

from prometheus_client import (
    CollectorRegistry,
    Counter,
    GCCollector,
    Histogram,
    ProcessCollector,
    generate_latest,
)
from prometheus_client.exposition import CONTENT_TYPE_LATEST


class Metrics:
    media_type = CONTENT_TYPE_LATEST

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        ProcessCollector(registry=self._registry)
        GCCollector(self._registry)
        self._requests = Counter(
            "remembrancer_requests",
            "Answered requests.",
            ("method", "route", "status"),
            registry=self._registry,
        )
        self._seconds = Histogram(
            "remembrancer_request_seconds",
            "Request duration in seconds.",
            ("method", "route"),
            registry=self._registry,
        )

    def record_request(self, method: str, route: str, status: int, seconds: float) -> None:
        self._requests.labels(method, route, str(status)).inc()
        self._seconds.labels(method, route).observe(seconds)

    def render(self) -> bytes:
        """Return all metrics in the Prometheus text format."""
        return generate_latest(self._registry)
