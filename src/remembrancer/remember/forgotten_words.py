"""Finds and masks what a text still says of a memory that was forgotten. No I/O."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from remembrancer.search.sentences import SENTENCE_END_PATTERN
from remembrancer.search.terms import STOP_WORDS, WORD_PATTERN, extract_terms, fold, normalise_quote
from remembrancer.types import FORGOTTEN_MARK, Evidence, Fact, Record, Turn

MIN_TERMS = 2
"""A sentence with fewer terms says too little to be looked for in other texts."""

MAX_SENTENCES = 200
MAX_SENTENCE_CHARS = 4000

Span = tuple[int, int]

_SENTENCE_ENDS = " \t\n.,;:!?"
_EDGES = " \t\n.,;:!?\"'“”‘’"
_MASKED = re.escape(FORGOTTEN_MARK)
_MASKS = re.compile(rf"{_MASKED}(?:[\s.,;:!?]*{_MASKED})+")
_WORDS = re.compile(r"[^\W_]")


@dataclass(frozen=True, slots=True)
class Telling:
    """A sentence of a forgotten memory, and the terms that tell all that it says."""

    words: str
    terms: frozenset[str]

    @property
    def is_telling(self) -> bool:
        return len(self.terms) >= MIN_TERMS

    def is_said_by(self, terms: frozenset[str]) -> bool:
        """True if a sentence has all of these terms, and not more than as many others."""
        return self.is_telling and self.terms <= terms and len(terms) <= 2 * len(self.terms)


@dataclass(frozen=True)
class ForgottenWords:
    """The sentences of forgotten memories, the quotes they rest on, and the quotes that others
    rest on, both by turn.

    Others' quotes stay if they are only a part of what was forgotten.
    """

    tellings: tuple[Telling, ...] = ()
    quotes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    kept_quotes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @cached_property
    def is_empty(self) -> bool:
        return not self.tellings and not self.quotes

    @cached_property
    def _verbatim(self) -> list[re.Pattern[str]]:
        told = [one.words for one in self.tellings if one.is_telling]
        cited = [
            quote
            for quotes in self.quotes.values()
            for quote in quotes
            if len(telling_terms(quote)) > MIN_TERMS
        ]
        return [_compile(one) for one in dict.fromkeys((*told, *cited)) if one.strip(_EDGES)]

    @cached_property
    def terms(self) -> frozenset[str]:
        """All terms of what was forgotten."""
        told = (one.terms for one in self.tellings)
        cited = (telling_terms(one) for quotes in self.quotes.values() for one in quotes)
        return frozenset().union(*told, *cited)

    def mask(self, text: str, turn_id: str | None = None) -> str:
        """The text without what it says of the memories; of a turn, also without their quotes."""
        spans = [span for one in self._verbatim for span in _list_spans(one, text)]
        spans += [span for span in _split_sentences(text) if self._is_said(text[slice(*span)])]
        quotes = self.quotes.get(turn_id or "", ())
        spans += [span for one in quotes for span in _find(text, one)]
        held = [
            span
            for one in self.kept_quotes.get(turn_id or "", ())
            if any(_is_part(one, quote) for quote in quotes)
            for span in _find(text, one)
        ]
        return _replace(text, [piece for span in spans for piece in _subtract(span, held)])

    def mask_quote(self, evidence: Evidence) -> Evidence:
        """The evidence of another memory, its quote masked."""
        masked = self.mask(evidence.quote, evidence.turn_id)
        return Evidence(evidence.session_id, evidence.turn_id, masked)

    def shares_terms(self, text: str | None) -> bool:
        """True if a text that was derived from others may be about what was forgotten."""
        return bool(text) and not self.terms.isdisjoint(extract_terms(text or ""))

    def _is_said(self, sentence: str) -> bool:
        terms = telling_terms(sentence)
        return any(one.is_said_by(terms) for one in self.tellings)


def build_forgotten_words(records: Iterable[Record], kept: Iterable[Record] = ()) -> ForgottenWords:
    """The words of records that are gone, other than turns and what a program keeps under a key."""
    gone = [one for one in records if not isinstance(one, Turn) and not _is_of_program(one)]
    tellings = (telling for one in gone for telling in list_tellings(one))
    return ForgottenWords(tuple(dict.fromkeys(tellings)), _group_quotes(gone), _group_quotes(kept))


def list_tellings(record: Record) -> list[Telling]:
    """The sentences of a memory, without the terms that name its subject."""
    subject = record.subject if isinstance(record, Fact) else None
    about = frozenset(extract_terms(f"user {subject or ''}"))
    texts = (record.content, getattr(record, "summary", None), getattr(record, "body", None))
    sentences = (
        one.strip(_EDGES) for text in texts if text for one in SENTENCE_END_PATTERN.split(text)
    )
    told = [one for one in dict.fromkeys(sentences) if one and len(one) <= MAX_SENTENCE_CHARS]
    return [Telling(one, telling_terms(one) - about) for one in told[:MAX_SENTENCES]]


def telling_terms(text: str) -> frozenset[str]:
    """The terms of a text that are no stop words."""
    words = (one for one in WORD_PATTERN.findall(fold(text)) if one not in STOP_WORDS)
    return frozenset(extract_terms(" ".join(words)))


def says_nothing(text: str) -> bool:
    """True if nothing but masks is left of a text."""
    return _WORDS.search(text.replace(FORGOTTEN_MARK, "")) is None


def _is_of_program(record: Record) -> bool:
    return isinstance(record, Fact) and record.has_program_key


def _group_quotes(records: Iterable[Record]) -> dict[str, tuple[str, ...]]:
    found: dict[str, dict[str, None]] = {}
    for source in (source for one in records for source in one.evidence):
        if source.quote.strip(_EDGES):
            found.setdefault(source.turn_id, {})[source.quote] = None
    return {turn: tuple(quotes) for turn, quotes in found.items()}


def _is_part(one: str, whole: str) -> bool:
    part, other = normalise_quote(one), normalise_quote(whole)
    return part in other and len(part) < len(other)


def _compile(words: str) -> re.Pattern[str]:
    """Matches the words whatever their case, spacing and shape of quotation marks."""
    alike = {mark: marks for marks in ("['‘’]", '["“”]') for mark in marks[1:-1]}
    parts = words.strip(_EDGES).split()
    text = r"\s+".join("".join(alike.get(c) or re.escape(c) for c in one) for one in parts)
    return re.compile(rf"(?<!\w){text}(?!\w)", re.IGNORECASE)


def _find(text: str, quote: str) -> list[Span]:
    return _list_spans(_compile(quote), text) if quote.strip(_EDGES) else []


def _list_spans(pattern: re.Pattern[str], text: str) -> list[Span]:
    return [(found.start(), found.end()) for found in pattern.finditer(text)]


def _split_sentences(text: str) -> list[Span]:
    """The sentences of a text, without the punctuation at their ends."""
    ends = [*SENTENCE_END_PATTERN.finditer(text), None]
    spans, start = [], 0
    for end in ends:
        sentence = text[start : end.start() if end else len(text)]
        spans.append((start, start + len(sentence.rstrip(_SENTENCE_ENDS))))
        start = end.end() if end else 0
    return spans


def _subtract(span: Span, held: Sequence[Span]) -> list[Span]:
    """The parts of a span outside those that are held."""
    parts = [span]
    for start, end in held:
        parts = [
            piece
            for left, right in parts
            for piece in ((left, min(right, start)), (max(left, end), right))
            if piece[0] < piece[1]
        ]
    return parts


def _replace(text: str, spans: Iterable[Span]) -> str:
    """The text with a mask for each span; spans that touch or overlap are one."""
    merged: list[Span] = []
    for start, end in sorted(span for span in spans if _WORDS.search(text[slice(*span)])):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    for start, end in reversed(merged):
        text = f"{text[:start]}{FORGOTTEN_MARK}{text[end:]}"
    return _MASKS.sub(FORGOTTEN_MARK, text) if merged else text
