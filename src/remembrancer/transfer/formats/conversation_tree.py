"""Picks the current branch of a conversation tree."""

from __future__ import annotations

from collections.abc import Mapping


def select_branch(parents: Mapping[str, str | None], leaf: str | None) -> list[str]:
    """Return the nodes from the root to a leaf, or to the last leaf if that one is unknown."""
    return _path_to(parents, leaf) or _path_to(parents, _last_leaf(parents))


def _path_to(parents: Mapping[str, str | None], node: str | None) -> list[str]:
    path: dict[str, None] = {}
    while node is not None and node in parents and node not in path:  # stops at a cycle
        path[node] = None
        node = parents[node]
    return list(reversed(path))


def _last_leaf(parents: Mapping[str, str | None]) -> str | None:
    inner = set(parents.values())
    return next((one for one in reversed(list(parents)) if one not in inner), None)
