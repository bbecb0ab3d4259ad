"""Maps the problem details of a response to the errors of the library, by their code."""

from __future__ import annotations

from typing import Any

import httpx

from remembrancer import errors
from remembrancer.errors import (
    Conflict,
    InvalidInput,
    NotAllowed,
    NotFound,
    RemembrancerError,
    Unavailable,
)
from remembrancer.llm import InvalidModelResponse, ModelUnavailable

ERROR_BY_CODE: dict[str, type[RemembrancerError]] = {
    one.code: one
    for one in (
        InvalidInput,
        errors.BadBackup,
        errors.InvalidSetting,
        errors.ScopeRequired,
        NotFound,
        errors.Ambiguous,
        NotAllowed,
        Conflict,
        errors.NotUndoable,
        Unavailable,
        errors.EmbeddingFailed,
        errors.StoreUnavailable,
        errors.StoreBusy,
        errors.StoreFull,
        errors.StoreReadOnly,
        errors.StoreDamaged,
        errors.OutcomeUnknown,
        InvalidModelResponse,
        errors.SchemaTooNew,
    )
}
ERROR_BY_STATUS: dict[int, type[RemembrancerError]] = {
    400: InvalidInput,
    401: NotAllowed,
    403: NotAllowed,
    404: NotFound,
    405: NotFound,
    408: Unavailable,
    409: Conflict,
    412: Conflict,
    413: InvalidInput,
    422: InvalidInput,
    429: Unavailable,
    502: Unavailable,
    503: Unavailable,
    504: Unavailable,
    507: Unavailable,
}
"""Fallback for codes that only a server has."""


def build_error(response: httpx.Response) -> RemembrancerError:
    """Return the error of a response, with the code, status and message of the server."""
    problem = _parse_problem(response)
    code, status = str(problem.get("code", "error")), response.status_code
    error = _create_error(code, status, str(problem.get("detail") or _fallback_message(response)))
    error.code, error.status = code, status
    return error


def candidate_ids(response: httpx.Response) -> list[str]:
    """Return the ids of the candidates of an ambiguous reference."""
    return [one["id"] for one in _parse_problem(response).get("candidates") or ()]


def _create_error(code: str, status: int, message: str) -> RemembrancerError:
    if code == ModelUnavailable.code:
        return ModelUnavailable(message, transient=True)
    error_type = ERROR_BY_CODE.get(code) or ERROR_BY_STATUS.get(status, RemembrancerError)
    return error_type(message)


def _parse_problem(response: httpx.Response) -> dict[str, Any]:
    try:
        problem = response.json()
    except ValueError:
        return {}
    return problem if isinstance(problem, dict) else {}


def _fallback_message(response: httpx.Response) -> str:
    if response.is_redirect:
        return "The server redirects to another address: give connect() its new address."
    return f"The server returned {response.status_code} without a message; look at its log."
