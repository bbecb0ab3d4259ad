"""How words become terms."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembrancer.search.terms import codes, fingerprint, query_terms, terms


def test_case_accents_and_endings_do_not_matter() -> None:
    assert terms("Café MUNICH preferences") == terms("cafe munich Preference")


def test_scripts_without_spaces_are_searched_by_pairs_of_characters() -> None:
    assert set(terms("東京")) <= set(terms("私は東京に住んでいます"))


def test_a_query_loses_its_common_words_unless_it_has_no_others() -> None:
    assert query_terms("what is the name of my dog") == ["name", "dog"]
    assert query_terms("the who") == ["the", "who"]


@given(st.text())
def test_each_term_is_kept_as_four_bytes_in_its_place(text: str) -> None:
    words = terms(text)

    assert codes(words) == b"".join(codes([word]) for word in words)
    assert len(codes(words)) == 4 * len(words)


@given(st.text())
def test_terms_are_safe_to_quote(text: str) -> None:
    assert all(term and term.isalnum() for term in terms(text))


@pytest.mark.parametrize("other", ["keep  it SHORT", " Keep it short ", "keep\tit\nshort"])
def test_a_fingerprint_ignores_case_and_spacing_only(other: str) -> None:
    assert fingerprint("Keep it short") == fingerprint(other)
    assert fingerprint("Keep it short") != fingerprint("Keep it short.")
