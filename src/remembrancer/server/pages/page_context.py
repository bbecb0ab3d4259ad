"""The frame around every page: who looks, what there is to go to, and how a page is made safe."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Annotated, Any
from urllib.parse import quote
from zoneinfo import ZoneInfo

from fastapi import Depends, Request
from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.responses import HTMLResponse

from remembrancer.engine import Remembrancer
from remembrancer.errors import RemembrancerError
from remembrancer.maintenance.stats import Survey
from remembrancer.memory import Memory
from remembrancer.profiles import Profile
from remembrancer.server.deps import Caller, Engine, get_agent_memory
from remembrancer.server.pages import static, text
from remembrancer.server.pages.cards import Card, build_card
from remembrancer.server.pages.forms import DONE_COOKIE, TOAST_SECONDS, make_csrf_token
from remembrancer.server.pages.survey_cache import SurveyCache
from remembrancer.store.contract import UNDOABLE_ACTIONS
from remembrancer.team.review import EDIT_CAPABILITY, VIEW_CAPABILITY
from remembrancer.types import GLOBAL_SCOPE, Event, Principal, Record

THEME_COOKIE = "rem_theme"
THEMES = ("auto", "light", "dark")

PAGE_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
        "connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
    ),
    # With no-referrer, browsers would not say by Origin where a form comes from.
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
    "unarchived": "Taken out of the archive.",
    "known": "That was known already; nothing was changed.",
    "revoked": "The key opens nothing any more.",
    "approved": "Approved: the team is told from now on.",
    "rejected": "Rejected: the team is never told.",
    "reopened": "Back in the queue.",
    "removed": "Deleted for good.",
    "ran": "The job is done.",
    "sent": "Proposed to the team.",
}
"""What a page says after a form, where nothing can be undone."""


@cache
def load_templates() -> Environment:
    """The templates; whatever they show is escaped."""
    made = Environment(
        loader=PackageLoader("remembrancer.server"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals.update(words=text, asset=static.asset_url)
    made.filters.update(path=lambda name: quote(str(name), safe=""), plain=text.humanize)
    return made


@dataclass(frozen=True, slots=True)
class Toast:
    """What was just done, and the event that undoes it."""

    text: str
    event: str | None = None


@dataclass(slots=True)
class PageContext:
    """What a page is made with: whose it is, the moment, and where its links lead."""

    request: Request
    engine: Remembrancer
    caller: Principal
    agent: str | None
    now: datetime
    zone: ZoneInfo
    return_path: str
    """Where forms lead back to."""

    @property
    def me(self) -> Memory:
        """The memory of whoever looks."""
        return get_agent_memory(self.engine, self.caller, self.agent)

    @property
    def root(self) -> str:
        """What the addresses of this agent's pages begin with."""
        return f"/agents/{quote(self.agent, safe='')}" if self.agent else ""

    @property
    def profile(self) -> Profile:
        """The choices that hold for this agent."""
        return self.engine.settings.profile_for(self.agent)

    @property
    def isolated(self) -> bool:
        """Whether instances are kept apart, so that nothing shows several of them."""
        return self.profile.scopes.visibility == "isolated"

    @property
    def in_demo(self) -> bool:
        """Whether this is a demo that was opened from someone's own pages."""
        return self.request.app.state.leave is not None

    @property
    def offers_demo(self) -> bool:
        """Whether a demo can be opened from here."""
        return self.request.app.state.demos is not None

    def load_survey(self, me: Memory) -> Survey | None:
        """How memories are doing, if it is known in a moment."""
        surveys: SurveyCache = self.request.app.state.surveys
        return surveys.get(me)

    def list_scopes(self, me: Memory) -> list[str]:
        """The scopes that can be chosen from."""
        survey = self.load_survey(me)
        return sorted(
            {GLOBAL_SCOPE, *self.engine.settings.agents, *(survey.stats.by_scope if survey else ())}
        )

    def has_capability(self, capability: str) -> bool:
        """Whether whoever looks may do so."""
        own = self.caller.capabilities
        return capability in own or (capability == VIEW_CAPABILITY and EDIT_CAPABILITY in own)

    def build_card(self, record: Record, me: Memory | None = None, **more: Any) -> Card:
        """A memory as it is shown."""
        return build_card(me or self.me, record, self.now, self.zone, self.root, **more)

    def format_day(self, moment: datetime) -> str:
        """A date in the time zone of whoever looks."""
        return text.format_day(moment, self.now, self.zone)

    def format_time(self, moment: datetime) -> str:
        """A date and time."""
        return text.format_time(moment, self.zone)

    def format_age(self, moment: datetime) -> str:
        """How long ago."""
        return text.format_age(moment, self.now, self.zone)

    def format_iso(self, moment: datetime) -> str:
        """For machines."""
        return moment.isoformat(timespec="seconds")

    def can_undo(self, event: Event) -> bool:
        """Whether an event can be taken back."""
        return event.action in UNDOABLE_ACTIONS and event.undone_by is None and bool(event.changes)

    def scope_url(self, scope: str) -> str:
        """Where the memories of a scope are shown."""
        if scope == "global" or "/" in scope:
            return f"/facts?scope={quote(scope, safe='')}"
        return f"/agents/{quote(scope, safe='')}/memory"

    def with_query(self, **changes: str | None) -> str:
        """This address with other values in its query."""
        return str(self.request.url.include_query_params().path) + _build_query(
            {**dict(self.request.query_params), **changes}
        )

    def list_nav_items(self) -> list[tuple[str, str]]:
        """What there is to go to."""
        own = [("/instances", "Instances")] if self.isolated else [*PERSONAL_PAGES]
        team = [("/team", "Team")] if self.has_capability(VIEW_CAPABILITY) else []
        return [*own, *team, ("/settings", "Settings")]

    def build_toast(self) -> Toast | None:
        """What the form before did."""
        done = self.request.cookies.get(DONE_COOKIE, "")
        if done in DONE_MESSAGES:
            return Toast(DONE_MESSAGES[done])
        if not done.startswith("event_"):
            return None
        try:
            event = self.me.event(done)
        except RemembrancerError:
            return None
        recent = (self.now - event.at).total_seconds() <= TOAST_SECONDS
        if not recent:
            return None
        return Toast(text.describe_event(event), event.id if self.can_undo(event) else None)

    def render(
        self, template: str, title: str, *, status: int = 200, **values: Any
    ) -> HTMLResponse:
        """A page; whatever it shows is escaped."""
        theme = self.request.cookies.get(THEME_COOKIE, "auto")
        html = self.render_fragment(
            template,
            title=title,
            user=self.caller.owner.user,
            tenant=self.caller.owner.tenant,
            path=self.request.url.path,
            theme=theme if theme in THEMES else "auto",
            toast=self.build_toast(),
            seconds=TOAST_SECONDS,
            **values,
        )
        answer = HTMLResponse(html, status, PAGE_HEADERS)
        if DONE_COOKIE in self.request.cookies:
            answer.delete_cookie(DONE_COOKIE, path="/")
        return answer

    def render_fragment(self, template: str, **values: Any) -> str:
        """A template by itself; whatever it shows is escaped."""
        own = {"frame": self, "root": self.root, "here": self.return_path}
        made = load_templates().get_template(template)
        return made.render(own | {"token": make_csrf_token(self.request)} | values)


def _build_query(values: dict[str, str | None]) -> str:
    pairs = [f"{quote(name)}={quote(value)}" for name, value in values.items() if value]
    return "?" + "&".join(pairs) if pairs else ""


async def get_page_context(request: Request, engine: Engine, caller: Caller) -> PageContext:
    """The frame of a page, for the agent in its path if there is one."""
    agent = request.path_params.get("agent") or caller.agent
    zone = ZoneInfo(engine.settings.time_zone)
    address = request.url
    here = address.path + (f"?{address.query}" if address.query else "")
    return PageContext(request, engine, caller, agent, engine.now(), zone, here)


CurrentPage = Annotated[PageContext, Depends(get_page_context)]
