"""Chooses the sentences of a text that a query asks for. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from remembrancer.search.sentences import CODE_FENCE_PATTERN, SENTENCE_END_PATTERN
from remembrancer.search.terms import TermMatcher

ELLIPSIS = "…"
NUMBER_TERM = "#"
"""Stands for any word with a digit; no word of a text is this term."""

WORDS_WEIGHT = 0.5
"""The weight of a sentence's query terms, beside its similarity to the query."""

CODE_WEIGHT = 0.3
"""The weight of the query terms in a block of code."""

NEIGHBOUR_WEIGHT = 0.4
"""The share of its better neighbour's score that a sentence gets."""

MIN_SCORE = 0.3
"""The least score of a sentence that is shown, as a share of the best."""

PIECE_END_PATTERN = re.compile(rf"{SENTENCE_END_PATTERN.pattern}|(?<=[。！？])")
UNFINISHED_PATTERN = re.compile(
    r"^(?:[\W_]*\d{1,3}[.)]|[-*•#>]+)$|(?:^|[\s(])(?:(?:[^\W\d_]\.)+|[A-Z][a-z]\.)$"
)
"""The end of a piece that belongs to the next: a list marker, an initial, a short title."""

MAX_READ_CHARS = 20_000
"""Characters of a text that are read."""

MAX_UNFINISHED_CHARS = 12
MAX_CLIPPED_CHARS = 2000
"""Characters of a long sentence that are read to clip it."""

_DIGIT_PATTERN = re.compile(r"\d")


class QueryTerms:
    """The terms of a query with their weights; `wants_number` if a number may answer it."""

    def __init__(self, weights: Mapping[str, float], *, wants_number: bool = False) -> None:
        self._weights = dict(weights)
        self._matcher = TermMatcher(weights)
        self._wants_number = wants_number
        self._weights[NUMBER_TERM] = sum(weights.values()) / max(1, len(weights))
        self.total = sum(weights.values()) or 1.0

    def weigh(self, text: str) -> dict[str, float]:
        """The terms in a text, with their weights."""
        found = {term: self._weights[term] for term in self._matcher.find(text)}
        if self._wants_number and _DIGIT_PATTERN.search(text):
            found[NUMBER_TERM] = self._weights[NUMBER_TERM]
        return found


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence or a block of code on one line, and how well it answers a query."""

    text: str
    score: float


def excerpt(
    text: str,
    terms: QueryTerms,
    max_chars: int,
    similarity: Mapping[str, float] | None = None,
) -> str:
    """The sentences of a text that answer a query, in order, at most `max_chars` long.

    `similarity` is that of sentences to the query, where it is known. A short text is shown
    whole; "…" stands for what is left out.
    """
    text = text[:MAX_READ_CHARS]
    whole = " ".join(text.split())
    if len(whole) <= max_chars:
        return whole
    sentences = _score_neighbours(list(_split(text, terms, similarity or {})))
    places = _choose(sentences, max_chars)
    if places:
        return _join([one.text for one in sentences], places)
    best = max(sentences, key=lambda one: one.score)
    return clip(best.text, terms, max_chars)


def clip(sentence: str, terms: QueryTerms, max_chars: int) -> str:
    """The words of a long sentence with the most query terms, as many as fit."""
    if len(sentence) <= max_chars:
        return sentence
    room = max(0, max_chars - 2 * len(ELLIPSIS))
    words = sentence[:MAX_CLIPPED_CHARS].split()
    weights = [terms.weigh(word) for word in words]
    starts = [_step_back(words, at, room // 3) for at, found in enumerate(weights) if found]
    runs = [(start, _run_on(words, start, room)) for start in starts or [0]]
    start, end = max(runs, key=lambda run: (_sum_distinct(weights[slice(*run)]), -run[0]))
    if end == len(words):
        start = _step_back(words, end, room)
    left, right = ELLIPSIS if start else "", ELLIPSIS if end < len(words) else ""
    return f"{left}{' '.join(words[start:end])[:room]}{right}"


def _split(text: str, terms: QueryTerms, similarity: Mapping[str, float]) -> Iterator[Sentence]:
    """The scored sentences of a text; list markers and titles stay with what follows them."""
    begun: list[str] = []
    best = 0.0
    for piece, weight in _split_pieces(text):
        words = weight * WORDS_WEIGHT * sum(terms.weigh(piece).values()) / terms.total
        best = max(best, similarity.get(piece, 0.0) + words)
        begun.append(piece)
        if not _is_unfinished(piece):
            yield Sentence(" ".join(begun), best)
            begun, best = [], 0.0
    if begun:
        yield Sentence(" ".join(begun), best)


def _is_unfinished(piece: str) -> bool:
    start = max(0, len(piece) - MAX_UNFINISHED_CHARS)
    return bool(UNFINISHED_PATTERN.search(piece, start))


def _split_pieces(text: str) -> Iterator[tuple[str, float]]:
    """Sentences and blocks of code, each with the weight of its words."""
    at = 0
    for fence in CODE_FENCE_PATTERN.finditer(text):
        yield from _split_prose(text[at : fence.start()])
        yield " ".join(fence[0].split()), CODE_WEIGHT
        at = fence.end()
    yield from _split_prose(text[at:])


def _split_prose(text: str) -> Iterator[tuple[str, float]]:
    pieces = (" ".join(one.split()) for one in PIECE_END_PATTERN.split(text))
    return ((one, 1.0) for one in pieces if one)


def _score_neighbours(sentences: Sequence[Sentence]) -> list[Sentence]:
    """A sentence next to a good one is worth more than a stray one."""
    scores = [0.0, *(one.score for one in sentences), 0.0]
    return [
        Sentence(one.text, one.score + NEIGHBOUR_WEIGHT * max(before, after))
        for one, before, after in zip(sentences, scores, scores[2:], strict=False)
    ]


def _sum_distinct(weights: Iterable[Mapping[str, float]]) -> float:
    distinct: dict[str, float] = {}
    for some in weights:
        distinct |= some
    return sum(distinct.values())


def _run_on(words: Sequence[str], start: int, room: int) -> int:
    """The end of the run of words from a place that fits; one word at least."""
    for end in range(start, len(words)):
        room -= len(words[end]) + (end > start)
        if room < 0:
            return max(end, start + 1)
    return len(words)


def _step_back(words: Sequence[str], end: int, room: int) -> int:
    """The start of the run of words before a place that fits."""
    for start in range(end - 1, -1, -1):
        room -= len(words[start]) + 1
        if room < 0:
            return min(start + 1, len(words) - 1)
    return 0


def _choose(sentences: Sequence[Sentence], max_chars: int) -> list[int]:
    """The places of the best sentences that fit together; none if the best does not fit."""
    ranked = sorted(range(len(sentences)), key=lambda at: -sentences[at].score)
    least = MIN_SCORE * sentences[ranked[0]].score
    texts = [one.text for one in sentences]
    chosen: list[int] = []
    for at in ranked:
        candidate = sorted([*chosen, at])
        if sentences[at].score < least:
            break
        if len(_join(texts, candidate)) <= max_chars:
            chosen = candidate
        elif not chosen:
            break
    return chosen


def _join(texts: Sequence[str], places: Sequence[int]) -> str:
    """The sentences at some places, with an ellipsis for each gap."""
    said: list[str] = []
    for place, before in zip(places, [-1, *places], strict=False):
        said += [ELLIPSIS] * (place > before + 1) + [texts[place]]
    return " ".join(said + [ELLIPSIS] * (places[-1] < len(texts) - 1))
