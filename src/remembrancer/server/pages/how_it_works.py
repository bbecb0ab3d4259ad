"""The page that explains how memories are made, used and deleted."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from remembrancer.server.pages import charts, text
from remembrancer.server.pages.page_context import CurrentPage

router = APIRouter()

STEPS = ("say", "extract", "check", "store", "recall")


@router.get("/how-it-works")
def show_how_it_works(context: CurrentPage) -> Response:
    return context.render(
        "how_it_works.html",
        "How it works",
        drawing=charts.draw_cycle("From a message to a recalled memory", STEPS),
        decay=context.profile.decay,
        deletion=context.profile.deletion,
        lifetimes=text.PERMANENCE_LABELS,
    )
