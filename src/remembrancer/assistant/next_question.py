"""Finds the question behind what a person asks to have remembered. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

BREAK = r"(?:[,.;:!?–—]+\s*|\s+-\s+)(?!\s)"
LINK = r"(?:(?:and|but|so|then|now|instead|rather|please|just|also|ok(?:ay)?|anyway),?\s+)*"
SELF = r"(?:i|you|we|it|they|there|this|that|he|she)"
QUESTION = (
    r"what(?:['’]?s|['’]re| (?:about|if|else|next|now|is|are|was|do|does|did|should|would|could|"
    rf"can|will|to|(?!{SELF}\b)\w+ (?:should|would|could|can|do|does|did|is|are|will)))|"
    r"how (?:about|to|do|does|did|can|could|should|would|is|are|will|much|many|long|come)|"
    r"why (?:not|do|does|did|is|are|should|would|\w+n['’]t)|"
    r"which (?:one|of|should|would|\w+ (?:should|would|could|can|do|does|is|are|has|have))|"
    r"(?:where|when|who) (?:do|does|did|can|could|should|would)|"
    r"any (?:ideas?|advice|tips|thoughts|suggestions?|news|alternatives?)|"
    rf"(?:can|could|would|will|do|does|did|is|are|am|was|should|shall|may|have|has) {SELF}"
)
"""How a question or a request begins."""

_SENTENCE_END = re.compile(r"[.!?…]+\s+|\n+")
_JOINED = re.compile(
    rf"(?:(?P<comma>[,;!–—]\s*|\s+-\s+)|\s+(?=(?:and|but|so|then)\s)){LINK}"
    rf"(?P<rest>(?P<question>{QUESTION})|(?P<asked>(?:is|are|do|does|did|should|can|will|has) \w+)|"
    r"(?:tell|show|teach|help|advise|explain to) (?:me|us)|"
    r"give (?:me|us) an?|(?:suggest|recommend) (?:me )?(?:an?|some|something|one))\b",
    re.I,
)
_TAG = re.compile(
    r"(?:,\s*(?:right|ok(?:ay)?|yes|(?:can|could|will|would) you)|,?\s+please)\s*\?*$", re.I
)
_QUOTATION = re.compile(r'"[^"]*"|“[^”]*”')
_BEGINS_CLAUSE = re.compile(
    r"(?:i|we|my|our|he|she|it|they|there|the|an?)\b|i['’]\w+|we['’]\w+|(?-i:[A-Z])", re.I
)


def split_question(told: str) -> tuple[str, str]:
    """What is told, and the question or the request behind it; empty if there is none."""
    told = _TAG.sub("", told.rstrip())
    starts = [*_find_joined_questions(told), *_find_question_sentences(told)]
    if not starts:
        return told, ""
    end, start = min(starts)
    return told[:end].rstrip(" ,"), told[start:].strip()


def is_clause(words: str) -> bool:
    """False for words after "that" that name a thing: "that film we saw"."""
    return _BEGINS_CLAUSE.match(words) is not None


def _find_joined_questions(told: str) -> Iterator[tuple[int, int]]:
    """Where the statement before a question in the same sentence ends, and the question begins."""
    quoted = [found.span() for found in _QUOTATION.finditer(told)]
    for found in _JOINED.finditer(told):
        is_question = told.endswith("?") or (found["question"] and found["comma"])
        is_request = not found["question"] and not found["asked"]
        is_quoted = any(start <= found.start() < end for start, end in quoted)
        if (is_question or is_request) and not is_quoted:
            yield found.start(), found.start("rest")


def _find_question_sentences(told: str) -> Iterator[tuple[int, int]]:
    """The same for sentences that are questions, behind another one."""
    starts = [found.end() for found in _SENTENCE_END.finditer(told)]
    for start, end in pairwise([*starts, len(told)]):
        if told[start:end].rstrip().endswith("?"):
            yield start, start
