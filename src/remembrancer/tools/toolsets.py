"""Which tools a profile offers: at most eight unless all are asked for."""

from __future__ import annotations

from typing import Literal

from remembrancer.profiles import Profile
from remembrancer.tools.assistant import ASSISTANT
from remembrancer.tools.episodes import EPISODES, NEEDED
from remembrancer.tools.plain import PLAIN
from remembrancer.tools.preferences import PREFERENCES
from remembrancer.tools.team import TEAM
from remembrancer.tools.tool import Tool

Extent = Literal["core", "full"]
MOST = 8

NAMED: dict[str, tuple[tuple[Tool, ...], tuple[Tool, ...]]] = {
    "plain": (PLAIN, PLAIN),
    "memory": (NEEDED, EPISODES),
    "assistant": (ASSISTANT, ASSISTANT),
    "preferences": (PREFERENCES, PREFERENCES),
}
"""By the names that a profile wants: the most needed, which give way from the last, and all."""


def tools_of(profile: Profile, extent: Extent = "core") -> dict[str, Tool]:
    """The tools of a profile by name, in the order in which they are told."""
    core, full = NAMED[profile.tools.names]
    team = TEAM if profile.team.enabled else ()
    if extent == "full":
        return {one.name: one for one in (*PLAIN, *full, *team)}
    chosen = (*core[: MOST - len(team)], *team)
    return {one.name: one for one in chosen}
