"""X3: why a memory is there (ranks, scores, decay, filters) and where it came from, to the turn."""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import numpy as np
import pytest

from remembrancer.clock import SetClock
from remembrancer.embed.cache import CachedEmbedder
from remembrancer.memory import Memory, Remembrancer
from remembrancer.text import terms
from remembrancer.types import Evidence, Recalled

SAID = [
    ("Ada drinks green tea every morning.", {"importance": 4}),
    ("Ada's tea kettle is violet and her tea cups are violet too.", {"permanence": "volatile"}),
    ("Bob drinks coffee.", {"confidence": 0.5}),
    ("The garden needs water in summer.", {"permanence": "ephemeral", "importance": 2}),
    ("Green is Ada's favourite colour.", {}),
    ("Meetings are on Monday.", {"importance": 5}),
]
QUERY = "green tea in the morning"
RATES = {"permanent": 0, "stable": 0.002, "standard": 0.008, "volatile": 0.03, "ephemeral": 0.1}


def told(open_memory: Callable[..., Remembrancer], clock: SetClock, profile: str) -> Memory:
    """A memory in which each statement is some days older than the next."""
    me = open_memory(profile).for_user("ada", agent="bot" if profile == "instances" else None)
    for words, details in SAID:
        me.remember(words, **details)
        clock.move(timedelta(days=3))
    return me


@pytest.fixture(params=["default", "assistant", "instances", "agents"])
def me(request: Any, open_memory: Callable[..., Remembrancer], clock: SetClock) -> Memory:
    return told(open_memory, clock, request.param)


@pytest.mark.parametrize("mode", ["hybrid", "semantic", "keyword"])
def test_X3_the_score_is_the_sum_of_its_parts_and_the_order_that_of_the_scores(
    mode: str, me: Memory
) -> None:
    found = me.recall(QUERY, mode=mode)

    assert found
    for one in found:
        assert one.score == pytest.approx(sum(one.why.parts.values()), abs=1e-12)
    scores = [one.score for one in found]
    assert scores == sorted(scores, reverse=True)


def test_X3_every_part_can_be_computed_from_the_explanation(me: Memory, clock: SetClock) -> None:
    recipes = set()
    for one in me.recall(QUERY, mode="hybrid"):
        recipes.add(one.why.recipe)
        expected = EXPECTED[one.why.recipe](one, clock.now())
        for name, value in expected.items():
            assert one.why.parts[name] == pytest.approx(value, abs=1e-9), name
    assert len(recipes) == 1


def test_X3_similarity_is_the_cosine_of_the_query_and_the_memory(
    me: Memory, embedder: CachedEmbedder
) -> None:
    found = me.recall(QUERY, mode="semantic")
    vectors = embedder.embed([QUERY, *(one.memory.searchable for one in found)])

    for one, vector in zip(found, vectors[1:], strict=True):
        assert one.why.similarity == pytest.approx(float(vectors[0] @ vector), abs=2e-6)
    by_rank = sorted(found, key=lambda one: one.why.semantic_rank or 0)
    assert [one.why.semantic_rank for one in by_rank] == list(range(1, len(found) + 1))
    similarities = [one.why.similarity or 0 for one in by_rank]
    assert similarities == sorted(similarities, reverse=True)


def test_X3_a_restated_memory_is_embedded_by_all_its_words(
    open_memory: Callable[..., Remembrancer], embedder: CachedEmbedder
) -> None:
    me = open_memory().for_user("ada")
    me.remember("Ada drinks green tea every day.", subject="ada", predicate="habit")
    again = me.remember("ada habit: Ada drinks green tea every single day.")
    assert again.replaced is not None

    (found,) = me.recall(QUERY, mode="semantic")

    query, memory = embedder.embed([QUERY, found.memory.searchable])
    assert found.why.similarity == pytest.approx(float(query @ memory), abs=2e-6)


def test_X3_bm25_is_the_published_formula_over_all_that_is_stored(me: Memory) -> None:
    found = me.recall(QUERY, mode="keyword")

    assert {one.memory.content for one in found} == {SAID[0][0], SAID[1][0], SAID[4][0]}
    for one in found:
        assert one.why.bm25 == pytest.approx(bm25(one.memory.content), abs=2e-6)
    by_rank = sorted(found, key=lambda one: one.why.keyword_rank or 0)
    assert [one.why.keyword_rank for one in by_rank] == [1, 2, 3]
    assert [one.why.bm25 for one in by_rank] == sorted(
        (one.why.bm25 or 0 for one in found), reverse=True
    )


def test_X3_age_and_effective_confidence_are_those_of_the_moment(
    me: Memory, clock: SetClock
) -> None:
    decays = me._call.profile.decay.applies_to == "all"

    for one in me.recall(QUERY, limit=50):
        days = (clock.now() - one.memory.recorded_at).days
        assert one.why.age_days == pytest.approx(days)
        rate = RATES[one.memory.permanence] if decays else 0
        expected = one.memory.confidence * math.exp(-rate * days)
        assert one.why.effective_confidence == pytest.approx(expected, abs=1e-9)


def test_X3_what_was_asked_for_is_part_of_the_explanation(
    open_memory: Callable[..., Remembrancer], clock: SetClock
) -> None:
    me = told(open_memory, clock, "default")

    found = me.recall(QUERY, categories=["fact"], minimum_importance=4, minimum_confidence=0.1)

    filters = " ".join(found[0].why.filters)
    for asked in ("categories", "fact", "minimum_importance = 4", "confidence at least 0.1"):
        assert asked in filters


def test_X3_the_turns_that_support_a_memory_come_with_it(
    open_memory: Callable[..., Remembrancer],
) -> None:
    me = open_memory().for_user("ada")
    evidence = (
        Evidence("chat-3", "turn-8", "I switched to green tea"),
        Evidence("chat-4", "turn-1", "every morning"),
    )
    me.remember("Ada drinks green tea.", session_id="chat-3", evidence=evidence)

    (found,) = me.recall(QUERY)

    assert found.why.evidence == evidence
    assert found.memory.session_id == "chat-3"


def test_X3_explaining_looks_from_the_moment_that_was_asked_about(
    open_memory: Callable[..., Remembrancer], clock: SetClock
) -> None:
    me = open_memory().for_user("ada")
    me.remember("Ada drinks green tea.")
    then = clock.move(timedelta(days=10))
    clock.move(timedelta(days=30))

    (found,) = me.recall(QUERY, as_of=then)

    assert found.why.age_days == pytest.approx(10)
    assert found.why.effective_confidence == pytest.approx(math.exp(-0.08))


def _rrf(one: Recalled) -> dict[str, float]:
    pool = 100 if one.why.recipe != "nudged" else 50
    ranks = {"semantic": one.why.semantic_rank, "keyword": one.why.keyword_rank}
    return {name: 1 / (60 + (rank or pool + 1)) for name, rank in ranks.items()}


def _idle(one: Recalled, now: datetime) -> float:
    used = one.memory.recalled_at or one.memory.recorded_at
    return (now - used).total_seconds() / 86400


def _nudged(one: Recalled, now: datetime) -> dict[str, float]:
    return {
        "distance": (one.why.similarity or 0) - 1,
        "importance": 0.02 * one.memory.importance,
        "recency": 0.05 * math.exp(-_idle(one, now) / 30),
    }


def _composite(one: Recalled, now: datetime) -> dict[str, float]:
    return {
        "relevance": 0.4 * sum(_rrf(one).values()) / (2 / 61),
        "importance": 0.3 * one.memory.importance / 10,
        "recency": 0.2 * math.exp(-_idle(one, now) / 30),
        "confidence": 0.1 * one.why.effective_confidence,
    }


EXPECTED: dict[str, Callable[[Recalled, datetime], dict[str, float]]] = {
    "rrf": lambda one, now: _rrf(one),
    "nudged": _nudged,
    "composite": _composite,
}


def bm25(content: str) -> float:
    """Okapi BM25 with k1 = 1.2 and b = 0.75, an inverse document frequency never below 1e-6."""
    documents = [terms(words) for words, _ in SAID]
    mean = float(np.mean([len(words) for words in documents]))
    own = terms(content)
    score = 0.0
    for term in dict.fromkeys(terms("green tea morning")):
        having = sum(term in words for words in documents)
        often = own.count(term)
        rarity = max(math.log((len(documents) - having + 0.5) / (having + 0.5)), 1e-6)
        score += rarity * often * 2.2 / (often + 1.2 * (0.25 + 0.75 * len(own) / mean))
    return score
