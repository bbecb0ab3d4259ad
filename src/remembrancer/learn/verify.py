"""Asks a model a second, blind question: does the conversation support these claims?

It sees neither the quotes nor the reasons of the first answer.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from pydantic import ConfigDict, Field

from remembrancer.learn.extracted_fact import ExtractedFact
from remembrancer.learn.model_input import ShortIds, render_transcript
from remembrancer.learn.second_question import (
    DOUBT_OF_MANNER,
    ClaimVerdict,
    Manner,
    ask_for_verdicts,
    build_question,
)
from remembrancer.learn.subjects import USER_NAMES, canonical_subject
from remembrancer.learn.transcript import Transcript
from remembrancer.learn.wording.doubt import Doubt
from remembrancer.llm import InvalidModelResponse, Model, Question
from remembrancer.llm.prompts import load_prompt
from remembrancer.recall.prompt_block import escape_for_prompt
from remembrancer.remember.attributes import USER_SUBJECT, fold_name
from remembrancer.search.kinship import find_relations, widen_relations


class StrictVerdict(ClaimVerdict):
    """A verdict in exactly the form that was asked for."""

    model_config = ConfigDict(strict=True)

    claim: Annotated[str, Field(max_length=20)]
    about: Annotated[str, Field(max_length=200)] | None = None
    manner: Manner = "stated"


@dataclass(frozen=True, slots=True)
class Verification:
    """A doubt for each claim that was not supported, by its position, and the tokens it cost."""

    doubts: Mapping[int, Doubt]
    tokens: int


_PERSON_BREAK = re.compile(r"[()\[\],;/&]|\b(?:and|und|y|et)\b", re.IGNORECASE)
_CAPITALISED = re.compile(r"\b[^\W\d_a-zà-öø-ÿ][\w-]*")


def verify(
    model: Model,
    transcript: Transcript,
    claims: Sequence[ExtractedFact],
    now: datetime,
    *,
    of_anyone: bool = False,
) -> Verification:
    """Ask about all claims at once; raises InvalidModelResponse if some got no verdict.

    With `of_anyone` claims need not be about the user.
    """
    names = ShortIds.of(transcript)
    shown = render_transcript(transcript, names.turns)
    system = load_prompt("verify").replace("{today}", f"{now:%A, %Y-%m-%d}")
    question = build_question(system, shown, [_render_claim(one) for one in claims])
    try:
        verdicts, tokens = _ask(model, question, len(claims))
    except InvalidModelResponse:  # It is asked once more: much depends on this answer.
        verdicts, tokens = _ask(model, question, len(claims))
    doubts = {
        place: doubt
        for place, claim in enumerate(claims)
        if (doubt := _find_doubt(verdicts[f"c{place + 1}"], claim, transcript.own_names, of_anyone))
    }
    return Verification(doubts, tokens)


def _ask(model: Model, question: Question, count: int) -> tuple[dict[str, StrictVerdict], int]:
    """A verdict on each claim, and the tokens it cost."""
    found, tokens = ask_for_verdicts(model, question, StrictVerdict)
    verdicts = {one.claim: one for one in found}
    if any(f"c{number}" not in verdicts for number in range(1, count + 1)):
        raise InvalidModelResponse("The model did not give a verdict on every claim.")
    return verdicts, tokens


def _render_claim(claim: ExtractedFact) -> str:
    about = escape_for_prompt(claim.subject or USER_SUBJECT)
    dates = claim.dates
    span = ""
    if dates is not None:
        ends = (("from", dates.start), ("until", dates.end))
        span = " [" + ", ".join(f"{word} {day:%Y-%m-%d}" for word, day in ends if day) + "]"
    return f"(about {about}) {escape_for_prompt(claim.content)}{span}"


def _find_doubt(
    verdict: StrictVerdict, claim: ExtractedFact, own_names: Sequence[str], of_anyone: bool
) -> Doubt | None:
    if verdict.manner in DOUBT_OF_MANNER:
        return DOUBT_OF_MANNER[verdict.manner]
    if not verdict.supported:
        return {"planned": Doubt.PLANNED, "past": Doubt.PAST}.get(verdict.manner, Doubt.UNSUPPORTED)
    if not verdict.about or (of_anyone and _is_open(verdict.about, claim, own_names)):
        return None
    is_same = _is_same_person(verdict.about, claim.subject, own_names)
    return None if is_same else Doubt.OTHER_PERSON


def _is_open(about: str, claim: ExtractedFact, own_names: Sequence[str]) -> bool:
    """True if the claim names no subject, or the verdict only says who spoke."""
    return claim.subject is None or canonical_subject(about, own_names) == USER_SUBJECT


@dataclass(frozen=True, slots=True)
class _Person:
    """Whom a text means: the user, the words of a name, relations ("the user's sister")."""

    is_user: bool
    names: frozenset[str]
    relations: frozenset[str]

    def can_be(self, other: _Person) -> bool:
        if self.names and other.names:
            return self.names <= other.names or other.names <= self.names
        if not self.names and not other.names:
            return bool(self.relations & other.relations)
        return not (self.is_user or other.is_user)


def _is_same_person(one: str, other: str | None, own_names: Sequence[str]) -> bool:
    """True if two texts can mean one person: "Ingrid" and "the user's sister Ingrid"."""
    first, second = (_read_person(text, own_names) for text in (one, other or USER_SUBJECT))
    if first.is_user and second.is_user:
        return True
    is_only_user = any(one.is_user and not one.names for one in (first, second))
    return not is_only_user and first.can_be(second)


def _read_person(text: str, own_names: Sequence[str]) -> _Person:
    parts = [one.strip() for one in _PERSON_BREAK.split(text) if one.strip()]
    by_user = [one for one in parts if canonical_subject(one, own_names) == USER_SUBJECT]
    rest = " ".join(one for one in parts if one not in by_user)
    relations = widen_relations(find_relations(rest))
    words = [one for one in fold_name(rest).split("_") if one]
    if relations or any(map(_is_user_word, words)):
        named = (one for one in _CAPITALISED.findall(rest) if not find_relations(one))
        words = [one for one in map(fold_name, named) if not _is_user_word(one)]
    return _Person(bool(by_user), frozenset(words), relations)


def _is_user_word(word: str) -> bool:
    """True for "user" in any form: "users", "Nutzers"."""
    return any(len(one) > 3 and word.startswith(one) for one in USER_NAMES)
