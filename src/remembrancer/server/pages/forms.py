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
from remembrancer.server.middleware.auth import COOKIE
from remembrancer.types import Batch, Written

TOKEN, BACK, DONE = "token", "back", "rem_done"
MOST_FIELDS = 2000
SHOWN_SECONDS = 10


class Forged(RemembrancerError):
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

    def all(self, name: str) -> list[str]:
        """Every value of a field."""
        return [value for key, value in self._pairs if key == name]

    def number(self, name: str) -> float | None:
        """A field as a number; None if it is empty."""
        try:
            return float(self.get(name)) if self.get(name) else None
        except ValueError:
            raise InvalidInput(f"{name}: give a number.") from None


def token_of(request: Request) -> str:
    """What proves that a form comes from a page of this session: nobody else can know it."""
    secret = request.cookies.get(COOKIE) or request.headers.get("authorization") or ""
    return hmac.new(secret.encode(), b"forms", hashlib.sha256).hexdigest()


async def the_form(request: Request) -> Form:
    """The form that was sent, unless it is forged."""
    try:
        body = (await request.body()).decode()
        pairs = parse_qsl(body, keep_blank_values=True, max_num_fields=MOST_FIELDS)
        form = Form([(schemas.checked(name), schemas.checked(value)) for name, value in pairs])
    except ValueError:
        raise InvalidInput("The form cannot be read.") from None
    if not hmac.compare_digest(form.get(TOKEN).encode(), token_of(request).encode()):
        raise Forged("This form is too old or not ours: load the page again, and send it again.")
    return form


Sent = Annotated[Form, Depends(the_form)]


def back(form: Form, done: Written | Batch | str | None = None, to: str = "") -> RedirectResponse:
    """Go back to the page that the form was on, which then says what was done."""
    answer = RedirectResponse(to or _own(form.get(BACK)), 303)
    event = done.event.id if isinstance(done, Written | Batch) and done.event else done
    if isinstance(event, str):
        answer.set_cookie(
            DONE, event, max_age=SHOWN_SECONDS, path="/", httponly=True, samesite="strict"
        )
    return answer


def _own(place: str) -> str:
    """An address of ours, whatever was sent."""
    own = place.startswith("/") and not place.startswith("//") and "\\" not in place
    return place if own and place.isprintable() else "/memory"
