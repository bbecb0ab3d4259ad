"""Tags by which a caller knows that nothing has changed, and we that they saw what there is."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import replace

from fastapi import Request, Response

from remembrancer.server.problems import Changed
from remembrancer.types import Record


class Unchanged(Exception):
    """The caller has it already; raised instead of telling it again."""

    def __init__(self, tag: str) -> None:
        super().__init__(tag)
        self.tag = tag


def of(*values: object) -> str:
    """The tag of some values; being recalled does not change a memory."""
    parts = (repr(_still(one)).encode() for one in values)
    return f'W/"{hashlib.blake2b(b"|".join(parts), digest_size=12).hexdigest()}"'


def tell(request: Request, response: Response, tag: str) -> None:
    """Give an answer its tag, unless the caller has it already."""
    if _named(request, "if-none-match") & {tag, "*"}:
        raise Unchanged(tag)
    response.headers["ETag"] = tag


def expect(request: Request, tag: str) -> None:
    """Refuse to change what is no longer as the caller saw it."""
    wanted = _named(request, "if-match")
    if wanted and "*" not in wanted and tag not in wanted:
        raise Changed("It has changed since you read it; read it again before you decide.")


def _named(request: Request, header: str) -> set[str]:
    tags = (one.strip() for one in request.headers.get(header, "").split(","))
    return {one if one.startswith(("W/", "*")) else f"W/{one}" for one in tags if one}


def _still(value: object) -> object:
    if isinstance(value, Record):
        return replace(value, recall_count=0, recalled_at=None)
    if isinstance(value, Iterable) and not isinstance(value, str | bytes):
        return [_still(one) for one in value]
    return value
