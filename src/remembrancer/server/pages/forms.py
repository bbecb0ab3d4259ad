"""Reads submitted forms, checks their CSRF token, and redirects after them."""

from __future__ import annotations

import hashlib
import hmac
from typing import Annotated
from urllib.parse import parse_qsl

from fastapi import Depends, Request
from starlette.responses import RedirectResponse

from remembrancer.errors import InvalidInput, RemembrancerError
from remembrancer.server import schemas
from remembrancer.server.cookies import SESSION_COOKIE
from remembrancer.types import Batch, Written

TOKEN_FIELD, BACK_FIELD, DONE_COOKIE = "token", "back", "rem_done"
MAX_FIELDS = 2000
TOAST_SECONDS = 10


class ForgedForm(RemembrancerError):
    """The CSRF token of the form does not belong to this session."""

    code = "forged_form"
    status = 403


class Form:
    """The fields of a form, validated as text that can be stored."""

    def __init__(self, pairs: list[tuple[str, str]]) -> None:
        self._pairs = pairs

    def get(self, name: str) -> str:
        """The last value of a field, stripped; "" if it is missing."""
        return next((value for key, value in reversed(self._pairs) if key == name), "").strip()

    def get_all(self, name: str) -> list[str]:
        return [value for key, value in self._pairs if key == name]

    def get_number(self, name: str) -> float | None:
        """The field as a number; None if it is empty."""
        try:
            return float(self.get(name)) if self.get(name) else None
        except ValueError:
            raise InvalidInput(f"{name}: enter a number.") from None


def make_csrf_token(request: Request) -> str:
    """The CSRF token of this session, derived from its secret."""
    secret = request.cookies.get(SESSION_COOKIE) or request.headers.get("authorization") or ""
    return hmac.new(secret.encode(), b"forms", hashlib.sha256).hexdigest()


async def get_form(request: Request) -> Form:
    """The submitted form; raises ForgedForm if its CSRF token is wrong."""
    try:
        body = (await request.body()).decode()
        pairs = parse_qsl(body, keep_blank_values=True, max_num_fields=MAX_FIELDS)
        form = Form(
            [(schemas.check_text(name), schemas.check_text(value)) for name, value in pairs]
        )
    except ValueError:
        raise InvalidInput("The form is malformed.") from None
    if not hmac.compare_digest(form.get(TOKEN_FIELD).encode(), make_csrf_token(request).encode()):
        raise ForgedForm(
            "This form is outdated or was not sent from this site. Reload the page and try again."
        )
    return form


SubmittedForm = Annotated[Form, Depends(get_form)]


def redirect_back(
    form: Form, done: Written | Batch | str | None = None, to: str = ""
) -> RedirectResponse:
    """Redirect to the page of the form, which then shows what was done as a toast."""
    response = RedirectResponse(to or _sanitize_path(form.get(BACK_FIELD)), 303)
    event = done.event.id if isinstance(done, Written | Batch) and done.event else done
    if isinstance(event, str):
        response.set_cookie(
            DONE_COOKIE, event, max_age=TOAST_SECONDS, path="/", httponly=True, samesite="strict"
        )
    return response


def _sanitize_path(path: str) -> str:
    """The path if it is on this site, else the overview."""
    is_local = path.startswith("/") and not path.startswith("//") and "\\" not in path
    return path if is_local and path.isprintable() else "/memory"
