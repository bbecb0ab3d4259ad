"""One person's memories as lines of JSON: everything, with history and vectors, and back."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

from remembrancer.errors import BadBackup
from remembrancer.guard.redaction import contains_secret
from remembrancer.store import dump, schema
from remembrancer.store.contract import DumpRow, Store
from remembrancer.transfer.ndjson import encode_lines, parse_row
from remembrancer.types import Owner

FORMAT_VERSION = 1
MAX_HEADER_BYTES = 10_000
TEXT_COLUMNS = frozenset(
    "content summary body subject predicate quote title note reason speaker "
    "tags metadata evidence before after settings".split()
)
"""The columns that hold what people say."""


def export_person(store: Store, owner: Owner) -> Iterator[bytes]:
    """All there is of someone at one moment; the first line says what the others are."""
    head = {
        "format": FORMAT_VERSION,
        "schema": schema.HEAD,
        "tenant": owner.tenant,
        "user": owner.user,
    }
    yield json.dumps(head, ensure_ascii=False).encode() + b"\n"
    with store.dump(owner) as rows:
        yield from encode_lines(rows)


def is_export(path: Path) -> bool:
    """Whether a file begins as an export of ours does."""
    try:
        with path.open("rb") as file:
            head = json.loads(file.readline(MAX_HEADER_BYTES))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(head, dict) and {"format", "schema", "tenant", "user"} <= head.keys()


def import_person(store: Store, owner: Owner, lines: Iterable[bytes], *, replace: bool) -> int:
    """Bring in what was exported, as the memories of this person; how many rows.

    Nothing is changed unless every line is sound, and none if they have other memories here.
    """
    given = iter(lines)
    _check_header(next(given, b""))
    rows = [_assign_owner(owner, parse_row(line)) for line in given if line.strip()]
    for number, row in enumerate(rows, 2):
        dump.check_row(dump.PERSONAL_TABLES, row)
        _refuse_secrets(number, row)
    store.load(owner, rows, replace=replace)
    return len(rows)


def _check_header(line: bytes) -> None:
    try:
        head = json.loads(line)
    except ValueError as error:
        raise BadBackup("This is no export: its first line is not JSON.") from error
    if not isinstance(head, dict) or head.get("format") != FORMAT_VERSION:
        raise BadBackup("This is no export: its first line does not say so.")
    if head.get("schema") != schema.HEAD:
        raise BadBackup(
            f"The export has tables of the revision {head.get('schema')}, here it is "
            f"{schema.HEAD}: export it again with this version."
        )


def _refuse_secrets(number: int, row: DumpRow) -> None:
    """What we exported has none; whoever puts one into the file has it refused here too."""
    _, columns = row
    for name in TEXT_COLUMNS & columns.keys():
        if contains_secret(columns[name]):
            raise BadBackup(f"Line {number} of the export holds a secret in {name}.")


def _assign_owner(owner: Owner, row: DumpRow) -> DumpRow:
    """A row as this person's, whoever they were called before."""
    table, columns = row
    if table != "owners":
        return row
    return table, {**columns, "tenant": owner.tenant, "name": owner.user}
