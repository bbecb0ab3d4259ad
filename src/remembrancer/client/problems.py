"""From a server's problem details to the error that the library raises, by its stable code."""

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
}
"""For what only a server has to say."""


def build_error(response: httpx.Response) -> RemembrancerError:
    """The error that an answer tells of, with the server's own code, status and sentence."""
    problem = _parse_problem(response)
    code, status = str(problem.get("code", "error")), response.status_code
    error = _create_error(code, status, str(problem.get("detail") or _fallback_message(response)))
    error.code, error.status = code, status
    return error


def candidate_ids(response: httpx.Response) -> list[str]:
    """The ids of the memories that may be meant."""
    return [one["id"] for one in _parse_problem(response).get("candidates") or ()]


def _create_error(code: str, status: int, sentence: str) -> RemembrancerError:
    if code == ModelUnavailable.code:
        return ModelUnavailable(sentence, transient=True)
    known = ERROR_BY_CODE.get(code) or ERROR_BY_STATUS.get(status, RemembrancerError)
    return known(sentence)


def _parse_problem(response: httpx.Response) -> dict[str, Any]:
    try:
        told = response.json()
    except ValueError:
        return {}
    return told if isinstance(told, dict) else {}


def _fallback_message(response: httpx.Response) -> str:
    if response.is_redirect:
        return "The server says that it is elsewhere: give connect() its new address."
    return f"The server answers with {response.status_code} and says nothing more; look at its log."
