"""The tools of an advisor: preferences that are saved, corrected, affirmed and forgotten."""

from __future__ import annotations

from typing import Literal

from remembrancer.tools.caller import Caller
from remembrancer.tools.results import Done, Found
from remembrancer.tools.tool import ENDS, READS, SETS, Which, given, tool

LISTED = 200

Related = Literal["derived_from", "supports", "contradicts", "supersedes", "related_to"]


@tool(SETS)
def save_preference(caller: Caller, category: str, content: str, detail: str | None = None) -> Done:
    """Save a new durable fact about the user. List or recall first, and update what is there rather
    than save it twice; detail is only told by recall."""
    return Done.by(caller.memory.remember(content, category=category, **given(body=detail)))


@tool(SETS)
def update_preference(
    caller: Caller, id_or_substring: Which, new_content: str, detail: str | None = None
) -> Done:
    """Replace a saved fact by its new value; the old one stays in its history. Use it when the user
    corrects something."""
    written = caller.memory.update(id_or_substring, new_content, **given(body=detail))
    return Done.by(written)


@tool(ENDS)
def forget_preference(caller: Caller, id_or_substring: Which) -> Done:
    """End a saved fact; it is kept for audit and can be undone. Use it when the user wants it
    forgotten."""
    return Done.by(caller.memory.forget(id_or_substring))


@tool(SETS)
def confirm_preference(caller: Caller, id_or_substring: Which) -> Done:
    """Note that the user affirmed a saved fact, so that it does not fade."""
    return Done.by(caller.memory.confirm(id_or_substring))


@tool(SETS)
def link_preferences(caller: Caller, from_id: str, to_id: str, relation: Related) -> Done:
    """Relate two saved facts, as when one explains or contradicts the other."""
    return Done.by(caller.memory.link(from_id, to_id, relation))


@tool(READS)
def list_preferences(caller: Caller, category: str | None = None) -> Found:
    """List the saved facts in force, newest first. Use it to see what is known before you save."""
    memory = caller.memory
    categories = () if category is None else (category,)
    page = memory.list(categories=categories, limit=LISTED)
    return Found.listing(memory, page.items, more=page.cursor is not None)


@tool(READS)
def recall_preferences(caller: Caller, query: str, limit: int | None = None) -> Found:
    """Search all saved facts, with their details and those held with little confidence. Use it for
    what your prompt does not already tell."""
    memory = caller.memory
    return Found.by(memory, memory.recall(query, minimum_confidence=0, **given(limit=limit)))


PREFERENCES = (
    save_preference,
    update_preference,
    forget_preference,
    confirm_preference,
    list_preferences,
    recall_preferences,
    link_preferences,
)
