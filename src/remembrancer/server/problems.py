"""Renders every error as problem details (RFC 9457) with a stable code."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ConfigDict
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response
from starlette.types import Receive, Scope, Send

from remembrancer.errors import Ambiguous, RemembrancerError

MEDIA_TYPE = "application/problem+json"
TYPE_PREFIX = "urn:remembrancer:"
KEY_REQUIRED = "Send a key as `Authorization: Bearer rem_…`; `rem key-create` creates one."


class Unauthenticated(RemembrancerError):
    """The request has no valid key, token or session."""

    code = "unauthenticated"
    status = 401


class InvalidLogin(Unauthenticated):
    """The code of a login link is not valid."""

    code = "invalid_login"


class ForeignHost(RemembrancerError):
    """The Host header names no host of this server."""

    code = "foreign_host"
    status = 400


class ForeignOrigin(RemembrancerError):
    """The request comes from a page of another site."""

    code = "foreign_origin"
    status = 403


class TooLarge(RemembrancerError):
    """The body exceeds the size limit."""

    code = "too_large"
    status = 413


class TooSlow(RemembrancerError):
    """The body did not arrive in time."""

    code = "too_slow"
    status = 408


class RetryLater(RemembrancerError):
    """The client should retry after `seconds`."""

    def __init__(self, message: str, seconds: int) -> None:
        super().__init__(message)
        self.seconds = seconds


class TooManyRequests(RetryLater):
    code = "too_many_requests"
    status = 429


class RequestInProgress(RetryLater):
    code = "still_at_work"
    status = 409


class IdempotencyMismatch(RemembrancerError):
    """The Idempotency-Key was used for another request."""

    code = "idempotency_mismatch"
    status = 422


class PreconditionFailed(RemembrancerError):
    """The memory has changed since the caller read it."""

    code = "precondition_failed"
    status = 412


class FieldError(BaseModel):
    """One invalid field of a request; `where` is its path."""

    where: str
    message: str


class CandidateMemory(BaseModel):
    """A memory that an ambiguous reference may mean."""

    id: str
    content: str


class Problem(BaseModel):
    """An error: a stable code, and a sentence that says what to do."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "type": f"{TYPE_PREFIX}not_found",
                "title": "Not Found",
                "status": 404,
                "detail": "There is no memory fact_01kjq3v4rxe8fy0zkb5t5f3m2a.",
                "code": "not_found",
                "request_id": "6f1c0e9b7a2d4c58",
            }
        }
    )

    type: str
    title: str
    status: int
    detail: str
    code: str
    request_id: str
    errors: list[FieldError] | None = None
    candidates: list[CandidateMemory] | None = None


def document_errors(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return the OpenAPI entries for error responses with these statuses."""
    schema = {"$ref": "#/components/schemas/Problem"}
    return {
        status: {
            "description": HTTPStatus(status).phrase,
            "content": {MEDIA_TYPE: {"schema": schema}},
        }
        for status in statuses
    }


def render_problem(
    scope: Scope,
    status: int,
    code: str,
    detail: str,
    *,
    headers: Mapping[str, str] | None = None,
    **extra: Any,
) -> Response:
    """Return an error page for browsers, and problem details for all other clients."""
    render_page = getattr(scope["app"].state, "error_page", None)
    page: Response | None = render_page(scope, status, code, detail) if render_page else None
    if page is not None:
        page.headers.update(headers or {})
        return page
    body = {
        "type": f"{TYPE_PREFIX}{code}",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": detail,
        "code": code,
        "request_id": scope.get("state", {}).get("request_id", ""),
        **extra,
    }
    if scope["path"].startswith("/v1/"):
        # OpenAI clients read errors from this key.
        body["error"] = {"message": detail, "type": code, "code": code, "param": None}
    return JSONResponse(body, status, dict(headers or {}), MEDIA_TYPE)


def render_error(scope: Scope, error: RemembrancerError) -> Response:
    headers: dict[str, str] = {}
    if isinstance(error, Unauthenticated):
        headers["WWW-Authenticate"] = 'Bearer realm="remembrancer"'
    if isinstance(error, RetryLater):
        headers["Retry-After"] = str(error.seconds)
    elif error.passes_by_itself:
        headers["Retry-After"] = "5"
    extra: dict[str, Any] = {}
    if isinstance(error, Ambiguous):
        extra["candidates"] = [{"id": one.id, "content": one.content} for one in error.candidates]
    return render_problem(scope, error.status, error.code, str(error), headers=headers, **extra)


async def send_error(
    error: RemembrancerError,
    scope: Scope,
    receive: Receive,
    send: Send,
    headers: Mapping[str, str] | None = None,
) -> None:
    """Answer a request with an error from within a middleware."""
    response = render_error(scope, error)
    response.headers.update(headers or {})
    await response(scope, receive, send)


def install(app: FastAPI) -> None:
    """Register handlers that render every error of the application."""

    @app.exception_handler(RemembrancerError)
    async def handle_own_error(request: Request, error: RemembrancerError) -> Response:
        return render_error(request.scope, error)

    @app.exception_handler(RequestValidationError)
    async def handle_invalid_request(request: Request, error: RequestValidationError) -> Response:
        fields = [_build_field_error(one) for one in error.errors()]
        summary = "; ".join(f"{one['where']}: {one['message']}" for one in fields[:3])
        detail = f"{summary or 'The request is invalid'}."
        return render_problem(request.scope, 422, "invalid_request", detail, errors=fields)

    @app.exception_handler(HTTPException)
    async def handle_http_error(request: Request, error: HTTPException) -> Response:
        code = HTTPStatus(error.status_code).name.lower()
        detail = _STATUS_DETAILS.get(error.status_code, str(error.detail))
        return render_problem(request.scope, error.status_code, code, detail, headers=error.headers)


_STATUS_DETAILS = {
    404: "Unknown path. /openapi.json lists all paths.",
    405: "This path does not support the method. /openapi.json lists those it supports.",
    400: "The body cannot be read. Send JSON in UTF-8.",
}


def _build_field_error(error: Mapping[str, Any]) -> dict[str, str]:
    """Return path and message, never the value itself, which may be a secret."""
    where = ".".join(str(step) for step in error["loc"] if step != "body") or "body"
    return {"where": where, "message": error["msg"].removeprefix("Value error, ")}
