"""Selects the tools of a profile: at most eight, or all of them."""

from __future__ import annotations

from typing import Literal

from remembrancer.profiles import Profile
from remembrancer.tools.agents import CORE_EPISODE_TOOLS, EPISODE_TOOLS
from remembrancer.tools.assistant import ASSISTANT_TOOLS
from remembrancer.tools.plain import PLAIN_TOOLS
from remembrancer.tools.preferences import PREFERENCE_TOOLS
from remembrancer.tools.team import TEAM_TOOLS
from remembrancer.tools.tool import Tool

Extent = Literal["core", "full"]
MAX_CORE_TOOLS = 8

TOOLSETS: dict[str, tuple[tuple[Tool, ...], tuple[Tool, ...]]] = {
    "plain": (PLAIN_TOOLS, PLAIN_TOOLS),
    "memory": (CORE_EPISODE_TOOLS, EPISODE_TOOLS),
    "assistant": (ASSISTANT_TOOLS, ASSISTANT_TOOLS),
    "preferences": (PREFERENCE_TOOLS, PREFERENCE_TOOLS),
}
"""Core and full tools by `tools.names` of a profile; team tools displace the last core tools."""


def select_tools(profile: Profile, extent: Extent = "core") -> dict[str, Tool]:
    """Return the tools of a profile by name, in the order in which clients list them."""
    core, full = TOOLSETS[profile.tools.names]
    team = TEAM_TOOLS if profile.team.enabled else ()
    if extent == "full":
        return {one.name: one for one in (*PLAIN_TOOLS, *full, *team)}
    chosen = (*core[: MAX_CORE_TOOLS - len(team)], *team)
    return {one.name: one for one in chosen}
