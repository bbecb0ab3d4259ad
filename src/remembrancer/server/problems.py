"""One shape for everything that goes wrong: problem details (RFC 9457) with our stable codes."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ConfigDict
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response
from starlette.types import Scope

from remembrancer.errors import Ambiguous, RemembrancerError

MEDIA_TYPE = "application/problem+json"
TYPE_PREFIX = "urn:remembrancer:"


class Unauthenticated(RemembrancerError):
    """Nobody is let in without a key."""

    code = "unauthenticated"
    status = 401


class ForeignHost(RemembrancerError):
    """The request was meant for another server, or comes from another site."""

    code = "foreign_host"
    status = 400


class ForeignOrigin(RemembrancerError):
    """Another site asks in the name of whoever sits in front of the browser."""

    code = "foreign_origin"
    status = 403


class TooLarge(RemembrancerError):
    """The body is larger than this server takes."""

    code = "too_large"
    status = 413


class TooSlow(RemembrancerError):
    """The body did not arrive in time."""

    code = "too_slow"
    status = 408


class RetryLater(RemembrancerError):
    """Not now: `seconds` says when to come again."""

    def __init__(self, message: str, seconds: int) -> None:
        super().__init__(message)
        self.seconds = seconds


class TooManyRequests(RetryLater):
    """More requests than one caller may make."""

    code = "too_many_requests"
    status = 429


class RequestInProgress(RetryLater):
    """The same request was made before and is not done."""

    code = "still_at_work"
    status = 409


class IdempotencyMismatch(RemembrancerError):
    """An Idempotency-Key belongs to one request, and this is another."""

    code = "idempotency_mismatch"
    status = 422


class PreconditionFailed(RemembrancerError):
    """The memory is no longer as the caller saw it."""

    code = "precondition_failed"
    status = 412


class FieldError(BaseModel):
    """One thing that is wrong with a request, and where."""

    where: str
    message: str


class CandidateMemory(BaseModel):
    """A memory that may be meant."""

    id: str
    content: str


class Problem(BaseModel):
    """What went wrong, by a code that stays, and in a sentence that says what to do."""

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
    """The error responses of an operation, for the description of the API."""
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
    **more: Any,
) -> Response:
    """A problem as it goes over the wire; to whoever looks at pages, as a page."""
    page = getattr(scope["app"].state, "error_page", None)
    shown: Response | None = page(scope, status, code, detail) if page is not None else None
    if shown is not None:
        shown.headers.update(headers or {})
        return shown
    body = {
        "type": f"{TYPE_PREFIX}{code}",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": detail,
        "code": code,
        "request_id": scope.get("state", {}).get("request_id", ""),
        **more,
    }
    if scope["path"].startswith("/v1/"):
        # Where clients of OpenAI's protocol look for it.
        body["error"] = {"message": detail, "type": code, "code": code, "param": None}
    return JSONResponse(body, status, dict(headers or {}), MEDIA_TYPE)


def render_error(scope: Scope, error: RemembrancerError) -> Response:
    """One of our errors as a problem."""
    headers: dict[str, str] = {}
    if isinstance(error, Unauthenticated):
        headers["WWW-Authenticate"] = 'Bearer realm="remembrancer"'
    if isinstance(error, RetryLater):
        headers["Retry-After"] = str(error.seconds)
    elif error.status == 503:
        headers["Retry-After"] = "5"
    more: dict[str, Any] = {}
    if isinstance(error, Ambiguous):
        more["candidates"] = [{"id": one.id, "content": one.content} for one in error.candidates]
    return render_problem(scope, error.status, error.code, str(error), headers=headers, **more)


def install(app: FastAPI) -> None:
    """Let every error of the application have this shape."""

    @app.exception_handler(RemembrancerError)
    async def ours(request: Request, error: RemembrancerError) -> Response:
        return render_error(request.scope, error)

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> Response:
        details = [_build_field_error(one) for one in error.errors()]
        first = "; ".join(f"{one['where']}: {one['message']}" for one in details[:3])
        return render_problem(
            request.scope,
            422,
            "invalid_request",
            f"{first or 'It cannot be read'}.",
            errors=details,
        )

    @app.exception_handler(HTTPException)
    async def plain(request: Request, error: HTTPException) -> Response:
        code = HTTPStatus(error.status_code).name.lower()
        detail = _STATUS_DETAILS.get(error.status_code, str(error.detail))
        return render_problem(request.scope, error.status_code, code, detail, headers=error.headers)


_STATUS_DETAILS = {
    404: "There is nothing at this address; /openapi.json lists what there is.",
    405: "This address does not take that method; /openapi.json lists those it takes.",
    400: "The body cannot be read; send JSON in UTF-8.",
}


def _build_field_error(error: Mapping[str, Any]) -> dict[str, str]:
    """Where and what, never the value itself."""
    where = ".".join(str(step) for step in error["loc"] if step != "body") or "body"
    return {"where": where, "message": error["msg"].removeprefix("Value error, ")}
