"""Tools of the advisor profile: save, correct, confirm and forget preferences."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from remembrancer.errors import InvalidInput, NotFound
from remembrancer.remember.lifecycle import CONFIRMABLE, FORGETTABLE
from remembrancer.tools.caller import Caller
from remembrancer.tools.results import MemoryListResult, WriteResult
from remembrancer.tools.told import restate_told
from remembrancer.tools.tool import (
    ENDS,
    READS,
    SETS,
    MemoryReference,
    drop_none,
    search,
    tool,
)
from remembrancer.types import Kind, Status

MAX_LISTED = 200
PREFERENCES = (Kind.FACT,)
"""What the person keeps as preferences; a bookmarked reply is none."""

Unconfirmed = Annotated[bool, Field(description="in doubt, for review")]
RelationName = Annotated[
    Literal["relates_to", "contradicts", "supports", "derived_from"],
    BeforeValidator(lambda name: "relates_to" if name == "related_to" else name),
]


@tool(SETS)
def save_preference(
    caller: Caller, category: str, content: str, detail: str | None = None
) -> WriteResult:
    """Save a new durable fact about the user. List or recall first, and update an existing fact
    rather than save it twice; only recall returns detail."""
    details = {"category": category, **drop_none(body=detail)}
    content, told = restate_told(caller.profile, content, details)
    return WriteResult.from_written(caller.memory.remember(content, **told))


@tool(SETS)
def update_preference(
    caller: Caller, id_or_substring: MemoryReference, new_content: str, detail: str | None = None
) -> WriteResult:
    """Replace a saved fact with its new value; the old one stays in its history. Use it when the
    user corrects something."""
    old = _find_preference(caller, id_or_substring, FORGETTABLE)
    return WriteResult.from_written(
        caller.memory.update(old, new_content, **drop_none(body=detail))
    )


@tool(ENDS)
def forget_preference(caller: Caller, id_or_substring: MemoryReference) -> WriteResult:
    """End a saved fact; it is kept for audit and can be undone. Use it when the user wants it
    forgotten."""
    wanted = _find_preference(caller, id_or_substring, FORGETTABLE)
    return WriteResult.from_written(caller.memory.forget(wanted))


@tool(SETS)
def confirm_preference(caller: Caller, id_or_substring: MemoryReference) -> WriteResult:
    """Note that the user affirmed a saved fact, so that it does not fade."""
    affirmed = _find_preference(caller, id_or_substring, CONFIRMABLE)
    return WriteResult.from_written(caller.memory.confirm(affirmed))


@tool(SETS)
def link_preferences(
    caller: Caller, from_id: str, to_id: str, relation: RelationName
) -> WriteResult:
    """Link two saved facts, for example when one explains or contradicts the other."""
    source, target = (_find_preference(caller, one) for one in (from_id, to_id))
    return WriteResult.from_written(caller.memory.link(source, target, relation))


@tool(READS)
def list_preferences(
    caller: Caller, category: str | None = None, unconfirmed: Unconfirmed = False
) -> MemoryListResult:
    """List the saved facts in force, newest first. Use it to see what is known before you save."""
    if unconfirmed and caller.as_of is not None:
        raise InvalidInput(
            "What is in doubt is known of today alone: omit unconfirmed or the date."
        )
    memory = caller.memory
    categories = () if category is None else (category,)
    status = Status.UNCONFIRMED if unconfirmed else None
    page = memory.list(
        kinds=PREFERENCES,
        status=status,
        categories=categories,
        limit=MAX_LISTED,
        as_of=caller.as_of,
    )
    return MemoryListResult.from_records(memory, page.items, more=page.cursor is not None)


@tool(READS)
def recall_preferences(caller: Caller, query: str, limit: int | None = None) -> MemoryListResult:
    """Search all saved facts, with their details and including those of low confidence. Use it for
    what your prompt does not already say."""
    return search(caller, query, kinds=PREFERENCES, minimum_confidence=0, limit=limit)


def _find_preference(
    caller: Caller, reference: str, statuses: tuple[Status, ...] = (Status.ACTIVE,)
) -> str:
    """The id of the one saved fact that a reference names, never by likeness alone."""
    found = caller.memory.resolve(reference, statuses, PREFERENCES)
    if found.kind not in PREFERENCES:
        raise NotFound("That is no saved fact; list_preferences gives their ids.")
    return found.id


PREFERENCE_TOOLS = (
    save_preference,
    update_preference,
    forget_preference,
    confirm_preference,
    list_preferences,
    recall_preferences,
    link_preferences,
)
