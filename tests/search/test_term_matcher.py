"""A few terms are found in a text as if all its terms were extracted."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembrancer.search.terms import TermMatcher, extract_query_terms, extract_terms


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("running shoes", "She runs in new shoe sizes."),
        ("Zürich café", "Ein Cafe in ZÜRICH"),
        ("TV", "No tv, no tvs"),
        ("猫の名前", "猫の名前はタマです"),
        ("", "nothing is looked for"),
    ],
)
def test_the_terms_of_a_text_are_found(query: str, text: str) -> None:
    terms = extract_query_terms(query)

    assert TermMatcher(terms).find(text) == set(terms) & set(extract_terms(text))


@given(st.text(max_size=60), st.text(max_size=60))
def test_no_text_is_too_strange(query: str, text: str) -> None:
    terms = extract_query_terms(query)

    assert TermMatcher(terms).find(text) <= set(terms) & set(extract_terms(text))
