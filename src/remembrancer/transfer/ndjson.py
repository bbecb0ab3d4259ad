"""Encodes rows as lines of JSON, one canonical form for each row, and digests them."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Iterator
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from remembrancer.errors import BadBackup, InvalidInput
from remembrancer.store.contract import DumpRow
from remembrancer.transfer.data_owner import DataOwner
from remembrancer.types import Json, Owner, Tenant

SYSTEM_MEMBER = "system.jsonl"
PEOPLE, TEAMS = "people", "teams"
MEMBER_PATTERN = rf"^(system\.jsonl|({PEOPLE}|{TEAMS})/[0-9a-f]{{32}}\.jsonl)$"


class ArchiveMember(BaseModel):
    """The name, size and checksum of one file in a backup."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: Annotated[str, Field(pattern=MEMBER_PATTERN)]
    rows: Annotated[int, Field(ge=0)]
    bytes: Annotated[int, Field(ge=0)]
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class LineDigest:
    """Counts and hashes lines while they are iterated."""

    def __init__(self) -> None:
        self._digest = hashlib.sha256()
        self.lines = 0
        self.bytes = 0

    def digest_lines(self, lines: Iterable[bytes]) -> Iterator[bytes]:
        """Yield the same lines."""
        for line in lines:
            self._digest.update(line)
            self.lines += 1
            self.bytes += len(line)
            yield line

    def to_member(self, name: str) -> ArchiveMember:
        # The first line of a person or team names the owner and is not a row.
        rows = self.lines if name == SYSTEM_MEMBER else self.lines - 1
        return ArchiveMember(
            name=name, rows=rows, bytes=self.bytes, sha256=self._digest.hexdigest()
        )


def member_name(data_owner: DataOwner) -> str:
    return f"{TEAMS if isinstance(data_owner, Tenant) else PEOPLE}/{data_owner.id}.jsonl"


def encode_lines(rows: Iterable[DumpRow], data_owner: DataOwner | None = None) -> Iterator[bytes]:
    """Yield the lines of a member: first the owner, if there is one, then the rows."""
    match data_owner:
        case Owner():
            yield _encode_line({"tenant": data_owner.tenant, "user": data_owner.user})
        case Tenant():
            yield _encode_line({"tenant": data_owner.name})
    for table, columns in rows:
        yield _encode_line([table, dict(columns)])


def parse_row(line: bytes) -> DumpRow:
    match _parse_line(line):
        case [str(table), dict(columns)]:
            return table, columns
        case _:
            raise BadBackup("A line of the backup is not a row.")


def parse_data_owner(line: bytes) -> DataOwner:
    """Parse the first line of a member."""
    names = _parse_line(line)
    try:
        match names:
            case {"tenant": str(tenant), "user": str(user)}:
                return Owner(tenant, user)
            case {"tenant": str(tenant)}:
                return Tenant(tenant)
    except InvalidInput as error:
        raise BadBackup("The backup has a person or team with an invalid name.") from error
    raise BadBackup("A file in the backup does not name its owner.")


def _encode_line(value: Any) -> bytes:
    text = json.dumps(
        value, ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":")
    )
    return text.encode() + b"\n"


def _parse_line(line: bytes) -> Json:
    try:
        return _DECODER.decode(line.decode())  # type: ignore[no-any-return]
    except (ValueError, RecursionError) as error:
        raise BadBackup("A line of the backup is not JSON.") from error


def _parse_finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(text)
    return number


_DECODER = json.JSONDecoder(parse_float=_parse_finite, parse_constant=_parse_finite)
