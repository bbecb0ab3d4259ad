"""How words become terms."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembrancer.search.terms import encode_terms, extract_query_terms, extract_terms, fingerprint


def test_case_accents_and_endings_do_not_matter() -> None:
    assert extract_terms("Café MUNICH preferences") == extract_terms("cafe munich Preference")


def test_scripts_without_spaces_are_searched_by_pairs_of_characters() -> None:
    assert set(extract_terms("東京")) <= set(extract_terms("私は東京に住んでいます"))


def test_a_query_loses_its_common_words_unless_it_has_no_others() -> None:
    assert extract_query_terms("what is the name of my dog") == ["name", "dog"]
    assert extract_query_terms("the who") == ["the", "who"]


@given(st.text())
def test_each_term_is_kept_as_four_bytes_in_its_place(text: str) -> None:
    words = extract_terms(text)

    assert encode_terms(words) == b"".join(encode_terms([word]) for word in words)
    assert len(encode_terms(words)) == 4 * len(words)


@given(st.text())
def test_terms_are_safe_to_quote(text: str) -> None:
    assert all(term and term.isalnum() for term in extract_terms(text))


@pytest.mark.parametrize("other", ["keep  it SHORT", " Keep it short ", "keep\tit\nshort"])
def test_a_fingerprint_ignores_case_and_spacing_only(other: str) -> None:
    assert fingerprint("Keep it short") == fingerprint(other)
    assert fingerprint("Keep it short") != fingerprint("Keep it short.")
