"""Listings of several kinds as one: a server lists each kind by itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from remembrancer.client.codec import build_as_of_params, parse_page, parse_value
from remembrancer.client.http import ServerClient
from remembrancer.errors import InvalidInput, NotFound
from remembrancer.types import Kind, Page, Record, Status, looks_like_id, parse_enum

if TYPE_CHECKING:
    from remembrancer.recall.filters import ListFilter

PATH_BY_KIND = {Kind.FACT: "facts", Kind.RULE: "rules", Kind.EPISODE: "episodes"}
KIND_BY_FILTER = {
    "subject": Kind.FACT,
    "category": Kind.FACT,
    "maturity": Kind.RULE,
    "from": Kind.EPISODE,
    "to": Kind.EPISODE,
}
"""What can be said of one kind alone."""

UNSUPPORTED_FILTERS = {"permanences", "backlogs", "session", "confidence_below"}
"""What only a memory that is kept here can be narrowed by."""


def list_page(
    server: ServerClient, narrowing: ListFilter, *, limit: int, cursor: str | None, **params: Any
) -> Page[Record]:
    """One page of all kinds that are meant, the newest first."""
    from remembrancer.paging import encode_cursor

    asked = {**_build_query(narrowing), **params, "limit": limit, "cursor": cursor}
    pages = [
        parse_page(Record, server.read("memory", PATH_BY_KIND[kind], **asked))
        for kind in _select_kinds(narrowing, asked)
    ]
    found = sorted(
        (one for page in pages for one in page.items),
        key=lambda one: (one.recorded_at, one.id),
        reverse=True,
    )
    more = len(found) > limit or any(page.cursor for page in pages)
    # A cursor names the last entry that was shown, so that one does for all kinds.
    last = found[limit - 1] if more else None
    return Page(tuple(found[:limit]), encode_cursor(last.recorded_at, last.id) if last else None)


def resolve_id(server: ServerClient, reference: str, *statuses: Status) -> str:
    """The id of the one memory that is meant, by its id or by words in it and in no other.

    A server understands ids alone, so for words its listings are read.
    """
    from remembrancer.remember.resolve import find_by_words

    if looks_like_id(reference):
        return reference
    found = find_by_words(_iter_memories(server, statuses), reference)
    if found is None:
        raise NotFound("No memory has that id or contains those words.")
    return found.id


def _iter_memories(server: ServerClient, statuses: tuple[Status, ...]) -> Iterator[Record]:
    for status in statuses:
        for place in PATH_BY_KIND.values():
            for told in server.iter_entries("memory", place, status=status, min_importance=0):
                yield parse_value(Record, told)


def _build_query(narrowing: ListFilter) -> dict[str, Any]:
    if untold := sorted(UNSUPPORTED_FILTERS & narrowing.keys()):
        raise InvalidInput(f"A server does not narrow by {untold[0]}: leave it out.")
    asked = {
        "scope": narrowing.get("scope"),
        "tag": narrowing.get("tags"),
        "min_importance": narrowing.get("minimum_importance"),
        "subject": narrowing.get("subject"),
        "category": narrowing.get("categories"),
        "maturity": narrowing.get("maturities"),
        "from": narrowing.get("recorded_from"),
        "to": narrowing.get("recorded_before"),
        **build_as_of_params(narrowing.get("as_of")),
    }
    return {name: value for name, value in asked.items() if value not in (None, (), [])}


def _select_kinds(narrowing: ListFilter, query: Mapping[str, Any]) -> list[Kind]:
    kinds = [parse_enum(Kind, one, "kinds") for one in narrowing.get("kinds") or PATH_BY_KIND]
    if Kind.TURN in kinds:
        raise InvalidInput("A server tells turns conversation by conversation: use turns().")
    only = {KIND_BY_FILTER[name] for name in query if name in KIND_BY_FILTER}
    if Kind.EPISODE in only and {*kinds} != {Kind.EPISODE}:
        raise InvalidInput("A server narrows episodes alone by time: say kinds=['episode'].")
    return [kind for kind in PATH_BY_KIND if kind in kinds and only <= {kind}]
