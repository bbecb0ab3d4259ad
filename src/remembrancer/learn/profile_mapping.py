"""Maps categories and importance to those of a profile."""

from __future__ import annotations

from remembrancer.learn.rules.wish import is_wish
from remembrancer.profiles import Profile

FALLBACK_CATEGORIES = {
    "instruction": ("response_style", "preference"),
    "response_style": ("instruction", "preference"),
    "preference": ("profile",),
    "profile": ("fact", "general"),
    "decision": ("fact", "general"),
    "event": ("episode", "context", "fact"),
    "relationship": ("fact",),
    "correction": ("fact", "general"),
    "fact": ("general", "context"),
}
"""Categories to try if a profile does not have the given one."""

MAX_SOURCE_IMPORTANCE = 10


def map_category(profile: Profile, category: str | None) -> str:
    """The profile's closest category, or its default."""
    for name in (category or "", *FALLBACK_CATEGORIES.get(category or "", ())):
        if name in profile.categories:
            return name
    return profile.default_category


def file_category(profile: Profile, content: str, category: str | None) -> str | None:
    """The profile's category for a statement: by its words, unless it is a wish for answers."""
    by_words = None if is_wish(content) else profile.find_category(content)
    return by_words or (map_category(profile, category) if category else None)


def map_importance(profile: Profile, importance: float | None) -> float | None:
    """Convert an importance from 1 to 10 to the profile's scale."""
    if importance is None:
        return None
    top = profile.importance.max
    return max(1.0, min(float(top), round(importance * top / MAX_SOURCE_IMPORTANCE, 1)))
