"""Dates, counts and quotations as people read them."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from remembrancer.text_format import describe_surface, format_date, pluralize, quote, shorten


def test_a_date_is_the_day_in_the_given_zone() -> None:
    late = datetime(2026, 3, 2, 22, 30, tzinfo=UTC)
    assert format_date(late) == "2 Mar 2026"
    assert format_date(late, ZoneInfo("Asia/Tokyo")) == "3 Mar 2026"


def test_a_long_text_is_cut_on_one_line() -> None:
    assert shorten("Tea\n at  four", 20) == "Tea at four"
    assert shorten("Tea at four", 11) == "Tea at four"
    assert shorten("Tea at four", 10) == "Tea at fo…"
    assert shorten("Tea at four", 8) == "Tea at…"
    assert quote("Tea at four", 10) == "“Tea at fo…”"


def test_counts_are_in_the_plural_except_for_one() -> None:
    assert pluralize(1, "fact") == "1 fact"
    assert pluralize(0, "fact") == "0 facts"
    assert pluralize(2300, "memory", "memories") == "2,300 memories"


def test_a_surface_without_a_label_keeps_its_name() -> None:
    assert describe_surface("web") == "on the web"
    assert describe_surface("langgraph") == "via langgraph"
