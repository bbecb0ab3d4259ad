"""docs/features.md lists every feature with the tests that prove it."""

from __future__ import annotations

from tests.docs.feature_table import PAGE, UNTESTED, fill_table, find_tests, list_features


def test_every_feature_has_a_test() -> None:
    untested = set(list_features(PAGE.read_text("utf-8"))) - set(find_tests())
    assert untested == UNTESTED


def test_every_id_in_the_tests_is_listed() -> None:
    unlisted = set(find_tests()) - set(list_features(PAGE.read_text("utf-8")))
    assert not unlisted


def test_the_tests_column_is_up_to_date() -> None:
    page = PAGE.read_text("utf-8")
    assert fill_table(page, find_tests()) == page, "run python -m tests.docs.feature_table"
