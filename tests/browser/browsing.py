"""A real browser that is let in, and what every test watches while it looks around."""

from __future__ import annotations

import os
import shutil

from playwright.sync_api import BrowserContext

from remembrancer.access.keys import CAPABILITIES
from remembrancer.server.cookies import SESSION_COOKIE
from remembrancer.types import Owner
from tests.support.http_server import Served

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
CHROMIUM = os.environ.get("REM_CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
"""The browser of this machine; without one, playwright's own."""


def log_in(
    context: BrowserContext,
    served: Served,
    user: str | None = None,
    capabilities: tuple[str, ...] = CAPABILITIES,
) -> None:
    """Give a browser the session that `/login` would have given it."""
    settings = served.engine.settings
    owner = Owner(settings.tenant, user or settings.user)
    session = served.engine.create_session(owner, capabilities, hours=12)
    context.add_cookies(
        [
            {
                "name": SESSION_COOKIE,
                "value": session.secret,
                "url": served.address,
                "httpOnly": True,
                "sameSite": "Strict",
            }
        ]
    )
