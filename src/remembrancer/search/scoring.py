"""The signals of a match added up, part by part; the weights are data in a profile."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from remembrancer.profiles import EvidenceWeights
from remembrancer.search.query import Question
from remembrancer.search.signals import Match

Floats = NDArray[np.float32]
Places = NDArray[np.int64]


def own(match: Match, weights: EvidenceWeights) -> Floats:
    """What each document says for itself; the rest depends on where it stands and who said it."""
    found = np.float32(weights.meaning) * np.clip(match.similarity, 0, 1)
    found += np.float32(weights.words / match.words_scale) * match.bm25
    found += np.float32(weights.phrases) * match.phrases
    found += np.float32(weights.passage) * match.passage
    return found


def parts(
    match: Match, question: Question, weights: EvidenceWeights, said: Floats, at: Places
) -> Mapping[str, Floats]:
    """What each signal adds to the scores of the documents at some places; `said` is their own."""
    traits, similarity = match.traits, np.clip(match.similarity[at], 0, 1)
    found = {
        "meaning": weights.meaning * similarity,
        "words": weights.words / match.words_scale * match.bm25[at],
        "phrases": weights.phrases * match.phrases[at],
        "passage": weights.passage * match.passage[at],
        **_neighbours(match, weights, said, at),
        "speaker": weights.speaker * match.named[at],
        "nod": -weights.nod * traits.nods[at],
        "time": weights.time * match.in_time[at],
    }
    if not question.asks_assistant:
        found["assistant"] = -weights.assistant * traits.assistant[at]
    if not question.looks_back:
        found["standing"] = weights.standing * traits.stands[at] * (0.5 + 2 * similarity)
    if question.asks_advice:
        found["preference"] = weights.preference * traits.prefers[at]
    if question.asks_when:
        found["dates"] = weights.dates * traits.dates[at]
    if question.order:
        found["order"] = weights.order * question.order * (0.5 - match.age[at])
    if question.unwanted:
        found["unwanted"] = -weights.unwanted * match.unwanted[at]
    return found


def _neighbours(
    match: Match, weights: EvidenceWeights, said: Floats, at: Places
) -> Mapping[str, Floats]:
    """Among people who chat, the answer stands beside what resembles the question."""
    chatting, asks = match.traits.chatting[at], match.traits.asks
    before, after = match.previous[at], match.following[at]
    asked = np.where(asks[before], 1.0, 0.5) * _said(said, before)
    return {
        "before": weights.before * chatting * asked,
        "after": weights.after * chatting * _said(said, after),
        "asking": -weights.asking * (chatting & asks[at]),
    }


def _said(said: Floats, places: NDArray[np.int32]) -> Floats:
    """What is said at some places, and nothing where there is no such place."""
    inside = (places >= 0) & (places < len(said))
    return np.where(inside, said[np.where(inside, places, 0)], 0)
