"""What comes in by a form: its fields, and the proof that one of our own pages sent it."""

from __future__ import annotations

import hashlib
import hmac
from typing import Annotated
from urllib.parse import parse_qsl

from fastapi import Depends, Request
from starlette.responses import RedirectResponse

from remembrancer.errors import InvalidInput, RemembrancerError
from remembrancer.server import schemas
from remembrancer.server.middleware.auth import SESSION_COOKIE
from remembrancer.types import Batch, Written

TOKEN_FIELD, BACK_FIELD, DONE_COOKIE = "token", "back", "rem_done"
MAX_FIELDS = 2000
TOAST_SECONDS = 10


class ForgedForm(RemembrancerError):
    """The form does not come from a page of this session."""

    code = "forged_form"
    status = 403


class Form:
    """The fields of a form, checked to be text that can be stored."""

    def __init__(self, pairs: list[tuple[str, str]]) -> None:
        self._pairs = pairs

    def get(self, name: str) -> str:
        """The last value of a field, without the spaces around it; "" if there is none."""
        return next((value for key, value in reversed(self._pairs) if key == name), "").strip()

    def get_all(self, name: str) -> list[str]:
        """Every value of a field."""
        return [value for key, value in self._pairs if key == name]

    def get_number(self, name: str) -> float | None:
        """A field as a number; None if it is empty."""
        try:
            return float(self.get(name)) if self.get(name) else None
        except ValueError:
            raise InvalidInput(f"{name}: give a number.") from None


def make_csrf_token(request: Request) -> str:
    """What proves that a form comes from a page of this session: nobody else can know it."""
    secret = request.cookies.get(SESSION_COOKIE) or request.headers.get("authorization") or ""
    return hmac.new(secret.encode(), b"forms", hashlib.sha256).hexdigest()


async def get_form(request: Request) -> Form:
    """The form that was sent, unless it is forged."""
    try:
        body = (await request.body()).decode()
        pairs = parse_qsl(body, keep_blank_values=True, max_num_fields=MAX_FIELDS)
        form = Form(
            [(schemas.check_text(name), schemas.check_text(value)) for name, value in pairs]
        )
    except ValueError:
        raise InvalidInput("The form cannot be read.") from None
    if not hmac.compare_digest(form.get(TOKEN_FIELD).encode(), make_csrf_token(request).encode()):
        raise ForgedForm(
            "This form is too old or not ours: load the page again, and send it again."
        )
    return form


SubmittedForm = Annotated[Form, Depends(get_form)]


def redirect_back(
    form: Form, done: Written | Batch | str | None = None, to: str = ""
) -> RedirectResponse:
    """Go back to the page that the form was on, which then says what was done."""
    answer = RedirectResponse(to or _sanitize_path(form.get(BACK_FIELD)), 303)
    event = done.event.id if isinstance(done, Written | Batch) and done.event else done
    if isinstance(event, str):
        answer.set_cookie(
            DONE_COOKIE, event, max_age=TOAST_SECONDS, path="/", httponly=True, samesite="strict"
        )
    return answer


def _sanitize_path(place: str) -> str:
    """An address of ours, whatever was sent."""
    own = place.startswith("/") and not place.startswith("//") and "\\" not in place
    return place if own and place.isprintable() else "/memory"
