"""I2 and M5: search by meaning, by words, or by both, merged by reciprocal rank with k = 60."""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import timedelta

import pytest

from remembrancer.clock import ManualClock
from remembrancer.engine import Remembrancer
from remembrancer.errors import InvalidInput
from remembrancer.memory import Memory
from remembrancer.testing import FakeEmbedder
from remembrancer.types import Recalled

pytestmark = pytest.mark.feature("I2", "M5")

QUERY = "violet kettle"
TEXTS = {
    # what is said: its cosine to the query
    "The violet kettle whistles.": 0.6,
    "A violet grows here.": 0.8,
    "Tea needs hot water.": 0.7,
    "The kettle is old and so are the cups and the spoons.": 0.1,
    "Nothing to see.": 0.3,
}
BY_MEANING = sorted(TEXTS, key=lambda text: -TEXTS[text])


@pytest.fixture
def me(open_fake: Callable[..., Remembrancer], fake_embedder: FakeEmbedder) -> Memory:
    me = open_fake("instances").for_user("ada", agent="support-bot")
    fake_embedder.set_cosine(QUERY, 1.0)
    for number, (text, cosine) in enumerate(TEXTS.items(), 2):
        _place(fake_embedder, text, cosine, axis=number)
        me.remember(text)
    return me


def contents(found: list[Recalled]) -> list[str]:
    return [one.memory.content for one in found]


@pytest.mark.parametrize("row", ["I2", "M5"])
def test_I2_M5_the_hybrid_score_is_the_sum_of_reciprocal_ranks(row: str, me: Memory) -> None:
    words = {one.memory.content: one.why.keyword_rank for one in me.recall(QUERY, mode="keyword")}

    found = me.recall(QUERY, mode="hybrid")

    both = [one for one in found if one.memory.content in words]
    assert len(both) == 3
    for one in both:
        meaning_rank = BY_MEANING.index(one.memory.content) + 1
        word_rank = words[one.memory.content]
        assert word_rank is not None
        assert one.why.semantic_rank == meaning_rank
        assert one.why.keyword_rank == word_rank
        expected = 1 / (60 + meaning_rank) + 1 / (60 + word_rank)
        assert one.score == pytest.approx(expected, abs=1e-12)


def test_I2_what_one_search_missed_counts_nothing_there(me: Memory) -> None:
    found = me.recall(QUERY, mode="hybrid")

    least = min(one.why.parts["keyword"] for one in found if one.why.keyword_rank)
    missed = [one for one in found if one.why.keyword_rank is None]
    assert {one.memory.content for one in missed} == {"Tea needs hot water.", "Nothing to see."}
    for one in missed:
        assert one.why.parts["keyword"] < least
        assert one.score == pytest.approx(1 / (60 + (one.why.semantic_rank or 0)), abs=1e-12)


def test_I2_agreement_of_both_searches_beats_the_best_of_one(me: Memory) -> None:
    assert contents(me.recall(QUERY))[0] in (
        "The violet kettle whistles.",
        "A violet grows here.",
    )
    assert contents(me.recall(QUERY)).index("The violet kettle whistles.") < contents(
        me.recall(QUERY)
    ).index("Tea needs hot water.")


def test_M5_semantic_mode_goes_by_cosine_alone(me: Memory) -> None:
    found = me.recall(QUERY, mode="semantic")

    assert contents(found) == BY_MEANING
    for place, one in enumerate(found, 1):
        assert one.why.semantic_rank == place
        assert one.why.similarity == pytest.approx(TEXTS[one.memory.content], abs=1e-6)
        assert (one.why.keyword_rank, one.why.bm25) == (None, None)


def test_M5_keyword_mode_finds_only_what_has_the_words(me: Memory) -> None:
    found = me.recall(QUERY, mode="keyword")

    assert contents(found) == [
        "The violet kettle whistles.",
        "A violet grows here.",
        "The kettle is old and so are the cups and the spoons.",
    ]
    for place, one in enumerate(found, 1):
        assert one.why.keyword_rank == place
        assert (one.why.semantic_rank, one.why.similarity) == (None, None)
    assert me.recall("absent words entirely", mode="keyword") == []


def test_M5_hybrid_is_the_usual_mode_and_an_unknown_one_is_refused(me: Memory) -> None:
    assert me.recall(QUERY) == me.recall(QUERY, mode="hybrid")

    with pytest.raises(InvalidInput, match="hybrid, semantic, keyword"):
        me.recall(QUERY, mode="psychic")


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("kettles", "The violet kettle whistles."),
        ("KETTLE", "The violet kettle whistles."),
        ("whistling", "The violet kettle whistles."),
        ("crème brûlée", "Ada loves Creme Brulee."),
        ("東京", "Ada moved to 東京都 in May."),
        ("naïve", "A naive question."),
    ],
)
def test_M5_keywords_match_beyond_case_accents_and_endings(
    query: str, text: str, me: Memory
) -> None:
    me.remember(text)

    assert text in contents(me.recall(query, mode="keyword"))


@pytest.mark.parametrize("query", ["'", '"', "a' OR 1=1 --", "NOT AND OR", "(kettle*", "x:y", "\\"])
def test_M5_no_query_is_syntax(query: str, me: Memory) -> None:
    for mode in ("hybrid", "semantic", "keyword"):
        assert isinstance(me.recall(query, mode=mode), list)


def test_M5_a_word_of_any_length_can_be_stored_and_found(me: Memory) -> None:
    word = "lopado" * 800

    written = me.remember(f"Ada said {word} aloud.")

    assert me.get(written.memory.id).content.count("lopado") == 800
    assert contents(me.recall("aloud", mode="keyword")) == [written.memory.content]


@pytest.mark.parametrize("mode", ["hybrid", "semantic", "keyword"])
def test_M5_what_has_faded_does_not_crowd_out_what_has_not(
    mode: str,
    open_fake: Callable[..., Remembrancer],
    fake_embedder: FakeEmbedder,
    clock: ManualClock,
) -> None:
    me = open_fake("agents").for_user("ada")
    fake_embedder.set_cosine(QUERY, 1.0)
    for number in range(120):
        _place(fake_embedder, f"violet kettle {number}", 0.8, axis=number + 2)
        me.remember(f"violet kettle {number}", permanence="ephemeral")
    clock.advance(timedelta(days=40))
    _place(fake_embedder, "a kettle, still in use", 0.7, axis=200)
    me.remember("a kettle, still in use")

    assert contents(me.recall(QUERY, mode=mode)) == ["a kettle, still in use"]


def _place(embedder: FakeEmbedder, text: str, cosine: float, axis: int) -> None:
    """Put a text at a cosine to the query, away from all others."""
    vector = embedder.embed([text])[0] * 0
    vector[0], vector[axis] = cosine, math.sqrt(1 - cosine**2)
    embedder.vectors[text] = vector
