"""A believable person to look around at: a year with assistants, in a store of its own."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path

from remembrancer.clock import LateClock, SetClock
from remembrancer.config import ServerSettings, Settings
from remembrancer.demo import bots, year
from remembrancer.demo.actions import Told, do_all
from remembrancer.demo.story import TENANT, USER
from remembrancer.embed.cache import CachedEmbedder
from remembrancer.embed.local import LocalEmbedder
from remembrancer.engine import Remembrancer
from remembrancer.errors import InvalidInput
from remembrancer.store.open import open_store

PROFILE = "agents"
STORIES = {PROFILE: year, "instances": bots}
"""By profile."""


def opened(
    clock: LateClock | SetClock,
    profile: str = PROFILE,
    *,
    directory: Path | None = None,
    server: ServerSettings | None = None,
) -> Remembrancer:
    """An empty store for the story; it vanishes when it is closed, unless it gets a directory.

    Nobody's configuration is read: no model is asked, and no place on disk is known.
    """
    if profile not in STORIES:
        raise InvalidInput(f"There is a demo of {' and of '.join(STORIES)}, not of {profile}.")
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
    store = open_store(settings, clock, vanishing=directory is None)
    return Remembrancer(settings, store, CachedEmbedder(LocalEmbedder()), clock)


def fill(
    store: Remembrancer, clock: LateClock | SetClock, now: datetime, tell: Told | None = None
) -> None:
    """Tell the story as if it had happened in the time until now."""
    told = STORIES[store.settings.profile]
    do_all(told.deeds(store), clock, now, tell)


def lived(
    profile: str = PROFILE, *, server: ServerSettings | None = None, tell: Told | None = None
) -> Remembrancer:
    """The story in memory, told until this moment, from which its time goes on."""
    clock = LateClock(timedelta())
    store = opened(clock, profile, server=server)
    fill(store, clock, clock.now(), tell)
    return store
