"""Splits a turn into the clauses that assert something in the user's own words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from remembrancer.learn.rules.vocabulary import CAPITALISED, Vocabulary
from remembrancer.search.sentences import CODE_FENCE_PATTERN

LONG_TURN_CHARS = 2_000
MAX_TURN_CHARS = 20_000
MAX_CLAUSE_CHARS = 240

MASK = "\0"
CODE_OR_BRACKETS = re.compile(rf"{CODE_FENCE_PATTERN.pattern}|\[[^\]\n]{{0,300}}\]", re.S)
CITED_LINE = re.compile(
    r"^[ \t]*(?:>|\||#|[-*•][ \t]|\d+[.)][ \t]"
    r"|(?:subject|to|from|re|title|prompt|example|input|output|caption|betreff|von|an|asunto|de"
    r"|para|objet|à)[ \t]?:).*$",
    re.M | re.I,
)
QUOTATION = re.compile(
    r'"[^"\n]*(?:"|$)|“[^”\n]*(?:”|$)|„[^“”\n]*(?:[“”]|$)|«[^»\n]*(?:»|$)'
    r"|(?<!\w)['‘][^\n]{1,300}?['’](?!\w)",
    re.M,
)
MAX_QUOTED_TITLE_WORDS = 8
PASTED = re.compile(
    r"^#|^[-*•] |^\d+[.)] |^\w+:\s|[{}<>]|\n[ \t]{0,4}\n[^\n]{1,2000}\n[ \t]{0,4}\n", re.M
)
# Unlike the pattern of search.sentences, this one also ends a sentence after a closing quote.
SENTENCE_END = re.compile(r"(?<=[.!?…])[\"'”’)]*\s+|\n+")
PUNCTUATION = (
    r"\s{1,3}[-–—]{1,3}\s{1,3}|-\s{1,3}(?!(?:und|oder)\b)|\s{0,3}[;…()]\s{0,3}|:\s{1,3}"
    r"|\.\.\.\s{0,3}"
)

CLAUSE_BREAK = (
    rf"{PUNCTUATION}|,?\s{{1,3}}<BREAK>\s{{1,3}}|,\s{{1,3}}<AFTER_COMMA>\b\s{{0,3}}"
    r"|,?\s{1,3}<AND>\s{1,3}(?=<SUBJECT>(?!\w)|<SHARED_VERB>\b)|,\s{1,3}(?=<SUBJECT>(?!\w))"
)
QUESTION_TAIL = r"(?:[,;]| <AND>)\s{1,3}(?:<AND> )?¿?<QUESTION>\b|\s*¿"
LEAD_IN = (
    r"<LEAD_IN>(?!\w)[\s,.!:;–—-]*"
    rf"|(?:<GREETING> )?{CAPITALISED}[a-zß-ÿ]+[,!] +(?=<SUBJECT>\b)"
)
CORRECTED = r"(?P<head>.+?)(?:[,.;…]|\s[-–—])+\s+(?:<CORRECTION>)[,.:!…]*\s+(?P<tail>.+)"
FIRST_WORD = re.compile(r"[\w'’]+")
NUMBER = r"\d[\d.,:]*"
MAX_REPLACED_WORDS = 6
"""Words before a correction within which it must begin to replace them."""


@dataclass(frozen=True, slots=True)
class Clause:
    """A clause without its lead-in; `is_asserted` is False for questions and guesses."""

    words: str
    is_asserted: bool


def split_sentences(text: str, vocabulary: Vocabulary) -> Iterator[str]:
    """Yield the user's own sentences, unchanged; none of a text that looks pasted."""
    if is_borrowed(text, vocabulary):
        return
    for sentence in _split_at_sentence_ends(mask_quotations(text, vocabulary), vocabulary):
        is_own = sentence and MASK not in sentence
        if is_own and not vocabulary.contains("DRAFT", sentence[:LONG_TURN_CHARS]):
            yield sentence


def _split_at_sentence_ends(text: str, vocabulary: Vocabulary) -> Iterator[str]:
    abbreviation = vocabulary.compile(r"(?:\b<ABBREVIATION>|\b[A-Z])\.$")
    corrects = vocabulary.compile(r"<TAKES_BACK>(?=[\s,.:!…])")
    begin = 0
    for found in SENTENCE_END.finditer(text):
        sentence = text[begin : found.start()].strip()
        goes_on = corrects.match(text, found.end()) or abbreviation.search(sentence[-8:])
        if "\n" in found[0] or sentence.endswith("?") or not goes_on:
            yield sentence
            begin = found.end()
    yield text[begin:].strip()


def is_borrowed(text: str, vocabulary: Vocabulary) -> bool:
    """True if a turn is text to work on or a role to play, rather than the user speaking."""
    if len(text) > MAX_TURN_CHARS or vocabulary.contains("NOT_OWN_WORDS", text):
        return True
    return len(text) > LONG_TURN_CHARS and PASTED.search(text) is not None


def mask_quotations(text: str, vocabulary: Vocabulary) -> str:
    """Blank out code, cited lines and quoted speech, without changing the length."""
    for pattern in (CODE_OR_BRACKETS, CITED_LINE):
        text = pattern.sub(lambda found: "\n" * len(found[0]), text)

    def mask(found: re.Match[str]) -> str:
        words = found[0]
        is_speech = len(words.split()) > MAX_QUOTED_TITLE_WORDS
        hides = is_speech or vocabulary.contains("FIRST_PERSON", words)
        return MASK * len(words) if hides else words

    return QUOTATION.sub(mask, text)


def apply_correction(sentence: str, vocabulary: Vocabulary) -> str | None:
    """Apply "in Rome, sorry, in Milan"; None if it is not clear what the correction replaces."""
    found = vocabulary.compile(CORRECTED).fullmatch(sentence[:LONG_TURN_CHARS])
    if found is None:
        return sentence
    start = _find_corrected(found["head"], found["tail"])
    is_fragment = not vocabulary.contains("FINITE_VERB", found["tail"].partition(",")[0])
    if start is None or not (start == 0 or is_fragment):
        return None
    return found["head"][:start] + found["tail"]


def _find_corrected(head: str, tail: str) -> int | None:
    """Where the words begin that are replaced: at the same word, or at the last number."""
    first = FIRST_WORD.match(tail)
    if first is None:
        return None
    word = NUMBER if first[0][0].isdigit() else re.escape(first[0])
    places = [one.start() for one in re.finditer(rf"(?<!\w){word}(?!\w)", head, re.I)]
    is_near = places and len(head[places[-1] :].split()) <= MAX_REPLACED_WORDS
    return places[-1] if is_near else None


def split_clauses(sentence: str, vocabulary: Vocabulary) -> Iterator[Clause]:
    """Yield the clauses of a sentence, without their lead-ins."""
    said = strip_question(sentence, vocabulary)
    is_hypothetical = False
    for piece in _split_pieces(said, vocabulary):
        words = strip_lead_in(piece.strip(' ,.!?;:"”¡'), vocabulary)
        if words and len(piece) <= MAX_CLAUSE_CHARS:
            yield Clause(words, not is_hypothetical and not vocabulary.contains("UNSURE", words))
        is_hypothetical = is_hypothetical or vocabulary.contains("HYPOTHETICAL", piece)
    if len(said) < len(sentence):
        yield Clause(sentence[len(said) :].strip(" ,;"), is_asserted=False)


def _split_pieces(sentence: str, vocabulary: Vocabulary) -> Iterator[str]:
    begin = 0
    for found in vocabulary.compile(CLAUSE_BREAK).finditer(sentence):
        yield sentence[begin : found.start()]
        begin = found.end()
    yield sentence[begin:]


def strip_question(sentence: str, vocabulary: Vocabulary) -> str:
    """The part of a sentence before a question; all of it if there is none."""
    tail = vocabulary.compile(QUESTION_TAIL).search(sentence)
    if tail:
        return sentence[: tail.start()]
    return "" if sentence.endswith("?") else sentence


def strip_lead_in(words: str, vocabulary: Vocabulary) -> str:
    """Remove phrases such as "well," or "by the way," from the start."""
    while found := vocabulary.compile(LEAD_IN).match(words):
        words = words[found.end() :]
    return words.strip()
