"""X3: why a memory is there (ranks, scores, decay, filters) and where it came from, to the turn."""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from remembrancer.clock import ManualClock
from remembrancer.embed.cache import CachedEmbedder
from remembrancer.engine import Remembrancer
from remembrancer.memory import Memory
from remembrancer.search.terms import extract_query_terms, extract_terms
from remembrancer.types import Evidence, Recalled

pytestmark = [pytest.mark.feature("X3"), pytest.mark.postgres_long]

SAID = [
    ("Ada drinks green tea every morning.", {"importance": 4}),
    ("Ada's tea kettle is violet and her tea cups are violet too.", {"permanence": "volatile"}),
    ("Bob drinks coffee.", {"confidence": 0.5}),
    ("The garden needs water in summer.", {"permanence": "ephemeral", "importance": 2}),
    ("Green is Ada's favourite colour.", {}),
    ("Meetings are on Monday.", {"importance": 5}),
]
QUERY = "green tea in the morning"
CLOSE = 0.003
"""How close the similarity is that the default recipe goes by: its vectors are kept as bytes."""

RATES = {"permanent": 0, "stable": 0.002, "standard": 0.008, "volatile": 0.03, "ephemeral": 0.1}


def told(open_memory: Callable[..., Remembrancer], clock: ManualClock, profile: str) -> Memory:
    """A memory in which each statement is some days older than the next."""
    me = open_memory(profile).for_user("ada", agent="bot" if profile == "instances" else None)
    for words, details in SAID:
        me.remember(words, **details)
        clock.advance(timedelta(days=3))
    return me


@pytest.fixture(params=["default", "assistant", "instances", "agents"])
def me(request: Any, open_memory: Callable[..., Remembrancer], clock: ManualClock) -> Memory:
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


def test_X3_every_part_can_be_computed_from_the_explanation(me: Memory, clock: ManualClock) -> None:
    recipes = set()
    for one in me.recall(QUERY, mode="hybrid"):
        recipes.add(one.why.recipe)
        expected = EXPECTED[one.why.recipe](one, clock.now())
        assert one.why.parts.keys() == expected.keys()
        precision = 1e-6 if one.why.recipe == "evidence" else 1e-9
        for name, value in expected.items():
            assert one.why.parts[name] == pytest.approx(value, abs=precision), name
    assert len(recipes) == 1


def test_X3_similarity_is_the_cosine_of_the_query_and_the_memory(
    me: Memory, embedder: CachedEmbedder
) -> None:
    found = me.recall(QUERY, mode="semantic")
    vectors = embedder.embed([QUERY, *(one.memory.search_text for one in found)])

    precision = CLOSE if found[0].why.recipe == "evidence" else 2e-6
    for one, vector in zip(found, vectors[1:], strict=True):
        assert one.why.similarity == pytest.approx(float(vectors[0] @ vector), abs=precision)
    by_rank = sorted(found, key=lambda one: one.why.semantic_rank or 0)
    assert [one.why.semantic_rank for one in by_rank] == list(range(1, len(found) + 1))
    similarities = [one.why.similarity or 0 for one in by_rank]
    assert similarities == sorted(similarities, reverse=True)


def test_X3_a_restated_memory_is_embedded_by_all_its_words(
    open_memory: Callable[..., Remembrancer], embedder: CachedEmbedder
) -> None:
    me = open_memory().for_user("ada")
    me.remember("drinks green tea every day.", subject="user", predicate="habit")
    again = me.remember("user habit: drinks green tea every single day.")
    assert again.replaced is not None

    (found,) = me.recall(QUERY, mode="semantic")

    query, memory = embedder.embed([QUERY, found.memory.search_text])
    assert found.why.similarity == pytest.approx(float(query @ memory), abs=CLOSE)


def test_X3_what_is_no_longer_in_force_takes_no_place_in_the_ranks(
    open_memory: Callable[..., Remembrancer],
) -> None:
    me = open_memory().for_user("ada")
    me.remember("Ada drinks green tea in the morning.")
    me.update("green tea", "Ada used to drink a lot of green tea.")

    (found,) = me.recall(QUERY)

    assert (found.why.semantic_rank, found.why.keyword_rank) == (1, 1)


def test_X3_a_memory_found_by_words_alone_has_no_similarity(me: Memory) -> None:
    for one in me.recall(QUERY, mode="keyword"):
        assert (one.why.similarity, one.why.semantic_rank) == (None, None)
        assert one.why.normalised["meaning"] == 0
        assert "meaning" not in one.why.parts


def test_X3_a_standing_instruction_says_that_it_counts_as_one(
    open_memory: Callable[..., Remembrancer],
) -> None:
    me = open_memory().for_user("ada")
    me.append(
        [
            {"role": "user", "content": "Always serve green tea."},
            {"role": "user", "content": "She serves green tea."},
        ]
    )

    found = {one.memory.content: one.why for one in me.recall(QUERY)}

    standing = found["Always serve green tea."]
    closeness = standing.similarity or 0
    expected = 0.8 * 0.35 * (0.5 + 2 * closeness)
    assert standing.parts["standing"] == pytest.approx(expected, abs=1e-5)
    assert "standing" not in found["She serves green tea."].parts


def test_X3_an_episode_counts_nine_tenths_in_every_part(
    open_memory: Callable[..., Remembrancer],
) -> None:
    me = open_memory().for_user("ada")
    me.remember("Ada drank green tea.", kind="episode")

    (found,) = me.recall(QUERY)

    assert found.why.parts["meaning"] == pytest.approx(0.9 * (found.why.similarity or 0), abs=1e-5)
    words = 0.9 * 0.3 * found.why.normalised["words"]
    assert found.why.parts["words"] == pytest.approx(words, abs=1e-6)


def test_X3_how_likely_anything_relevant_is_remembered_comes_with_the_result(me: Memory) -> None:
    known = me.recall(QUERY)
    unknown = me.recall("quarterly bond yields in Peru")

    assert 0 <= unknown.sure < 0.5 < known.sure <= 1
    assert known.late == ()
    assert me.recall(QUERY, mode="keyword").sure > me.recall("zebra", mode="keyword").sure


def test_X3_bm25_is_the_published_formula_over_all_that_is_stored(me: Memory) -> None:
    found = me.recall(QUERY, mode="keyword")

    assert {one.memory.content for one in found} == {SAID[0][0], SAID[1][0], SAID[4][0]}
    for one in found:
        assert one.why.bm25 == pytest.approx(bm25(one.memory.content), rel=1e-5)
    by_rank = sorted(found, key=lambda one: one.why.keyword_rank or 0)
    assert [one.why.keyword_rank for one in by_rank] == [1, 2, 3]
    assert [one.why.bm25 for one in by_rank] == sorted(
        (one.why.bm25 or 0 for one in found), reverse=True
    )


def test_X3_age_and_effective_confidence_are_those_of_the_moment(
    me: Memory, clock: ManualClock
) -> None:
    decays = me._call.profile.decay.applies_to == "all"

    for one in me.recall(QUERY, limit=50):
        days = (clock.now() - one.memory.recorded_at).days
        assert one.why.age_days == pytest.approx(days)
        assert one.why.confidence == one.memory.confidence
        rate = RATES[one.memory.permanence] if decays else 0
        expected = one.memory.confidence * math.exp(-rate * days)
        assert one.why.effective_confidence == pytest.approx(expected, abs=1e-9)


def test_X3_what_was_asked_for_is_part_of_the_explanation(
    open_memory: Callable[..., Remembrancer], clock: ManualClock
) -> None:
    me = told(open_memory, clock, "default")

    found = me.recall(QUERY, categories=["fact"], minimum_importance=4, minimum_confidence=0.1)

    filters = " ".join(found[0].why.filters)
    for asked in ("categories", "fact", "minimum_importance = 4", "confidence at least 0.1"):
        assert asked in filters


def test_X3_what_filters_nothing_is_no_part_of_the_explanation(
    open_fake: Callable[..., Remembrancer],
) -> None:
    me = open_fake("agents").for_user("ada")
    me.remember("Ada drinks tea.", tags=["drink", "habit"], scope="global")
    unset: Any = {"categories": [], "maturities": (), "agent": None, "subject": None}

    (plain,) = me.recall("tea", scope="global")
    (found,) = me.recall("tea", scope="global", **unset)
    (tagged,) = me.recall("tea", scope="global", tags=["drink", "habit"], **unset)

    assert found.why.filters == plain.why.filters
    assert "scope in global" in found.why.filters
    assert tagged.why.filters == ("tags = drink, habit", *plain.why.filters)


@pytest.mark.parametrize(
    ("profile", "agent", "in_force"),
    [
        ("namespaces", "work", ("kinds = fact", "minimum_importance = 2", "scope within work")),
        ("agents", "health", ("kinds = fact, rule, episode", "scope in global, health")),
    ],
)
def test_X3_what_the_profile_asks_for_is_part_of_the_explanation(
    open_fake: Callable[..., Remembrancer],
    clock: ManualClock,
    profile: str,
    agent: str,
    in_force: tuple[str, ...],
) -> None:
    me = open_fake(profile).for_user("ada", agent=agent)
    me.remember("Ada drinks tea.")

    (found,) = me.recall("tea", as_of=clock.now())

    assert {*in_force, f"known at {clock.now().isoformat()}"} <= set(found.why.filters)


@pytest.mark.parametrize(("mode", "other"), [("semantic", "keyword"), ("keyword", "semantic")])
def test_X3_a_search_that_was_not_made_has_no_part_in_the_score(
    open_memory: Callable[..., Remembrancer], mode: str, other: str
) -> None:
    me = open_memory("instances").for_user("ada", agent="bot")
    me.remember("Ada drinks green tea.")

    (found,) = me.recall("green tea", mode=mode)

    assert set(found.why.parts) == {mode}
    assert getattr(found.why, f"{other}_rank") is None
    assert found.score == pytest.approx(sum(found.why.parts.values()))


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
    open_memory: Callable[..., Remembrancer], clock: ManualClock
) -> None:
    me = open_memory().for_user("ada")
    me.remember("Ada drinks green tea.")
    then = clock.advance(timedelta(days=10))
    clock.advance(timedelta(days=30))

    (found,) = me.recall(QUERY, as_of=then)

    assert found.why.age_days == pytest.approx(10)
    assert found.why.effective_confidence == pytest.approx(math.exp(-0.08))


def _rrf(one: Recalled) -> dict[str, float]:
    ranks = {"semantic": one.why.semantic_rank, "keyword": one.why.keyword_rank}
    return {name: 1 / (60 + rank) if rank else 0 for name, rank in ranks.items()}


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
    ranks = (one.why.semantic_rank, one.why.keyword_rank)
    fused = sum(1 / (60 + (rank or 101)) for rank in ranks)
    return {
        "relevance": 0.4 * fused / (2 / 61),
        "importance": 0.3 * one.memory.importance / 10,
        "recency": 0.2 * math.exp(-_idle(one, now) / 30),
        "confidence": 0.1 * one.why.effective_confidence,
    }


def _evidence(one: Recalled, now: datetime) -> dict[str, float]:
    """Facts that are no instruction, beside nobody's turns: these three signals and no others."""
    similarity = min(max(one.why.similarity or 0, 0), 1)
    best = max(bm25(words) for words, _ in SAID)
    ideal = sum(2.2 * rarity(term) for term in extract_query_terms(QUERY))
    words = bm25(one.memory.content) / (0.6 * best + 0.4 * 0.6 * ideal)
    assert one.why.normalised == pytest.approx({"meaning": similarity, "words": words}, abs=1e-5)
    together = phrases(one.memory.content) / max(phrases(words) for words, _ in SAID)
    parts = {"meaning": similarity, "words": 0.3 * words, "phrases": 0.15 * together}
    return {name: part for name, part in parts.items() if part}


EXPECTED: dict[str, Callable[[Recalled, datetime], dict[str, float]]] = {
    "evidence": _evidence,
    "rrf": lambda one, now: _rrf(one),
    "nudged": _nudged,
    "composite": _composite,
}


def rarity(term: str) -> float:
    """What a term says: more, the fewer documents have it, and never nothing."""
    documents = [extract_terms(words) for words, _ in SAID]
    having = sum(term in words for words in documents)
    return math.log(1 + (len(documents) - having + 0.5) / (having + 0.5))


def bm25(content: str) -> float:
    """BM25 with k1 = 1.2 and b = 0.75."""
    mean = float(np.mean([len(extract_terms(words)) for words, _ in SAID]))
    own = extract_terms(content)
    score = 0.0
    for term in extract_query_terms(QUERY):
        often = own.count(term)
        score += rarity(term) * often * 2.2 / (often + 1.2 * (0.25 + 0.75 * len(own) / mean))
    return score


def phrases(content: str) -> float:
    """The neighbours of the query that are neighbours here too, each by how rare its words are."""
    own = set(pairwise(extract_terms(content)))
    return sum(
        (rarity(a) + rarity(b)) / 2 for a, b in pairwise(extract_terms(QUERY)) if (a, b) in own
    )
