"""Listings of several kinds as one: a server lists each kind by itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from remembrancer.client.server import Server
from remembrancer.client.values import moments, read, read_page
from remembrancer.errors import InvalidInput, NotFound
from remembrancer.types import Kind, Page, Record, Status, looks_like_id, member

if TYPE_CHECKING:
    from remembrancer.recall.filters import Narrowing

LISTS = {Kind.FACT: "facts", Kind.RULE: "rules", Kind.EPISODE: "episodes"}
ONLY = {
    "subject": Kind.FACT,
    "category": Kind.FACT,
    "maturity": Kind.RULE,
    "from": Kind.EPISODE,
    "to": Kind.EPISODE,
}
"""What can be said of one kind alone."""

UNTOLD = {"permanences", "backlogs", "session", "confidence_below"}
"""What only a memory that is kept here can be narrowed by."""


def page_of(
    server: Server, narrowing: Narrowing, *, limit: int, cursor: str | None, **said: Any
) -> Page[Record]:
    """One page of all kinds that are meant, the newest first."""
    from remembrancer.paging import place_of

    asked = {**_asked(narrowing), **said, "limit": limit, "cursor": cursor}
    pages = [
        read_page(Record, server.read("memory", LISTS[kind], **asked))
        for kind in _kinds(narrowing, asked)
    ]
    found = sorted(
        (one for page in pages for one in page.items),
        key=lambda one: (one.recorded_at, one.id),
        reverse=True,
    )
    more = len(found) > limit or any(page.cursor for page in pages)
    # A cursor names the last entry that was shown, so that one does for all kinds.
    last = found[limit - 1] if more else None
    return Page(tuple(found[:limit]), place_of(last.recorded_at, last.id) if last else None)


def named(server: Server, reference: str, *statuses: Status) -> str:
    """The id of the one memory that is meant, by its id or by words in it and in no other.

    A server understands ids alone, so for words its listings are read.
    """
    from remembrancer.remember.resolve import by_words

    if looks_like_id(reference):
        return reference
    found = by_words(_all(server, statuses), reference)
    if found is None:
        raise NotFound("No memory has that id or contains those words.")
    return found.id


def _all(server: Server, statuses: tuple[Status, ...]) -> Iterator[Record]:
    for status in statuses:
        for place in LISTS.values():
            for told in server.pages("memory", place, status=status, min_importance=0):
                yield read(Record, told)


def _asked(narrowing: Narrowing) -> dict[str, Any]:
    if untold := sorted(UNTOLD & narrowing.keys()):
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
        **moments(narrowing.get("as_of")),
    }
    return {name: value for name, value in asked.items() if value not in (None, (), [])}


def _kinds(narrowing: Narrowing, asked: Mapping[str, Any]) -> list[Kind]:
    kinds = [member(Kind, one, "kinds") for one in narrowing.get("kinds") or LISTS]
    if Kind.TURN in kinds:
        raise InvalidInput("A server tells turns conversation by conversation: use turns().")
    only = {ONLY[name] for name in asked if name in ONLY}
    if Kind.EPISODE in only and {*kinds} != {Kind.EPISODE}:
        raise InvalidInput("A server narrows episodes alone by time: say kinds=['episode'].")
    return [kind for kind in LISTS if kind in kinds and only <= {kind}]
