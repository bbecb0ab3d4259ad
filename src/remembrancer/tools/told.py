"""What a model passes on from the person: restated like what they say in the chat, and filed."""

from __future__ import annotations

from typing import Any

from remembrancer.learn.profile_mapping import map_category
from remembrancer.learn.rules.told import choose_category, is_in_first_person, read_told
from remembrancer.profiles import Profile


def restate_told(
    profile: Profile, content: str, details: dict[str, Any]
) -> tuple[str, dict[str, Any]]:
    """The content and the details to store; what the model gives counts.

    Only words in the first person are restated. Without a category, the words choose it.
    """
    if is_in_first_person(content) and "subject" not in details:
        told = read_told(content)
        return told.content, {**told.to_fields(profile), **details}
    category = choose_category(content) if "category" not in details else None
    if category is None:
        return content, details
    return content, {**details, "category": map_category(profile, category)}
