"""How it works: the loop from what is said to what is brought up again, and who is in charge."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from remembrancer.server.pages import charts, text
from remembrancer.server.pages.page_context import Framed

router = APIRouter()

STEPS = ("say", "pick out", "check", "keep", "recall")


@router.get("/how-it-works")
def how(frame: Framed) -> Response:
    """The loop, drawn and told, with the numbers that hold here."""
    return frame.show(
        "how.html",
        "How it works",
        drawing=charts.loop("From what you say to what is brought up again", STEPS),
        decay=frame.profile.decay,
        deletion=frame.profile.deletion,
        lifetimes=text.PERMANENCE,
    )
