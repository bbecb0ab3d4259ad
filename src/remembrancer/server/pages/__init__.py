"""The web pages: one router per topic, each a thin layer over the library."""

from __future__ import annotations

from functools import cache

from fastapi import APIRouter, FastAPI
from starlette.responses import RedirectResponse
from starlette.routing import BaseRoute

from remembrancer.server.pages import (
    activity,
    agents,
    chat,
    conversations,
    demo,
    error_page,
    how_it_works,
    instances,
    journal,
    kind_lists,
    login,
    memory_detail,
    overview,
    palette,
    settings,
    static,
    team,
)
from remembrancer.server.pages.streaming import AnswerStreamer
from remembrancer.server.pages.survey_cache import SurveyCache


def install(app: FastAPI) -> None:
    """Add the error page, the survey cache and the answer streamer to the application."""
    app.state.error_page, app.state.surveys = error_page.render_error_page, SurveyCache()
    app.state.talks = AnswerStreamer()


def close(app: FastAPI) -> None:
    """Stop streaming answers and wait for running surveys, so that the store can be closed."""
    app.state.talks.close()
    app.state.surveys.close()


@cache
def routes() -> list[BaseRoute]:
    """The routes of all pages; built once and shared by all applications."""
    pages = APIRouter(include_in_schema=False)
    general = (
        *(agents, how_it_works, instances, team, settings, demo, login, static),
        *(overview, palette),
    )
    personal = (kind_lists, journal, chat, conversations, activity, memory_detail)
    for module in (*general, *personal):
        pages.include_router(module.router)
    for module in personal:
        pages.include_router(module.router, prefix="/agents/{agent}")

    @pages.get("/")
    async def home() -> RedirectResponse:
        return RedirectResponse("/memory", 303)

    return pages.routes
