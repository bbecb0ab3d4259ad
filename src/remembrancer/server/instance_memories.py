"""The memories of one instance as its callers know them: by the id and the time of the first
version, whatever has been updated since.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from remembrancer.errors import NotFound
from remembrancer.memory import Memory
from remembrancer.types import Fact, Kind, Page, Record, Status, Written, kind_of, looks_like_id

LIVE_STATUSES = (Status.ACTIVE, Status.UNCONFIRMED)
MAX_RESULTS = 1000


def list_facts(me: Memory, *, limit: int, cursor: str | None = None, **filters: Any) -> Page[Fact]:
    """The facts that match, newest version first."""
    page = me.list(kinds=[Kind.FACT], minimum_importance=0, limit=limit, cursor=cursor, **filters)
    return Page(_select_facts(page.items), page.cursor)


def search_facts(me: Memory, query: str, *, limit: int, **filters: Any) -> list[Fact]:
    """The facts that match a query by meaning or by words, best first."""
    found = me.recall(
        query,
        kinds=[Kind.FACT],
        minimum_importance=0,
        limit=min(limit, MAX_RESULTS),
        used=False,
        **filters,
    )
    return [*_select_facts(one.memory for one in found)]


def find_live(me: Memory, id: str) -> Fact:
    """The live version of a fact, by the id of any of its versions."""
    if id.isascii() and looks_like_id(id) and kind_of(id) is Kind.FACT:
        for one in reversed(me.history(id).versions):
            if isinstance(one, Fact) and one.status in LIVE_STATUSES:
                return one
    raise NotFound(f"There is no memory {id}.")


def remember_fact(
    me: Memory, content: str, *, source_conversation: str | None = None, **details: Any
) -> Written:
    """Store a fact; its source conversation must exist."""
    given = {name: value for name, value in details.items() if value is not None}
    if source_conversation is not None:
        given["session_id"] = me.session(source_conversation).id
    return me.remember(content, **given)


def list_created(me: Memory, facts: Sequence[Fact]) -> dict[str, datetime]:
    """When the first version of each fact was stored, by lineage."""
    first = me.several({one.lineage for one in facts})
    return {one.lineage: first.get(one.lineage, one).recorded_at for one in facts}


def list_conversations(me: Memory, facts: Iterable[Fact]) -> set[str]:
    """The source conversations of these facts that still exist."""
    return {id for id in {one.session_id for one in facts} if id is not None and _exists(me, id)}


def _exists(me: Memory, session_id: str) -> bool:
    try:
        return me.session(session_id).id == session_id
    except NotFound:
        return False


def _select_facts(records: Iterable[Record]) -> tuple[Fact, ...]:
    return tuple(one for one in records if isinstance(one, Fact))
