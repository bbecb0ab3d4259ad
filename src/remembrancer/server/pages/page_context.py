"""The context of a page request: user, navigation, toast, templates and security headers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache, cached_property
from typing import Annotated, Any
from urllib.parse import quote
from zoneinfo import ZoneInfo, available_timezones

from fastapi import Depends, Request
from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.responses import HTMLResponse

from remembrancer.engine import Remembrancer
from remembrancer.errors import InvalidInput, RemembrancerError
from remembrancer.maintenance.stats import Survey
from remembrancer.memory import Memory
from remembrancer.profiles import Profile
from remembrancer.server.deps import Caller, Engine, get_agent_memory
from remembrancer.server.pages import static, text
from remembrancer.server.pages.cards import Card, build_card
from remembrancer.server.pages.forms import DONE_COOKIE, TOAST_SECONDS, make_csrf_token
from remembrancer.server.pages.past_view import PastView, parse_past_view
from remembrancer.server.pages.survey_cache import SurveyCache
from remembrancer.server.sent_path import get_sent_path
from remembrancer.store.contract import UNDOABLE_ACTIONS
from remembrancer.team.review import EDIT_CAPABILITY, VIEW_CAPABILITY
from remembrancer.text_format import describe_surface, pluralize
from remembrancer.types import GLOBAL_SCOPE, Event, Principal, Record

THEME_COOKIE = "rem_theme"
ZONE_COOKIE = "rem_zone"
"""Set by the page script to the time zone of the browser."""

THEMES = ("auto", "light", "dark")

PAGE_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
        "connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
    ),
    # With no-referrer, browsers would send forms with the Origin null.
    "Referrer-Policy": "same-origin",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Cache-Control": "no-store",
}

PERSONAL_PAGES = (
    ("/memory", "Overview"),
    ("/chat", "Chat"),
    ("/facts", "Facts"),
    ("/playbook", "Playbook"),
    ("/episodes", "Episodes"),
    ("/conversations", "Conversations"),
    ("/journal/memory", "Journal"),
    ("/agents", "Agents"),
    ("/activity", "Activity"),
    ("/trash", "Trash"),
)

DONE_MESSAGES = {
    "saved": "Saved.",
    "renamed": "Renamed.",
    "archived": "Archived.",
    "unarchived": "Unarchived.",
    "known": "Already known. Nothing was changed.",
    "revoked": "Key revoked.",
    "approved": "Approved. The team can see it now.",
    "rejected": "Rejected. The team will not see it.",
    "proposed": "Proposed. It waits for a second person or a reviewer.",
    "corroborated": "Someone else proposed the same. One more person is counted.",
    "reopened": "Moved back to the review queue.",
    "removed": "Permanently deleted.",
    "ran": "Job finished.",
}
"""Toasts of actions that cannot be undone."""


@cache
def list_zone_names() -> frozenset[str]:
    return frozenset(available_timezones())


@cache
def load_templates() -> Environment:
    """The template environment, with autoescape on."""
    environment = Environment(
        loader=PackageLoader("remembrancer.server"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals.update(
        asset=static.asset_url,
        describe_surface=describe_surface,
        pluralize=pluralize,
        untitled=text.UNTITLED,
    )
    environment.filters.update(path=lambda name: quote(str(name), safe=""), humanize=text.humanize)
    return environment


@dataclass(frozen=True, slots=True)
class Toast:
    """A message after an action; `event` is the id to undo, if it can be undone."""

    text: str
    event: str | None = None


@dataclass
class PageContext:
    """The user, the agent, the time and the links of one page request."""

    request: Request
    engine: Remembrancer
    caller: Principal
    agent: str | None
    now: datetime
    return_path: str
    """The path to which forms redirect."""

    past_days: tuple[str, str] = ("", "")
    """The days in the URL of a page that can show the past: known then, true then."""

    @cached_property
    def zone(self) -> ZoneInfo:
        """The user's own time zone, else that of the browser, else that of the server."""
        browser = self.request.cookies.get(ZONE_COOKIE, "")
        known = browser if browser in list_zone_names() else None
        return self.engine.find_time_zone(self.caller.owner, known)

    @cached_property
    def me(self) -> Memory:
        return get_agent_memory(self.engine, self.caller, self.agent)

    @property
    def path(self) -> str:
        """The path of this page, as it stands in a URL."""
        return get_sent_path(self.request.scope)

    @property
    def root(self) -> str:
        """The path prefix of this agent's pages; empty without an agent."""
        return f"/agents/{quote(self.agent, safe='')}" if self.agent else ""

    @property
    def profile(self) -> Profile:
        return self.engine.settings.profile_for(self.agent)

    @property
    def isolated(self) -> bool:
        """True if agents do not share memories, so that no page shows several of them."""
        return self.profile.scopes.visibility == "isolated"

    @property
    def in_demo(self) -> bool:
        """True if this browser is in a demo that it can leave."""
        return self.request.app.state.leave is not None

    @property
    def offers_demo(self) -> bool:
        return self.request.app.state.demos is not None

    def load_survey(self) -> Survey | None:
        """The survey of the memories; None while it is computed for the first time."""
        surveys: SurveyCache = self.request.app.state.surveys
        return surveys.get(self.me)

    def list_scopes(self) -> list[str]:
        """The scopes to offer in filters."""
        survey = self.load_survey()
        used = survey.scopes if survey else ()
        agents = [self.agent] if self.agent else self.engine.settings.agents
        return sorted({GLOBAL_SCOPE, *agents, *used})

    def list_agents(self) -> list[str]:
        """The agents to offer in filters: those that are configured or have stored memories."""
        survey = self.load_survey()
        return sorted({*self.engine.settings.agents, *(survey.agents if survey else ())})

    def has_capability(self, capability: str) -> bool:
        accepted = {capability, EDIT_CAPABILITY} if capability == VIEW_CAPABILITY else {capability}
        return not accepted.isdisjoint(self.caller.capabilities)

    @cached_property
    def past(self) -> PastView | None:
        """What the page shows instead of today."""
        return parse_past_view(*self.past_days, self.zone)

    @property
    def moment(self) -> datetime:
        """The moment whose memories the page shows."""
        return (self.past and self.past.as_of.known) or self.now

    def memory_url(self, memory_id: str) -> str:
        """The page of a memory, on the day that this page shows."""
        return f"{self.root}/memory/{memory_id}" + (f"?{self.past.query}" if self.past else "")

    def session_url(self, session: str) -> str:
        """The page of a conversation, on the day that this page shows."""
        path = f"{self.root}/conversations/{quote(session, safe='')}"
        return path + (f"?{self.past.query}" if self.past else "")

    def load_memories(self, ids: Iterable[str]) -> dict[str, Record]:
        """The memories with these ids that exist, or did on the day that the page shows."""
        return self.me.several(ids, known=self.past.as_of.known if self.past else None)

    def build_card(self, record: Record, *, old: Record | None = None) -> Card:
        return build_card(self, record, old)

    def build_cards(self, records: Iterable[Record]) -> list[Card]:
        return [self.build_card(record) for record in records]

    def format_day(self, moment: datetime) -> str:
        return text.format_day(moment, self.moment, self.zone)

    def format_time(self, moment: datetime) -> str:
        return text.format_time(moment, self.zone)

    def format_age(self, moment: datetime) -> str:
        return text.format_age(moment, self.moment, self.zone)

    def format_iso(self, moment: datetime) -> str:
        return moment.isoformat(timespec="seconds")

    def can_undo(self, event: Event) -> bool:
        return event.action in UNDOABLE_ACTIONS and event.undone_by is None and bool(event.changes)

    def scope_url(self, scope: str) -> str:
        """The page that shows the memories of a scope."""
        if scope == "global" or "/" in scope:
            return f"/facts?scope={quote(scope, safe='')}"
        return f"/agents/{quote(scope, safe='')}/memory"

    def chat_url(self, session: str) -> str:
        return f"{self.root}/chat/{quote(session, safe='')}"

    def with_query(self, **changes: str | None) -> str:
        """The URL of this page with other query values; None removes one."""
        values = {**dict(self.request.query_params), **changes}
        pairs = [f"{quote(name)}={quote(value)}" for name, value in values.items() if value]
        return self.path + ("?" + "&".join(pairs) if pairs else "")

    def list_nav_items(self) -> list[tuple[str, str]]:
        """The path and the label of each entry of the navigation."""
        personal = [("/instances", "Instances")] if self.isolated else [*PERSONAL_PAGES]
        shared = ("/team", "Team") if self.profile.team.enabled else ("/team/people", "People")
        team = [shared] if self.has_capability(VIEW_CAPABILITY) else []
        return [*personal, *team, ("/settings", "Settings")]

    def build_toast(self) -> Toast | None:
        """The toast for the action that redirected here."""
        done = self.request.cookies.get(DONE_COOKIE, "")
        if done in DONE_MESSAGES:
            return Toast(DONE_MESSAGES[done])
        if not done.startswith("event_"):
            return None
        try:
            event = self.me.event(done)
        except RemembrancerError:
            return None
        if (self.now - event.at).total_seconds() > TOAST_SECONDS:
            return None
        return Toast(text.describe_event(event), event.id if self.can_undo(event) else None)

    def render(
        self, template: str, title: str, *, status: int = 200, **values: Any
    ) -> HTMLResponse:
        theme = self.request.cookies.get(THEME_COOKIE, "auto")
        html = self.render_fragment(
            template,
            title=title,
            user=self.caller.owner.user,
            tenant=self.caller.owner.tenant,
            path=self.path,
            theme=theme if theme in THEMES else "auto",
            toast=self.build_toast(),
            seconds=TOAST_SECONDS,
            **values,
        )
        response = HTMLResponse(html, status, PAGE_HEADERS)
        if DONE_COOKIE in self.request.cookies:
            response.delete_cookie(DONE_COOKIE, path="/")
        return response

    def render_fragment(self, template: str, **values: Any) -> str:
        """A template without the values that only the layout needs."""
        common = {
            "context": self,
            "root": self.root,
            "here": self.return_path,
            "token": make_csrf_token(self.request),
        }
        return load_templates().get_template(template).render(common | values)


async def get_page_context(request: Request, engine: Engine, caller: Caller) -> PageContext:
    """The context of this request, for the agent in its path if there is one."""
    agent = request.path_params.get("agent") or caller.agent
    query = request.scope["query_string"].decode("latin-1")
    path = get_sent_path(request.scope) + (f"?{query}" if query else "")
    return PageContext(request, engine, caller, agent, engine.now(), path)


AnyPage = Annotated[PageContext, Depends(get_page_context)]


async def get_current_context(context: AnyPage) -> PageContext:
    """The context of a page that shows today; it refuses a day in the past."""
    for name in ("as_of", "true_at"):
        if context.request.query_params.get(name):
            raise InvalidInput(f"This page shows only today: leave out {name}.")
    return context


CurrentPage = Annotated[PageContext, Depends(get_current_context)]


async def get_past_context(context: AnyPage, as_of: str = "", true_at: str = "") -> PageContext:
    """The context of a page that can show the past."""
    return replace(context, past_days=(as_of, true_at))


PastPage = Annotated[PageContext, Depends(get_past_context)]
