"""Reading histories."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

from bench.data import load, parse_date
from tests.bench.made_up import ADA, write


@pytest.mark.parametrize("name", ["tiny.jsonl", "tiny.jsonl.gz"])
def test_a_file_is_read_compressed_or_not(tmp_path: Path, name: str) -> None:
    ada, eve = load(write(tmp_path / name))

    assert [session.id for session in ada.sessions] == ["s1", "s2"]
    assert ada.turns[1].line == "Ben: Mine is blue, and it has a squeaking brake."
    assert ada.session_of()["s2:2"] == "s2"
    assert eve.questions[0].turns == ("s1:1",)


def test_what_can_be_answered_depends_on_the_category_and_on_known_evidence(tmp_path: Path) -> None:
    ada, _ = load(write(tmp_path / "tiny.jsonl"))

    assert [question.id for question in ada.questions if question.answerable] == ["q1", "q2"]
    assert [question.id for question in ada.questions if question.unanswerable] == ["q3", "q4"]


def test_two_turns_with_the_same_id_are_refused(tmp_path: Path) -> None:
    twice = {**ADA, "sessions": [ADA["sessions"][0], {**ADA["sessions"][0], "id": "s9"}]}

    with pytest.raises(ValueError, match="two turns have the id s1:1"):
        load(write(tmp_path / "tiny.jsonl", twice))


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("1:56 pm on 8 May, 2023", datetime(2023, 5, 8, 13, 56, tzinfo=UTC)),
        ("2023/05/30 (Tue) 02:48", datetime(2023, 5, 30, 2, 48, tzinfo=UTC)),
        ("March-15-2024", datetime(2024, 3, 15, tzinfo=UTC)),
        ("2024-04-01", datetime(2024, 4, 1, tzinfo=UTC)),
        (
            "2024-04-01T10:00:00+02:00",
            datetime(2024, 4, 1, 10, tzinfo=timezone(timedelta(hours=2))),
        ),
        ("some day", None),
        ("", None),
        (None, None),
    ],
)
def test_dates_come_in_many_forms(text: str | None, moment: datetime | None) -> None:
    assert parse_date(text) == moment
