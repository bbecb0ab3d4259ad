"""What a model passes on from the person: restated like what they say in the chat, and filed."""

from __future__ import annotations

from typing import Any

from remembrancer.learn.profile_mapping import map_category
from remembrancer.learn.rules.told import (
    ToldStatement,
    choose_category,
    is_in_first_person,
    read_saved,
    read_told,
)
from remembrancer.profiles import Profile
from remembrancer.remember.attributes import canonical_attribute


def restate_told(
    profile: Profile, content: str, details: dict[str, Any]
) -> tuple[str, dict[str, Any]]:
    """The content and the details to store; what the model gives counts.

    Only words in the first person are restated. Without a category or a key, the words choose it.
    """
    has_key = "subject" in details or "predicate" in details
    if is_in_first_person(content) and "subject" not in details:
        told = read_told(content)
        return told.content, {**told.to_fields(profile), **details}
    told = ToldStatement(content, choose_category(content)) if has_key else read_saved(content)
    found: dict[str, Any] = {}
    if told.category is not None:
        found["category"] = map_category(profile, told.category)
    if told.subject and told.predicate:
        found |= {"subject": told.subject, "predicate": canonical_attribute(told.predicate)}
    return content, {**found, **details}
