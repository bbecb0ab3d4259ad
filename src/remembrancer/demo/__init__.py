"""Builds demo stores with sample data: a fictional user's year with assistants."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path

from remembrancer.clock import ManualClock, OffsetClock
from remembrancer.config import ServerSettings, Settings
from remembrancer.demo import instances, year
from remembrancer.demo.actions import ProgressCallback, replay_actions
from remembrancer.demo.story import TENANT, USER
from remembrancer.embed.cache import CachedEmbedder
from remembrancer.embed.local import LocalEmbedder
from remembrancer.engine import Remembrancer
from remembrancer.errors import InvalidInput
from remembrancer.store.open import open_store

DEFAULT_PROFILE = "agents"
STORIES = {DEFAULT_PROFILE: year, "instances": instances}


def open_demo_store(
    clock: OffsetClock | ManualClock,
    profile: str = DEFAULT_PROFILE,
    *,
    directory: Path | None = None,
    server: ServerSettings | None = None,
) -> Remembrancer:
    """An empty demo store; without a directory it is in memory and lost when closed.

    The user's configuration is not read, so no model is called.
    """
    if profile not in STORIES:
        raise InvalidInput(
            f"There is no demo for the profile {profile!r}. Use {' or '.join(STORIES)}."
        )
    settings = Settings.model_validate(
        {
            "profile": profile,
            "tenant": TENANT,
            "user": USER,
            "time_zone": "Europe/London",
            "store": {"path": directory},
            "server": server or ServerSettings(),
            **STORIES[profile].SETTINGS,
        }
    )
    store = open_store(settings, clock, in_memory=directory is None)
    return Remembrancer(settings, store, CachedEmbedder(LocalEmbedder()), clock)


def fill(
    store: Remembrancer,
    clock: OffsetClock | ManualClock,
    now: datetime,
    on_progress: ProgressCallback | None = None,
) -> None:
    """Replay the sample data so that it ends now."""
    story = STORIES[store.settings.profile]
    replay_actions(story.list_actions(store), clock, now, on_progress)


def build_demo(
    profile: str = DEFAULT_PROFILE,
    *,
    server: ServerSettings | None = None,
    on_progress: ProgressCallback | None = None,
) -> Remembrancer:
    """A filled demo store in memory, whose clock continues from now."""
    clock = OffsetClock(timedelta())
    store = open_demo_store(clock, profile, server=server)
    fill(store, clock, clock.now(), on_progress)
    return store
