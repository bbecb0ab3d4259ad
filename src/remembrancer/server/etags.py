"""Entity tags for conditional reads (If-None-Match) and writes (If-Match)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import replace

from fastapi import Request, Response

from remembrancer.server.problems import PreconditionFailed
from remembrancer.types import Record


class NotModified(Exception):
    """The caller's copy is current; raised to answer 304."""

    def __init__(self, tag: str) -> None:
        super().__init__(tag)
        self.tag = tag


def compute_etag(*values: object) -> str:
    """Return a weak tag of some values; being recalled does not change a memory's tag."""
    encoded = b"|".join(repr(_strip_recall_counts(value)).encode() for value in values)
    return f'W/"{hashlib.blake2b(encoded, digest_size=12).hexdigest()}"'


def set_etag(request: Request, response: Response, tag: str) -> None:
    """Set the ETag header. Raises NotModified if the caller's copy is current."""
    if _parse_etags(request, "if-none-match") & {tag, "*"}:
        raise NotModified(tag)
    response.headers["ETag"] = tag


def check_if_match(request: Request, tag: str) -> None:
    """Raise PreconditionFailed if If-Match names other versions than the current one."""
    accepted = _parse_etags(request, "if-match")
    if accepted and "*" not in accepted and tag not in accepted:
        raise PreconditionFailed("The memory has changed since you read it. Read it again.")


def _parse_etags(request: Request, header: str) -> set[str]:
    tags = (one.strip() for one in request.headers.get(header, "").split(","))
    return {one if one.startswith(("W/", "*")) else f"W/{one}" for one in tags if one}


def _strip_recall_counts(value: object) -> object:
    if isinstance(value, Record):
        return replace(value, recall_count=0, recalled_at=None)
    if isinstance(value, Iterable) and not isinstance(value, str | bytes):
        return [_strip_recall_counts(one) for one in value]
    return value
