"""The web pages: each module has the pages of one thing, a few lines over the library each."""

from __future__ import annotations

from functools import cache

from fastapi import APIRouter, FastAPI
from starlette.responses import RedirectResponse
from starlette.routing import BaseRoute

from remembrancer.server.pages import (
    agents,
    chat,
    conversations,
    demos,
    failures,
    how,
    instances,
    journal,
    listings,
    log,
    one,
    overview,
    palette,
    settings,
    static,
    team,
)
from remembrancer.server.pages.surveys import Surveys
from remembrancer.server.pages.talks import Talks


def install(app: FastAPI) -> None:
    """Let the application show its errors as pages, and count and talk in the background."""
    app.state.error_page, app.state.surveys = failures.page, Surveys()
    app.state.talks = Talks()


def close(app: FastAPI) -> None:
    """Stop answers and wait for what still counts, so that the store can be closed."""
    app.state.talks.close()
    app.state.surveys.close()


@cache
def routes() -> list[BaseRoute]:
    """All pages, for as many applications as there are."""
    pages = APIRouter(include_in_schema=False)
    personal = (overview, listings, journal, chat, conversations, log, palette, one)
    for module in (agents, how, instances, team, settings, demos, static, *personal):
        pages.include_router(module.router)
    for module in (listings, journal, chat, conversations, log, one):
        pages.include_router(module.router, prefix="/agents/{agent}")

    @pages.get("/")
    async def home() -> RedirectResponse:
        return RedirectResponse("/memory", 303)

    return pages.routes
