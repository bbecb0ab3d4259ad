"""Rows as lines of JSON, one way to write each row, and what a member of a backup adds up to."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Iterator
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from remembrancer.errors import BadBackup, InvalidInput
from remembrancer.store.contract import Row
from remembrancer.types import Json, Owner

SYSTEM = "system.jsonl"
PERSON = r"people/[0-9a-f]{32}\.jsonl"
MEMBER = rf"^(system\.jsonl|{PERSON})$"


class Member(BaseModel):
    """A part of a backup: its name, and what must be found when it is read again."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: Annotated[str, Field(pattern=MEMBER)]
    rows: Annotated[int, Field(ge=0)]
    bytes: Annotated[int, Field(ge=0)]
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class Sum:
    """Adds up lines as they pass."""

    def __init__(self) -> None:
        self._digest = hashlib.sha256()
        self.lines = 0
        self.bytes = 0

    def passing(self, lines: Iterable[bytes]) -> Iterator[bytes]:
        """The same lines."""
        for line in lines:
            self._digest.update(line)
            self.lines += 1
            self.bytes += len(line)
            yield line

    def member(self, name: str) -> Member:
        """What has passed; a person's first line says who they are and is no row."""
        rows = self.lines if name == SYSTEM else self.lines - 1
        return Member(name=name, rows=rows, bytes=self.bytes, sha256=self._digest.hexdigest())


def name_of(owner: Owner) -> str:
    """The member that holds a person."""
    return f"people/{owner.id}.jsonl"


def lines_of(rows: Iterable[Row], owner: Owner | None = None) -> Iterator[bytes]:
    """A member's lines: who it is about, then row by row."""
    if owner is not None:
        yield _line({"tenant": owner.tenant, "user": owner.user})
    for table, columns in rows:
        yield _line([table, dict(columns)])


def row_of(line: bytes) -> Row:
    """The row that a line holds."""
    match _parsed(line):
        case [str(table), dict(columns)]:
            return table, columns
        case _:
            raise BadBackup("A line of the backup is not a row.")


def owner_of(line: bytes) -> Owner:
    """The person whom a member's first line names."""
    match _parsed(line):
        case {"tenant": str(tenant), "user": str(user)}:
            try:
                return Owner(tenant, user)
            except InvalidInput as error:
                raise BadBackup("The backup has a person with a name that is none.") from error
        case _:
            raise BadBackup("A member of the backup does not say whose it is.")


def _line(value: Any) -> bytes:
    text = json.dumps(
        value, ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":")
    )
    return text.encode() + b"\n"


def _parsed(line: bytes) -> Json:
    try:
        return _DECODER.decode(line.decode())  # type: ignore[no-any-return]
    except (ValueError, RecursionError) as error:
        raise BadBackup("A line of the backup is not JSON.") from error


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(text)
    return number


_DECODER = json.JSONDecoder(parse_float=_finite, parse_constant=_finite)
