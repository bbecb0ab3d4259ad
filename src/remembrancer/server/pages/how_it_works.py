"""How it works: the loop from what is said to what is brought up again, and who is in charge."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from remembrancer.server.pages import charts, text
from remembrancer.server.pages.page_context import CurrentPage

router = APIRouter()

STEPS = ("say", "pick out", "check", "keep", "recall")


@router.get("/how-it-works")
def show_how_it_works(frame: CurrentPage) -> Response:
    """The loop, drawn and told, with the numbers that hold here."""
    return frame.render(
        "how.html",
        "How it works",
        drawing=charts.draw_cycle("From what you say to what is brought up again", STEPS),
        decay=frame.profile.decay,
        deletion=frame.profile.deletion,
        lifetimes=text.PERMANENCE_LABELS,
    )
