"""Moves the links of merged memories to the memories that are kept."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from remembrancer.store.contract import AddLink, DropLink, Reader, Write
from remembrancer.types import Link, Relation


def transfer_links(
    reader: Reader,
    kept_by_dropped: Mapping[str, str],
    *,
    changed: Collection[object] = (),
    added: Collection[object] = (),
) -> list[Write]:
    """The writes that move links; version links stay, as a version belongs to one memory only.

    A link is dropped without a replacement if it would lead from a memory to itself, or if the
    store or `added` (keys of links the same transaction adds) has that link already. Links with an
    end in `changed` (ids of memories the same transaction changes) stay as they are.
    """
    links = {
        link_key(one): one
        for dropped in kept_by_dropped
        for one in reader.list_links(dropped)
        if one.relation is not Relation.SUPERSEDES
        and one.source not in changed
        and one.target not in changed
    }
    existing = {
        link_key(one) for kept in set(kept_by_dropped.values()) for one in reader.list_links(kept)
    }
    writes: list[Write] = [DropLink(one) for one in links.values()]
    for one in links.values():
        moved = move_link(one, kept_by_dropped)
        key = link_key(moved)
        if moved.source != moved.target and key not in existing and key not in added:
            existing.add(key)
            writes.append(AddLink(moved))
    return writes


def move_link(link: Link, new_ids: Mapping[str, str]) -> Link:
    """The link with its ends replaced by the new ids, where there are any."""
    source, target = (new_ids.get(end, end) for end in (link.source, link.target))
    return replace(link, source=source, target=target)


def link_key(link: Link) -> tuple[str, str, Relation]:
    """What the store identifies a link by."""
    return link.source, link.target, link.relation
