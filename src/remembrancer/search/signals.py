"""How each document answers a question: one array per signal, one number per document."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import cast

import numpy as np
from numpy.typing import NDArray

from remembrancer.search.dates import Window
from remembrancer.search.features import Mark
from remembrancer.search.index import DAY, Index, paired
from remembrancer.search.postings import K1, damping, rarity, saturated
from remembrancer.search.query import Known, Question
from remembrancer.search.terms import code, query_terms

REQUEST_WEIGHT = 0.75
"""What a sentence that asks for something counts as evidence, beside one that tells something."""

CHATTY = 80
"""A named speaker whose turns are longer than so many words on average is no person chatting."""

EAGER, LATE = 3.0, 14.0
"""Days by which what was said before or after a stretch of time has lost most of its claim."""

NOWHERE = -2.0
"""Less than any similarity: that of a document without a vector."""

IDEAL_SHARE = 0.4
"""How far a score by words is measured by a perfect document, not by the best there is."""

REACHED = 0.6
"""What a very good document reaches of a perfect one's BM25."""

Floats = NDArray[np.float32]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Match:
    """The signals of all documents for one question, and what is always true of them."""

    traits: Traits
    similarity: Floats
    bm25: Floats
    best_bm25: float
    words_scale: float
    phrases: Floats
    passage: Floats
    unwanted: Floats
    in_time: Floats
    age: Floats
    named: Flags
    previous: NDArray[np.int32]
    following: NDArray[np.int32]


def known(index: Index) -> Known:
    """What an index tells about the people and times in it."""
    said = index.said.values
    if not len(said):
        return Known()
    first, last = (
        datetime.fromtimestamp(float(day) * DAY, UTC) for day in (said.min(), said.max())
    )
    return Known(index.speaker_names[1:], first, last)


@dataclass(frozen=True, slots=True)
class Traits:
    """What is always true of the documents, whatever is asked."""

    chatting: Flags
    assistant: Flags
    asks: Flags
    stands: Flags
    standing: NDArray[np.int64]
    nods: Flags
    dates: Flags
    prefers: Flags
    damping: Floats
    passage_damping: Floats
    first_rows: NDArray[np.int64]
    embedded: NDArray[np.int32]
    later_rows: NDArray[np.int64]
    again: NDArray[np.int32]
    row_weights: Floats


def traits(index: Index) -> Traits:
    """Worked out once for as long as nothing is added."""
    found = index.derived.get("traits")
    if found is None:
        found = index.derived["traits"] = _traits(index)
    return cast(Traits, found)


def _traits(index: Index) -> Traits:
    marks, by_user, chatting = index.marks.values, index.by_user.values, _chatting(index)
    own = by_user & ~chatting & (index.sessions.values >= 0)
    passages = index.passages.values
    turns = passages >= 0
    documents = index.row_documents.values
    embedded, first = np.unique(documents, return_index=True)
    later = np.setdiff1d(np.arange(len(documents)), first, assume_unique=True)
    requests = _marked(index.row_marks.values, Mark.REQUESTS)
    stands = _marked(marks, Mark.STANDS) & own
    return Traits(
        chatting=chatting,
        assistant=~by_user & ~chatting,
        asks=_marked(marks, Mark.ASKS),
        stands=stands,
        standing=np.flatnonzero(stands),
        nods=_marked(marks, Mark.NODS) & own,
        dates=_marked(marks, Mark.DATES),
        prefers=_marked(marks, Mark.PREFERS) & own,
        damping=damping(index.words.lengths),
        passage_damping=damping(
            np.bincount(passages[turns], weights=index.words.lengths[turns]).astype(np.float32)
        ),
        first_rows=first,
        embedded=embedded,
        later_rows=later,
        again=documents[later],
        row_weights=np.where(requests, np.float32(REQUEST_WEIGHT), np.float32(1)),
    )


def match(index: Index, question: Question) -> Match:
    """Compare a question with every document by everything but its meaning."""
    scores, best = bm25(index, question.terms)
    silent = np.zeros(len(index), dtype=np.float32)
    return Match(
        traits=traits(index),
        similarity=np.full(len(index), NOWHERE, dtype=np.float32),
        bm25=scores,
        best_bm25=best,
        words_scale=_words_scale(scores, best),
        phrases=_phrases(index, question.sequence),
        passage=_passages(index, question.topic),
        unwanted=_scaled(bm25(index, question.unwanted)[0]) if question.unwanted else silent,
        in_time=_in_time(index, question),
        age=_age(index) if question.order else silent,
        named=_named(index, question),
        previous=index.previous.values,
        following=index.following.values,
    )


def similarity(index: Index, vector: Floats | None, *, as_evidence: bool = False) -> Floats:
    """The best of each document's vectors; what has none is farther than anything can be.

    As evidence, a sentence that asks for something counts less than one that tells something.
    """
    found = np.full(len(index), NOWHERE, dtype=np.float32)
    if vector is None or not index.vectors.size:
        return found
    rows, of = index.vectors.similarities(vector), traits(index)
    if as_evidence:
        rows *= of.row_weights
    found[of.embedded] = rows[of.first_rows]
    np.maximum.at(found, of.again, rows[of.later_rows])
    return found


def bm25(index: Index, terms: Sequence[str]) -> tuple[Floats, float]:
    """The score of each document, and what one that has every term would get."""
    scores, ideal = np.zeros(len(index), dtype=np.float32), 0.0
    damped = traits(index).damping
    for term in terms:
        documents, counts = index.words.of(code(term))
        weight = rarity(len(documents), len(index))
        ideal += weight * (K1 + 1)
        scores[documents] += saturated(counts, damped[documents], weight)
    return scores, ideal


def _words_scale(scores: Floats, ideal: float) -> float:
    """What BM25 is divided by: weak matches stay weak even when there are no better ones."""
    best = (1 - IDEAL_SHARE) * float(scores.max(initial=0.0))
    return best + IDEAL_SHARE * REACHED * ideal or 1.0


def _passages(index: Index, terms: Sequence[str]) -> Floats:
    """How well the passage that a turn is in fits, as a share of the best."""
    # Counted from one: what is in no passage has number 0, which counts for nothing.
    passages, damped = index.passages.values + 1, traits(index).passage_damping
    if not terms or not len(damped):
        return np.zeros(len(index), dtype=np.float32)
    scores = np.zeros(len(damped) + 1, dtype=np.float32)
    for term in terms:
        documents, counts = index.words.of(code(term))
        often = np.bincount(passages[documents], weights=counts, minlength=len(scores))
        having = np.flatnonzero(often[1:]) + 1
        weight = rarity(len(having), len(damped))
        scores[having] += saturated(often[having], damped[having - 1], weight)
    found: Floats = _scaled(scores)[passages]
    return found


def _phrases(index: Index, sequence: Sequence[str]) -> Floats:
    """How many of its neighbouring words stay together, rare ones first, as a share of the best."""
    scores = np.zeros(len(index), dtype=np.float32)
    codes = np.array([code(word) for word in sequence], dtype=np.uint32)
    if len(codes) < 2:
        return scores
    weights = {each: rarity(index.words.having(each), len(index)) for each in codes.tolist()}
    for pair, first, second in zip(
        paired(codes), codes[:-1].tolist(), codes[1:].tolist(), strict=True
    ):
        if first != second:
            documents, _ = index.pairs.of(int(pair))
            scores[documents] += np.float32((weights[first] + weights[second]) / 2)
    return _scaled(scores)


def _in_time(index: Index, question: Question) -> Floats:
    """How well the day something was said fits the times in question: people tell things late."""
    said = index.said.values
    found = np.zeros(len(index), dtype=np.float32)
    for start, end in _days(index, question):
        early = np.maximum(start - said, 0) / EAGER
        late = np.maximum(said - end, 0) / LATE
        found = np.maximum(found, np.exp(-early - late))
    return found


def _days(index: Index, question: Question) -> list[tuple[float, float]]:
    days = [_span(window) for window in question.windows]
    if question.offset is not None and len(index):
        scores, _ = bm25(index, query_terms(question.offset.event))
        if scores.any():
            centre = index.said.values[int(np.argmax(scores))] + question.offset.days
            days.append((centre - question.offset.slack, centre + question.offset.slack))
    return days


def _span(window: Window) -> tuple[float, float]:
    return window.start.timestamp() / DAY, window.end.timestamp() / DAY


def _age(index: Index) -> Floats:
    """From 0 for what was said last to 1 for what was said first."""
    said = index.said.values
    if not len(said) or said.max() == said.min():
        return np.zeros(len(index), dtype=np.float32)
    age: Floats = ((said.max() - said) / (said.max() - said.min())).astype(np.float32)
    return age


def _chatting(index: Index) -> Flags:
    """Turns of named people who talk to each other, as opposed to someone and an assistant."""
    speakers = index.speakers.values
    turns = np.bincount(speakers, minlength=1)
    words = np.bincount(speakers, weights=index.words.lengths, minlength=1)
    chats = words <= CHATTY * turns
    chats[0] = False
    return np.asarray(chats[speakers] & (index.sessions.values >= 0))


def _named(index: Index, question: Question) -> Flags:
    """The turns of those whom the question names, unless it names everyone."""
    names = index.speaker_names[: int(index.speakers.values.max(initial=0)) + 1]
    wanted = np.array([name in question.speakers for name in names])
    if not question.speakers or wanted[1:].all():
        return np.zeros(len(index), dtype=np.bool_)
    return np.asarray(wanted[index.speakers.values])


def _marked(marks: NDArray[np.uint8], mark: Mark) -> Flags:
    return np.asarray(marks & np.uint8(mark) != 0)


def _scaled(scores: Floats) -> Floats:
    """As shares of the highest."""
    best = float(scores.max(initial=0.0))
    return scores / np.float32(best) if best > 0 else scores
