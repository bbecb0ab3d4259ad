"""Signals and their sum over a small index in memory, without a store."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from remembrancer.ids import new_id
from remembrancer.profiles import EvidenceWeights
from remembrancer.search.features import detect_features
from remembrancer.search.index import DocumentRow, Index
from remembrancer.search.query import parse_query
from remembrancer.search.shortlist import Search, compare, iter_by_score
from remembrancer.search.signals import NO_SIMILARITY, describe_corpus
from remembrancer.search.terms import encode_terms, extract_terms
from remembrancer.types import Kind

NOW = datetime(2026, 3, 2, tzinfo=UTC)
TEXTS = (
    "My sister lives in Oslo",
    "The sister ship sails to Oslo and to Bergen and back to Oslo",
    "I drink green tea",
    "Tea is grown in green hills",
)


def index_of(*texts: str) -> Index:
    index = Index("fake")
    rows = [
        DocumentRow(
            number=number,
            id=new_id("fact", NOW + timedelta(seconds=number)),
            kind=Kind.FACT,
            codes=encode_terms(extract_terms(text)),
            marks=detect_features(text),
            session_id=None,
            position=None,
            role=None,
            speaker=None,
            said_at=None,
        )
        for number, text in enumerate(texts)
    ]
    index.extend(rows, [])
    return index


def search(question: str, *texts: str) -> Search:
    index = index_of(*texts)
    query = parse_query(question, NOW, describe_corpus(index))
    similarity = np.full(len(index), NO_SIMILARITY, dtype=np.float32)
    return compare(index, query, similarity, EvidenceWeights())


def first_place(found: Search, kind_weights: dict[Kind, float] | None = None) -> int:
    shortlist = found.shortlist((Kind.FACT,), kind_weights or {})
    return next(shortlist.iter_places(10))[0]


def test_the_document_with_all_words_comes_first() -> None:
    assert first_place(search("green tea", *TEXTS)) == 2
    assert first_place(search("Where does my sister live?", *TEXTS)) == 0


def test_words_that_stay_together_count_as_a_phrase() -> None:
    found = search("green tea", *TEXTS)
    assert found.signals.phrases[2] == 1.0
    assert found.signals.phrases[3] == 0.0


def test_the_explanation_adds_up_to_the_order() -> None:
    found = search("green tea in Oslo", *TEXTS)
    shortlist = found.shortlist((Kind.FACT,), {})
    places = next(shortlist.iter_places(10))
    scores = [sum(shortlist.explain(place).values()) for place in places]
    assert scores == sorted(scores, reverse=True)


def test_the_weight_of_a_kind_scales_every_part() -> None:
    found = search("green tea", *TEXTS)
    plain = found.shortlist((Kind.FACT,), {}).explain(2)
    half = found.shortlist((Kind.FACT,), {Kind.FACT: 0.5}).explain(2)
    assert half == pytest.approx({name: 0.5 * part for name, part in plain.items()})


def test_places_come_in_batches_by_score_and_then_by_age() -> None:
    index = index_of(*TEXTS)
    scores = np.array([0.5, 0.9, 0.5, -1.0], dtype=np.float32)
    assert list(iter_by_score(index, scores, (Kind.FACT,), 1, above=0.0)) == [[1], [0, 2]]
    assert list(iter_by_score(index, scores, (Kind.RULE,), 1)) == []


def test_nothing_found_is_not_relevant() -> None:
    found = search("green tea", *TEXTS)
    assert found.estimate_relevance([]) == 0.0
    certain = found.estimate_relevance([found.index.ids[2]])
    unrelated = found.estimate_relevance([found.index.ids[0]])
    assert certain > unrelated
