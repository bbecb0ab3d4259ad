"""The columns that retiring, renewing and verifying a memory change, without a store."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from remembrancer.remember.lifecycle import renewal_values
from remembrancer.remember.pipeline import retirement_values
from remembrancer.types import Status
from tests.support.records import NOW, make_fact

DAY = timedelta(days=1)
FACT = make_fact()


def test_a_retired_memory_was_valid_until_then() -> None:
    values = retirement_values(FACT, Status.FORGOTTEN, NOW + DAY)
    assert values == {
        "status": Status.FORGOTTEN,
        "retired_at": NOW + DAY,
        "valid_until": NOW + DAY,
    }


def test_validity_never_ends_before_it_begins() -> None:
    values = retirement_values(FACT, Status.SUPERSEDED, NOW + DAY, until=NOW - DAY)
    assert values["valid_until"] == FACT.valid_from


def test_a_known_end_of_validity_is_not_extended() -> None:
    ending = replace(FACT, valid_until=NOW + DAY)
    values = retirement_values(ending, Status.SUPERSEDED, NOW + 9 * DAY)
    assert values["valid_until"] == NOW + DAY


def test_a_confirmation_renews_the_ttl_and_never_shortens_it() -> None:
    short = replace(FACT, ttl_days=7, expires_at=NOW + 7 * DAY)
    assert renewal_values(short, NOW + DAY)["expires_at"] == NOW + 8 * DAY
    long = replace(FACT, ttl_days=7, expires_at=NOW + 100 * DAY)
    assert renewal_values(long, NOW + DAY)["expires_at"] == NOW + 100 * DAY
    assert renewal_values(FACT, NOW + DAY) == {"confirmed_at": NOW + DAY}


def test_a_confirmation_revives_an_expired_memory() -> None:
    expired = replace(FACT, status=Status.EXPIRED, retired_at=NOW)
    values = renewal_values(expired, NOW + DAY)
    assert (values["status"], values["retired_at"]) == (Status.ACTIVE, None)
