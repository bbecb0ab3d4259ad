"""When a job is due."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from remembrancer.cron import Cron
from remembrancer.errors import InvalidSetting

MONDAY = datetime(2026, 3, 2, 12, 0, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("expression", "due"),
    [
        ("* * * * *", "2026-03-02T12:01:00+00:00"),
        ("0 */6 * * *", "2026-03-02T18:00:00+00:00"),
        ("0 3 * * *", "2026-03-03T03:00:00+00:00"),
        ("15,45 12 * * *", "2026-03-02T12:15:00+00:00"),
        ("0 9 * * 1-5", "2026-03-03T09:00:00+00:00"),
        ("0 0 * * 7", "2026-03-08T00:00:00+00:00"),
        ("0 0 29 2 *", "2028-02-29T00:00:00+00:00"),
        ("0 0 13 * 5", "2026-03-06T00:00:00+00:00"),
        ("5/20 * * * *", "2026-03-02T12:05:00+00:00"),
    ],
)
def test_the_next_time_is_the_first_that_fits(expression: str, due: str) -> None:
    assert Cron.parse(expression).next_after(MONDAY) == datetime.fromisoformat(due)


@pytest.mark.parametrize(
    "expression",
    ["", "* * * *", "60 * * * *", "x * * * *", "5-1 * * * *", "*/0 * * * *", "- * * * *"],
)
def test_nonsense_is_refused_with_a_sentence(expression: str) -> None:
    with pytest.raises(InvalidSetting, match=r"cron expression|is not a minute"):
        Cron.parse(expression)


def test_a_date_that_never_comes_is_said_to_be_never_due() -> None:
    with pytest.raises(InvalidSetting, match="never due"):
        Cron.parse("0 0 31 2 *").next_after(MONDAY)
