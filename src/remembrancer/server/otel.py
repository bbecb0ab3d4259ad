"""Exports requests as OpenTelemetry spans.

A span has the route template, the status and the request id, never content or memory ids.
"""

from __future__ import annotations

import time

from starlette.types import Scope

from remembrancer import __version__
from remembrancer.errors import InvalidSetting

EXPORT_TIMEOUT_SECONDS = 5


class RequestTracer:
    """Sends spans in the background to an OTLP endpoint."""

    def __init__(self, url: str) -> None:
        try:
            from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
            from opentelemetry.sdk.resources import Resource
            from opentelemetry.sdk.trace import TracerProvider
            from opentelemetry.sdk.trace.export import BatchSpanProcessor
        except ImportError as error:
            raise InvalidSetting(
                "server.otlp_endpoint needs OpenTelemetry. Install remembrancer[traces]."
            ) from error
        resource = Resource({"service.name": "remembrancer", "service.version": __version__})
        self._provider = TracerProvider(resource=resource)
        exporter = OTLPSpanExporter(endpoint=url, timeout=EXPORT_TIMEOUT_SECONDS)
        self._provider.add_span_processor(BatchSpanProcessor(exporter))
        self._tracer = self._provider.get_tracer("remembrancer")

    def record_request(
        self, scope: Scope, method: str, route: str, status: int, seconds: float, request_id: str
    ) -> None:
        """Record a finished request, as part of the caller's trace if it has one."""
        from opentelemetry.trace import SpanKind, Status, StatusCode
        from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

        carrier = {
            name.decode("latin-1"): value.decode("latin-1")
            for name, value in scope["headers"]
            if name == b"traceparent"
        }
        end = time.time_ns()
        span = self._tracer.start_span(
            f"{method} {route}".strip(),
            TraceContextTextMapPropagator().extract(carrier),
            SpanKind.SERVER,
            start_time=end - round(seconds * 1e9),
            attributes={
                "http.request.method": method,
                "http.route": route,
                "http.response.status_code": status,
                "request_id": request_id,
            },
        )
        if status >= 500:
            span.set_status(Status(StatusCode.ERROR))
        span.end(end)

    def close(self) -> None:
        """Flush pending spans and stop."""
        self._provider.shutdown()
