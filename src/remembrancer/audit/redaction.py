"""Redacts the secrets in a stored memory. No I/O."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from remembrancer.guard import redact
from remembrancer.remember.statement import Statement, redact_statement
from remembrancer.types import Fact, Record

FIELDS = ("content", "tags", "metadata")
FACT_FIELDS = (*FIELDS, "subject", "predicate", "summary", "body")


def redact_record(record: Record) -> tuple[Record, tuple[str, ...]]:
    """Returns the memory with placeholders for its secrets, and the kinds that were found."""
    fields = FACT_FIELDS if isinstance(record, Fact) else FIELDS
    clean, found = redact_statement(Statement(**{name: getattr(record, name) for name in fields}))
    quotes = [redact(one.quote) for one in record.evidence]
    found += tuple(finding.kind for quote in quotes for finding in quote.findings)
    if not found:
        return record, ()
    evidence = tuple(
        replace(one, quote=quote.text) for one, quote in zip(record.evidence, quotes, strict=True)
    )
    values: dict[str, Any] = {name: getattr(clean, name) for name in fields}
    return replace(record, **values, evidence=evidence), found
