"""Compares a query with every document: one array per signal, one number per document."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import cast

import numpy as np
from numpy.typing import NDArray

from remembrancer.search.dates import TimeWindow
from remembrancer.search.features import TextFeature
from remembrancer.search.index import SECONDS_PER_DAY, Index, pair_codes
from remembrancer.search.postings import (
    K1,
    compute_length_norms,
    inverse_document_frequency,
    score_term,
)
from remembrancer.search.query import CorpusInfo, ParsedQuery
from remembrancer.search.terms import encode_term, extract_query_terms

REQUEST_WEIGHT = 0.75
"""The weight of a sentence that asks for something, beside one that states something."""

MAX_CHAT_TURN_WORDS = 80
"""The longest average turn, in words, of a named speaker who counts as chatting."""

MAX_THANKS_WORDS = 8
"""The longest sentence, in words, that can be nothing but an acknowledgement."""

TELLING_THANKS_WEIGHT = 0.9
"""The weight as an acknowledgement of a text that goes on to tell something."""

EARLY_DECAY_DAYS, LATE_DECAY_DAYS = 3.0, 14.0
"""Days before and after a period over which the time signal fades."""

NO_SIMILARITY = -2.0
"""The similarity of a document without a vector: less than any cosine."""

IDEAL_SHARE = 0.4
"""The share of a perfect document's BM25 in the scale, beside the best actual score."""

TYPICAL_BEST_SHARE = 0.6
"""The share of a perfect document's BM25 that a very good one reaches."""

Floats = NDArray[np.float32]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Signals:
    """The signals of all documents for one query, and their traits."""

    traits: Traits
    similarity: Floats
    bm25: Floats
    best_bm25: float
    words_scale: float
    phrases: Floats
    passage: Floats
    unwanted: Floats
    time_fit: Floats
    age: Floats
    by_named_speaker: Flags
    previous: NDArray[np.int32]
    following: NDArray[np.int32]


def describe_corpus(index: Index) -> CorpusInfo:
    """The speakers and the period of an index."""
    said = index.said_days.values
    if not len(said):
        return CorpusInfo()
    first, last = (
        datetime.fromtimestamp(float(day) * SECONDS_PER_DAY, UTC)
        for day in (said.min(), said.max())
    )
    return CorpusInfo(index.speaker_names[1:], first, last)


@dataclass(frozen=True, slots=True)
class Traits:
    """Properties of the documents that do not depend on the query."""

    is_chat: Flags
    is_by_assistant: Flags
    is_question: Flags
    is_instruction: Flags
    instruction_places: NDArray[np.int64]
    acknowledgement: Floats
    mentions_date: Flags
    states_preference: Flags
    length_norms: Floats
    passage_length_norms: Floats
    first_rows: NDArray[np.int64]
    first_documents: NDArray[np.int32]
    later_rows: NDArray[np.int64]
    later_documents: NDArray[np.int32]
    row_weights: Floats


def get_traits(index: Index) -> Traits:
    """Cached until documents are added."""
    found = index.cache.get("traits")
    if found is None:
        found = index.cache["traits"] = _compute_traits(index)
    return cast(Traits, found)


def _compute_traits(index: Index) -> Traits:
    marks, by_user, chatting = index.marks.values, index.by_user.values, _flag_chat_turns(index)
    own = by_user & ~chatting & (index.sessions.values >= 0)
    passages = index.passages.values
    turns = passages >= 0
    documents = index.row_documents.values
    embedded, first = np.unique(documents, return_index=True)
    later = np.setdiff1d(np.arange(len(documents)), first, assume_unique=True)
    requests = _has_feature(index.row_marks.values, TextFeature.REQUEST)
    stands = _has_feature(marks, TextFeature.INSTRUCTION) & own
    return Traits(
        is_chat=chatting,
        is_by_assistant=~by_user & ~chatting,
        is_question=_has_feature(marks, TextFeature.QUESTION),
        is_instruction=stands,
        instruction_places=np.flatnonzero(stands),
        acknowledgement=_weigh_acknowledgements(index) * own,
        mentions_date=_has_feature(marks, TextFeature.DATE),
        states_preference=_has_feature(marks, TextFeature.PREFERENCE) & own,
        length_norms=compute_length_norms(index.words.lengths),
        passage_length_norms=compute_length_norms(
            np.bincount(passages[turns], weights=index.words.lengths[turns]).astype(np.float32)
        ),
        first_rows=first,
        first_documents=embedded,
        later_rows=later,
        later_documents=documents[later],
        row_weights=np.where(requests, np.float32(REQUEST_WEIGHT), np.float32(1)),
    )


def _weigh_acknowledgements(index: Index) -> Floats:
    """1 for a text that only acknowledges, less for one that also tells, 0 for all others."""
    begins = _has_feature(index.marks.values, TextFeature.ACKNOWLEDGEMENT)
    asks = _has_feature(index.marks.values, TextFeature.REQUEST)
    documents, row_marks = index.row_documents.values, index.row_marks.values
    of_parts = np.bincount(documents, minlength=len(index)) > 1
    tells = ~_has_feature(row_marks, TextFeature.ACKNOWLEDGEMENT | TextFeature.REQUEST)
    tells_more = np.bincount(documents[tells], minlength=len(index)) > 0
    is_telling = np.where(of_parts, tells_more, index.words.lengths > MAX_THANKS_WORDS) & ~asks
    weights = np.where(is_telling, np.float32(TELLING_THANKS_WEIGHT), np.float32(1))
    return np.asarray(weights * begins, dtype=np.float32)


def compute_signals(index: Index, question: ParsedQuery, similarity: Floats) -> Signals:
    """Compare a query with every document; `similarity` is that of their vectors."""
    scores, best = compute_bm25(index, question.terms)
    silent = np.zeros(len(index), dtype=np.float32)
    return Signals(
        traits=get_traits(index),
        similarity=similarity,
        bm25=scores,
        best_bm25=best,
        words_scale=_compute_words_scale(scores, best),
        phrases=_score_phrases(index, question.sequence),
        passage=_score_passages(index, question.topic),
        unwanted=_scale_to_max(compute_bm25(index, question.unwanted)[0])
        if question.unwanted
        else silent,
        time_fit=_score_time_fit(index, question),
        age=_compute_age(index) if question.order else silent,
        by_named_speaker=_flag_named_speakers(index, question),
        previous=index.previous.values,
        following=index.following.values,
    )


def compute_similarity(
    index: Index, vector: Floats | None, *, discount_requests: bool = False
) -> Floats:
    """The highest similarity of each document's vectors; NO_SIMILARITY without a vector.

    As evidence, a sentence that asks for something counts less than one that tells something.
    """
    found = np.full(len(index), NO_SIMILARITY, dtype=np.float32)
    if vector is None or not index.vectors.size:
        return found
    rows, of = index.vectors.similarities(vector), get_traits(index)
    if discount_requests:
        rows *= of.row_weights
    found[of.first_documents] = rows[of.first_rows]
    np.maximum.at(found, of.later_documents, rows[of.later_rows])
    return found


def compute_part_similarity(
    index: Index, vector: Floats, ids: Sequence[str]
) -> dict[str, list[float]]:
    """The similarity of every vector of some documents: one for each part of their texts."""
    places = {
        index.places[one]: one for one in ids if index.places.get(one, len(index)) < len(index)
    }
    documents = index.row_documents.values
    rows = np.flatnonzero(np.isin(documents, list(places)))
    found: dict[str, list[float]] = {}
    for document, score in zip(
        documents[rows].tolist(), index.vectors.similarities_at(rows, vector).tolist(), strict=True
    ):
        found.setdefault(places[document], []).append(score)
    return found


def weigh_terms(index: Index, terms: Sequence[str]) -> dict[str, float]:
    """The inverse document frequency of each term."""
    return {
        term: inverse_document_frequency(index.words.count_documents(encode_term(term)), len(index))
        for term in terms
    }


def compute_bm25(index: Index, terms: Sequence[str]) -> tuple[Floats, float]:
    """The score of each document, and that of one with every term."""
    scores, ideal = np.zeros(len(index), dtype=np.float32), 0.0
    damped = get_traits(index).length_norms
    for term in terms:
        documents, counts = index.words.find(encode_term(term))
        weight = inverse_document_frequency(len(documents), len(index))
        ideal += weight * (K1 + 1)
        scores[documents] += score_term(counts, damped[documents], weight)
    return scores, ideal


def _compute_words_scale(scores: Floats, ideal: float) -> float:
    """The divisor of BM25: weak matches stay weak even if there are no better ones."""
    best = (1 - IDEAL_SHARE) * float(scores.max(initial=0.0))
    return best + IDEAL_SHARE * TYPICAL_BEST_SHARE * ideal or 1.0


def _score_passages(index: Index, terms: Sequence[str]) -> Floats:
    """The BM25 of each turn's passage, as a share of the best."""
    # Passages are numbered from one; documents without a passage have number 0.
    passages, damped = index.passages.values + 1, get_traits(index).passage_length_norms
    if not terms or not len(damped):
        return np.zeros(len(index), dtype=np.float32)
    scores = np.zeros(len(damped) + 1, dtype=np.float32)
    for term in terms:
        documents, counts = index.words.find(encode_term(term))
        often = np.bincount(passages[documents], weights=counts, minlength=len(scores))
        having = np.flatnonzero(often[1:]) + 1
        weight = inverse_document_frequency(len(having), len(damped))
        scores[having] += score_term(often[having], damped[having - 1], weight)
    found: Floats = _scale_to_max(scores)[passages]
    return found


def _score_phrases(index: Index, sequence: Sequence[str]) -> Floats:
    """Pairs of neighbouring query words in each document, weighted by rarity, as a share."""
    scores = np.zeros(len(index), dtype=np.float32)
    codes = np.array([encode_term(word) for word in sequence], dtype=np.uint32)
    if len(codes) < 2:
        return scores
    weights = {
        each: inverse_document_frequency(index.words.count_documents(each), len(index))
        for each in codes.tolist()
    }
    for pair, first, second in zip(
        pair_codes(codes), codes[:-1].tolist(), codes[1:].tolist(), strict=True
    ):
        if first != second:
            documents, _ = index.pairs.find(int(pair))
            scores[documents] += np.float32((weights[first] + weights[second]) / 2)
    return _scale_to_max(scores)


def _score_time_fit(index: Index, question: ParsedQuery) -> Floats:
    """The fit of each document's date to the periods of the query; people report late."""
    said = index.said_days.values
    found = np.zeros(len(index), dtype=np.float32)
    for start, end in _list_day_ranges(index, question):
        early = np.maximum(start - said, 0) / EARLY_DECAY_DAYS
        late = np.maximum(said - end, 0) / LATE_DECAY_DAYS
        found = np.maximum(found, np.exp(-early - late))
    return found


def _list_day_ranges(index: Index, question: ParsedQuery) -> list[tuple[float, float]]:
    days = [_to_day_range(window) for window in question.windows]
    if question.offset is not None and len(index):
        scores, _ = compute_bm25(index, extract_query_terms(question.offset.event))
        if scores.any():
            centre = index.said_days.values[int(np.argmax(scores))] + question.offset.days
            days.append((centre - question.offset.slack, centre + question.offset.slack))
    return days


def _to_day_range(window: TimeWindow) -> tuple[float, float]:
    return window.start.timestamp() / SECONDS_PER_DAY, window.end.timestamp() / SECONDS_PER_DAY


def _compute_age(index: Index) -> Floats:
    """From 0 for the latest document to 1 for the first."""
    said = index.said_days.values
    if not len(said) or said.max() == said.min():
        return np.zeros(len(index), dtype=np.float32)
    age: Floats = ((said.max() - said) / (said.max() - said.min())).astype(np.float32)
    return age


def _flag_chat_turns(index: Index) -> Flags:
    """Turns of named people who talk to each other, not to an assistant."""
    speakers = index.speakers.values
    turns = np.bincount(speakers, minlength=1)
    words = np.bincount(speakers, weights=index.words.lengths, minlength=1)
    chats = words <= MAX_CHAT_TURN_WORDS * turns
    chats[0] = False
    return np.asarray(chats[speakers] & (index.sessions.values >= 0))


def _flag_named_speakers(index: Index, question: ParsedQuery) -> Flags:
    """The turns of the speakers that the query names, unless it names all."""
    names = index.speaker_names[: int(index.speakers.values.max(initial=0)) + 1]
    wanted = np.array([name in question.speakers for name in names])
    if not question.speakers or wanted[1:].all():
        return np.zeros(len(index), dtype=np.bool_)
    return np.asarray(wanted[index.speakers.values])


def _has_feature(marks: NDArray[np.uint8], mark: TextFeature) -> Flags:
    return np.asarray(marks & np.uint8(mark) != 0)


def _scale_to_max(scores: Floats) -> Floats:
    best = float(scores.max(initial=0.0))
    return scores / np.float32(best) if best > 0 else scores
