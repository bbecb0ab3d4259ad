"""Exports and imports everything of one person as lines of JSON, with history and embeddings."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path

from remembrancer.errors import BadBackup
from remembrancer.guard.redaction import contains_secret
from remembrancer.store import dump, schema
from remembrancer.store.contract import DumpRow, Store
from remembrancer.transfer.ndjson import encode_lines, parse_row
from remembrancer.transfer.trash_filter import TrashFilter, build_trash_filter
from remembrancer.types import Owner

FORMAT_VERSION = 1
MAX_HEADER_BYTES = 10_000
TEXT_COLUMNS = frozenset(
    "content summary body subject predicate quote title note reason speaker "
    "tags metadata evidence before after settings".split()
)
"""Columns with free text, which can hold a secret."""


def export_person(
    store: Store, owner: Owner, now: datetime, *, include_trash: bool = False
) -> Iterator[bytes]:
    """Yield all rows of a person, after a header line; the removed ones only if that is asked."""
    header = {
        "format": FORMAT_VERSION,
        "schema": schema.HEAD,
        "tenant": owner.tenant,
        "user": owner.user,
    }
    yield json.dumps(header, ensure_ascii=False).encode() + b"\n"
    with store.open_reader(owner) as reader:
        kept = TrashFilter() if include_trash else build_trash_filter(reader, now)
    with store.dump(owner) as rows:
        yield from encode_lines(kept.select(rows))


def is_export(path: Path) -> bool:
    """True if the first line of a file is the header of an export."""
    try:
        with path.open("rb") as file:
            header = json.loads(file.readline(MAX_HEADER_BYTES))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(header, dict) and {"format", "schema", "tenant", "user"} <= header.keys()


def import_person(store: Store, owner: Owner, lines: Iterable[bytes], *, replace: bool) -> int:
    """Load an export as the memories of a person and return the number of rows.

    Nothing changes unless every line is valid and, without `replace`, the person has no memories.
    """
    remaining = iter(lines)
    _check_header(next(remaining, b""))
    rows = [_assign_owner(owner, parse_row(line)) for line in remaining if line.strip()]
    for number, row in enumerate(rows, 2):
        dump.check_row(dump.PERSONAL_TABLES, row)
        _refuse_secrets(number, row)
    store.load(owner, rows, replace=replace)
    return len(rows)


def _check_header(line: bytes) -> None:
    try:
        header = json.loads(line)
    except ValueError as error:
        raise BadBackup("This is not an export: its first line is not JSON.") from error
    if not isinstance(header, dict) or header.get("format") != FORMAT_VERSION:
        raise BadBackup("This is not an export: its first line is not a header.")
    if header.get("schema") != schema.HEAD:
        raise BadBackup(
            f"The export has schema revision {header.get('schema')}, this version has "
            f"{schema.HEAD}: export it again with this version."
        )


def _refuse_secrets(number: int, row: DumpRow) -> None:
    # An export has no secrets, but the file can have been edited.
    _, columns = row
    for name in TEXT_COLUMNS & columns.keys():
        if contains_secret(columns[name]):
            raise BadBackup(f"Line {number} of the export contains a secret in {name}.")


def _assign_owner(owner: Owner, row: DumpRow) -> DumpRow:
    """Return the row with the name of the importing person."""
    table, columns = row
    if table != "owners":
        return row
    return table, {**columns, "tenant": owner.tenant, "name": owner.user}
