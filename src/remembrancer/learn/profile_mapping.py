"""Where something learned belongs by a profile's own categories and its scale of importance."""

from __future__ import annotations

from remembrancer.profiles import Profile

FALLBACK_CATEGORIES = {
    "instruction": ("response_style", "preference"),
    "response_style": ("instruction", "preference"),
    "preference": ("response_style", "profile"),
    "profile": ("fact", "general"),
    "decision": ("fact", "general"),
    "event": ("episode", "context", "fact"),
    "relationship": ("profile", "fact"),
    "correction": ("fact", "general"),
    "fact": ("general", "context"),
}
"""The categories to try where a profile has not the one that was meant."""

MAX_SOURCE_IMPORTANCE = 10


def map_category(profile: Profile, category: str | None) -> str:
    """The category of a profile that comes closest to the one meant."""
    for name in (category or "", *FALLBACK_CATEGORIES.get(category or "", ())):
        if name in profile.categories:
            return name
    return profile.default_category


def map_importance(profile: Profile, importance: float | None) -> float | None:
    """An importance on the scale from 1 to 10 as one on the profile's scale."""
    if importance is None:
        return None
    top = profile.importance.max
    return max(1.0, min(float(top), round(importance * top / MAX_SOURCE_IMPORTANCE, 1)))
