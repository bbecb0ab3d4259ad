"""Validation, redaction and defaults of a new memory, without a store."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from remembrancer.config import Settings
from remembrancer.errors import InvalidInput
from remembrancer.remember.statement import redact_statement, validate_statement
from remembrancer.types import Evidence, Kind, Source

PROFILE = Settings().profile_for()
NOW = datetime(2026, 3, 2, tzinfo=UTC)
TOKEN = "ghp_" + "a1B2c3D4e5F6" * 3


def test_strings_become_enums_and_local_times_become_utc() -> None:
    oslo = datetime.fromisoformat("2026-03-02T10:00:00+01:00")
    statement = validate_statement(
        "Drinks tea", {"kind": "rule", "source": "extracted", "valid_from": oslo}, PROFILE
    )
    assert (statement.kind, statement.source) == (Kind.RULE, Source.EXTRACTED)
    assert statement.valid_from == oslo
    assert statement.valid_from.utcoffset() == timedelta(0)


@pytest.mark.parametrize(
    ("details", "message"),
    [
        ({"kind": "turn"}, "session"),
        ({"kind": "wish"}, "kind"),
        ({"subject": "Ada"}, "both"),
        ({"importance": 0}, "importance"),
        ({"importance": 11}, "importance"),
        ({"confidence": 1.1}, "confidence"),
        ({"ttl_days": 0}, "ttl_days"),
        ({"tags": [" "]}, "tag"),
        ({"category": "x" * 201}, "category"),
        ({"metadata": {"n": float("nan")}}, "JSON"),
        ({"metadata": {"nul": "\x00"}}, "NUL"),
        ({"valid_from": NOW, "valid_until": NOW}, "valid_until"),
    ],
)
def test_bad_fields_are_refused_by_name(details: Any, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        validate_statement("Drinks tea", details, PROFILE)


@pytest.mark.parametrize("content", ["", " \n", "x" * 20_001, "half \ud800", "nul \x00"])
def test_text_that_cannot_be_stored_is_refused(content: str) -> None:
    with pytest.raises(InvalidInput):
        validate_statement(content, {}, PROFILE)


def test_secrets_are_replaced_in_every_field() -> None:
    statement = validate_statement(
        f"The token is {TOKEN}",
        {
            "summary": f"token {TOKEN}",
            "body": f"again {TOKEN}",
            "tags": [TOKEN],
            "metadata": {"deep": [{"er": TOKEN}]},
            "evidence": (Evidence("s", "t", f"quote {TOKEN}"),),
        },
        PROFILE,
    )
    clean, kinds = redact_statement(statement)
    assert TOKEN not in repr(clean)
    assert len(kinds) == 6


def test_a_reference_that_is_a_secret_is_refused() -> None:
    statement = validate_statement("Drinks tea", {"session_id": TOKEN}, PROFILE)
    with pytest.raises(InvalidInput, match="secret"):
        redact_statement(statement)


def test_the_name_of_a_field_gives_a_plain_word_away_as_a_password() -> None:
    statement = validate_statement(
        "hunter2-and-more", {"subject": "mail", "predicate": "password"}, PROFILE
    )
    clean, kinds = redact_statement(statement)
    assert "hunter2" not in clean.content
    assert kinds
