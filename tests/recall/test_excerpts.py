"""Which sentences of a long turn a prompt shows."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembrancer.recall.excerpts import QueryTerms, clip, excerpt
from remembrancer.search.terms import extract_query_terms

FILLER = "We talked about the weather and about nothing in particular. "


def ask(question: str, *, wants_number: bool = False) -> QueryTerms:
    weights = dict.fromkeys(extract_query_terms(question), 1.0)
    return QueryTerms(weights, wants_number=wants_number)


def test_a_short_text_is_shown_whole() -> None:
    assert excerpt("I moved.\n\nIt rained.", ask("where do I live?"), 100) == "I moved. It rained."


def test_the_answer_in_the_middle_of_a_long_text_is_shown() -> None:
    text = FILLER * 25 + "The spare key is under the blue flowerpot. " + FILLER * 25

    shown = excerpt(text, ask("where is the spare key?"), 200)

    assert "The spare key is under the blue flowerpot." in shown
    assert shown.startswith("… ")
    assert shown.endswith(" …")
    assert len(shown) <= 200


def test_the_neighbours_of_the_answer_are_shown_where_they_fit() -> None:
    text = FILLER * 9 + "She is a vet. My sister moved to Oslo. It was in May. " + FILLER * 9

    shown = excerpt(text, ask("where did my sister move?"), 75)

    assert shown == "… She is a vet. My sister moved to Oslo. It was in May. …"


def test_sentences_keep_their_order_and_gaps_are_marked() -> None:
    text = f"The boat cost 900. {FILLER * 8}I sold the boat in June. {FILLER * 8}"

    shown = excerpt(text, ask("what about the boat?"), 60)

    assert shown == "The boat cost 900. … I sold the boat in June. …"


def test_a_sentence_without_the_words_is_chosen_by_its_similarity() -> None:
    telling = "Our new puppy chewed the sofa."
    text = FILLER * 9 + telling + " " + FILLER * 9

    shown = excerpt(text, ask("which pets are there?"), 80, {telling: 0.7})

    assert telling in shown


def test_a_question_for_a_number_prefers_the_sentence_with_one() -> None:
    text = f"I like running. {FILLER * 9}I was running 42 km. {FILLER * 9}"

    shown = excerpt(text, ask("how far was I running?", wants_number=True), 25)

    assert "42" in shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("1. Rent a van. 2. Ask Dr. Reyes for the ramp.", "2. Ask Dr. Reyes for the ramp."),
        ("We met J.K. Lund at the ramp. He smiled.", "We met J.K. Lund at the ramp."),
    ],
)
def test_list_markers_and_titles_stay_with_their_sentence(text: str, shown: str) -> None:
    assert shown in excerpt(text + " " + FILLER * 5, ask("ramp"), 44)


def test_code_is_not_shown_in_the_place_of_what_is_said_about_it() -> None:
    code = "```\n" + "ports = load(ports)\n" * 30 + "```"
    text = f"Here it is:\n{code}\nWe opened 12 ports."

    assert "We opened 12 ports." in excerpt(text, ask("which ports?"), 60)


def test_a_sentence_that_is_too_long_is_clipped_around_the_words() -> None:
    sentence = "and so on " * 40 + "the ferry leaves at seven " + "and so forth " * 40

    shown = clip(sentence, ask("when does the ferry leave?"), 60)

    assert "the ferry leaves at seven" in shown
    assert shown.startswith("…")
    assert shown.endswith("…")
    assert len(shown) <= 60


def test_sentences_of_an_unspaced_script_are_told_apart() -> None:
    text = "今日は天気がいいです。" * 20 + "猫の名前はタマです。" + "明日も晴れるでしょう。" * 20

    assert "猫の名前はタマです。" in excerpt(text, ask("猫の名前"), 60)


@given(st.text(max_size=400), st.text(max_size=40), st.integers(min_value=2, max_value=120))
def test_an_excerpt_is_never_too_long(text: str, question: str, max_chars: int) -> None:
    assert len(excerpt(text, ask(question), max_chars)) <= max_chars
