"""Tags by which a caller knows that nothing has changed, and we that they saw what there is."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import replace

from fastapi import Request, Response

from remembrancer.server.problems import PreconditionFailed
from remembrancer.types import Record


class NotModified(Exception):
    """The caller has it already; raised instead of telling it again."""

    def __init__(self, tag: str) -> None:
        super().__init__(tag)
        self.tag = tag


def compute_etag(*values: object) -> str:
    """The tag of some values; being recalled does not change a memory."""
    parts = (repr(_strip_recall_counts(one)).encode() for one in values)
    return f'W/"{hashlib.blake2b(b"|".join(parts), digest_size=12).hexdigest()}"'


def set_etag(request: Request, response: Response, tag: str) -> None:
    """Give an answer its tag, unless the caller has it already."""
    if _parse_etags(request, "if-none-match") & {tag, "*"}:
        raise NotModified(tag)
    response.headers["ETag"] = tag


def check_if_match(request: Request, tag: str) -> None:
    """Refuse to change what is no longer as the caller saw it."""
    wanted = _parse_etags(request, "if-match")
    if wanted and "*" not in wanted and tag not in wanted:
        raise PreconditionFailed(
            "It has changed since you read it; read it again before you decide."
        )


def _parse_etags(request: Request, header: str) -> set[str]:
    tags = (one.strip() for one in request.headers.get(header, "").split(","))
    return {one if one.startswith(("W/", "*")) else f"W/{one}" for one in tags if one}


def _strip_recall_counts(value: object) -> object:
    if isinstance(value, Record):
        return replace(value, recall_count=0, recalled_at=None)
    if isinstance(value, Iterable) and not isinstance(value, str | bytes):
        return [_strip_recall_counts(one) for one in value]
    return value
