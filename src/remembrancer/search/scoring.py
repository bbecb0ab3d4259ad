"""Adds the signals up to a score, weighted by the profile."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from remembrancer.profiles import EvidenceWeights
from remembrancer.search.query import ParsedQuery
from remembrancer.search.signals import Signals

Floats = NDArray[np.float32]
Places = NDArray[np.int64]


def compute_base_scores(signals: Signals, weights: EvidenceWeights) -> Floats:
    """The score of each document by its own text, without its position and speaker."""
    found = np.float32(weights.meaning) * np.clip(signals.similarity, 0, 1)
    found += np.float32(weights.words / signals.words_scale) * signals.bm25
    found += np.float32(weights.phrases) * signals.phrases
    found += np.float32(weights.passage) * signals.passage
    return found


def compute_score_parts(
    signals: Signals,
    question: ParsedQuery,
    weights: EvidenceWeights,
    base_scores: Floats,
    at: Places,
) -> Mapping[str, Floats]:
    """The terms of the score, by signal, of the documents at some places."""
    traits, similarity = signals.traits, np.clip(signals.similarity[at], 0, 1)
    found = {
        "meaning": weights.meaning * similarity,
        "words": weights.words / signals.words_scale * signals.bm25[at],
        "phrases": weights.phrases * signals.phrases[at],
        "passage": weights.passage * signals.passage[at],
        **_compute_neighbour_parts(signals, weights, base_scores, at),
        "speaker": weights.speaker * signals.by_named_speaker[at],
        "nod": -weights.nod * traits.acknowledgement[at],
        "time": weights.time * signals.time_fit[at],
    }
    if not question.asks_assistant:
        found["assistant"] = -weights.assistant * traits.is_by_assistant[at]
    if not question.looks_back:
        found["standing"] = weights.standing * traits.is_instruction[at] * (0.5 + 2 * similarity)
    if question.asks_advice:
        found["preference"] = weights.preference * traits.states_preference[at]
    if question.asks_when:
        found["dates"] = weights.dates * traits.mentions_date[at]
    if question.order:
        found["order"] = weights.order * question.order * (0.5 - signals.age[at])
    if question.unwanted:
        found["unwanted"] = -weights.unwanted * signals.unwanted[at]
    return found


def _compute_neighbour_parts(
    signals: Signals, weights: EvidenceWeights, base_scores: Floats, at: Places
) -> Mapping[str, Floats]:
    """When people chat, the answer is often next to the turn that resembles the query."""
    chatting, asks = signals.traits.is_chat[at], signals.traits.is_question
    before, after = signals.previous[at], signals.following[at]
    asked = np.where(asks[before], 1.0, 0.5) * _scores_at(base_scores, before)
    return {
        "before": weights.before * chatting * asked,
        "after": weights.after * chatting * _scores_at(base_scores, after),
        "asking": -weights.asking * (chatting & asks[at]),
    }


def _scores_at(base_scores: Floats, places: NDArray[np.int32]) -> Floats:
    """Base scores at some places; 0 where there is no such place."""
    inside = (places >= 0) & (places < len(base_scores))
    return np.where(inside, base_scores[np.where(inside, places, 0)], 0)
