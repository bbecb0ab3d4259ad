"""The retry rules that all HTTP clients share."""

from __future__ import annotations

import pytest

from remembrancer.retry import (
    EndpointMessages,
    RetryPolicy,
    is_retryable,
    is_sendable_key,
    parse_retry_after,
)


def test_the_delay_doubles_up_to_its_limit() -> None:
    policy = RetryPolicy(initial_delay=0.5, max_delay=3)
    assert [policy.delay_seconds(attempt) for attempt in range(5)] == [0.5, 1, 2, 3, 3]


def test_retry_after_replaces_the_backoff_up_to_the_limit() -> None:
    policy = RetryPolicy(initial_delay=0.5, max_delay=3)
    assert policy.delay_seconds(0, retry_after=2) == 2
    assert policy.delay_seconds(0, retry_after=60) == 3


@pytest.mark.parametrize("status", [408, 429, 500, 503, 529])
def test_a_transient_status_is_retried(status: int) -> None:
    assert is_retryable(status)


@pytest.mark.parametrize("status", [200, 301, 400, 401, 402, 403, 404, 409, 422])
def test_any_other_status_is_not_retried(status: int) -> None:
    assert not is_retryable(status)


@pytest.mark.parametrize(
    ("header", "seconds"),
    [("0", 0), ("1.5", 1.5), ("-1", None), ("nan", None), ("inf", None), ("soon", None)],
)
def test_only_a_number_of_seconds_is_a_retry_after(header: str, seconds: float | None) -> None:
    assert parse_retry_after({"retry-after": header}) == seconds
    assert parse_retry_after({}) is None


@pytest.mark.parametrize("key", ["", "two words", "line\nbreak", "ключ", "tab\t"])
def test_a_key_that_a_header_cannot_carry_is_not_sendable(key: str) -> None:
    assert is_sendable_key("sk-0123")
    assert not is_sendable_key(key)


@pytest.mark.parametrize(
    ("status", "advice"),
    [
        (401, "check the model key"),
        (402, "top up the account"),
        (404, "check the model url"),
        (429, "raise your quota"),
        (503, "try again later"),
    ],
)
def test_the_message_for_a_status_says_what_to_do(status: int, advice: str) -> None:
    message = EndpointMessages("model").rejected(status)
    assert f"({status}): {advice}" in message or f"({status}): wait, or {advice}" in message
