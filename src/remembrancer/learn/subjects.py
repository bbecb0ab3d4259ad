"""Whom a model means by a subject: within a conversation, it has more names for the user. Pure."""

from __future__ import annotations

from collections.abc import Collection

from remembrancer.remember import attributes
from remembrancer.remember.attributes import USER_SUBJECT, fold_name

USER_NAMES = attributes.USER_SYNONYMS | {"self", "speaker", "the_speaker", "person", "the_person"}


def canonical_subject(subject: str, own_names: Collection[str] = ()) -> str:
    """`user` for the person who speaks, by whatever name; other subjects as they are."""
    if fold_name(subject) in USER_NAMES:
        return USER_SUBJECT
    return attributes.canonical_subject(subject, own_names)
