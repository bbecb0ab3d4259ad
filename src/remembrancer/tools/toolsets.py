"""Selects the tools of a profile: its own, or all of them."""

from __future__ import annotations

from typing import Literal

from remembrancer.profiles import Profile
from remembrancer.tools.agents import EPISODE_TOOLS
from remembrancer.tools.assistant import ASSISTANT_TOOLS
from remembrancer.tools.plain import PLAIN_TOOLS, feedback
from remembrancer.tools.preferences import PREFERENCE_TOOLS
from remembrancer.tools.team import TEAM_TOOLS
from remembrancer.tools.tool import Tool
from remembrancer.types import Kind

Extent = Literal["core", "full"]

TOOLSETS: dict[str, tuple[Tool, ...]] = {
    "plain": PLAIN_TOOLS,
    "memory": EPISODE_TOOLS,
    "assistant": ASSISTANT_TOOLS,
    "preferences": PREFERENCE_TOOLS,
}
"""Tools by `tools.names` of a profile."""


def select_tools(profile: Profile, extent: Extent = "core") -> dict[str, Tool]:
    """Return the tools of a profile by name, in the order in which clients list them.

    "full" puts the plain tools before them.
    """
    plain = PLAIN_TOOLS if extent == "full" else ()
    team = TEAM_TOOLS if profile.team.enabled else ()
    chosen = {one.name: one for one in (*plain, *TOOLSETS[profile.tools.names], *team)}
    if Kind.RULE not in profile.recall.kinds and chosen.get(feedback.name) is feedback:
        del chosen[feedback.name]  # there is no rule to give it on
    return chosen
