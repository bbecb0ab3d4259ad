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


class ETagHeaders:
    """The tags in a request's conditional headers, and the response that gets an ETag."""

    def __init__(self, request: Request, response: Response) -> None:
        self._request = request
        self._response = response

    def set(self, *values: object) -> None:
        """Set the ETag header. Raises NotModified if the caller's copy is current."""
        tag = _compute_etag(*values)
        if _parse_etags(self._request, "if-none-match") & {tag, "*"}:
            raise NotModified(tag)
        self._response.headers["ETag"] = tag

    def check(self, record: Record) -> None:
        """Raise PreconditionFailed if If-Match names other versions than the current one."""
        accepted = _parse_etags(self._request, "if-match")
        if accepted and not accepted & {_compute_etag(record), "*"}:
            raise PreconditionFailed("The memory has changed since you read it. Read it again.")


def _parse_etags(request: Request, header: str) -> set[str]:
    tags = (one.strip() for one in request.headers.get(header, "").split(","))
    return {one if one.startswith(("W/", "*")) else f"W/{one}" for one in tags if one}


def _compute_etag(*values: object) -> str:
    """Return a weak tag of some values; being recalled does not change a memory's tag."""
    encoded = b"|".join(repr(_strip_recall_counts(value)).encode() for value in values)
    return f'W/"{hashlib.blake2b(encoded, digest_size=12).hexdigest()}"'


def _strip_recall_counts(value: object) -> object:
    if isinstance(value, Record):
        return replace(value, recall_count=0, recalled_at=None)
    if isinstance(value, Iterable) and not isinstance(value, str | bytes):
        return [_strip_recall_counts(one) for one in value]
    return value
