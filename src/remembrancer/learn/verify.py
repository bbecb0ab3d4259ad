"""Asks a model a second, blind question: does the conversation support these claims?

It sees neither the quotes nor the reasons of the first answer.
"""

from __future__ import annotations

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
from remembrancer.learn.transcript import Transcript
from remembrancer.learn.wording.doubt import Doubt
from remembrancer.llm import InvalidModelResponse, Model, Question
from remembrancer.llm.prompts import load_prompt
from remembrancer.recall.prompt_block import escape_for_prompt
from remembrancer.remember.attributes import USER_SUBJECT, canonical_subject, fold_name


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


def verify(
    model: Model, transcript: Transcript, claims: Sequence[ExtractedFact], now: datetime
) -> Verification:
    """Ask about all claims at once; raises InvalidModelResponse if some got no verdict."""
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
        if (doubt := _find_doubt(verdicts[f"c{place + 1}"], claim, transcript.own_names))
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
    verdict: StrictVerdict, claim: ExtractedFact, own_names: Sequence[str]
) -> Doubt | None:
    if verdict.manner in DOUBT_OF_MANNER:
        return DOUBT_OF_MANNER[verdict.manner]
    if not verdict.supported:
        return {"planned": Doubt.PLANNED, "past": Doubt.PAST}.get(verdict.manner, Doubt.UNSUPPORTED)
    if verdict.about and not _is_same_person(verdict.about, claim.subject, own_names):
        return Doubt.OTHER_PERSON
    return None


def _is_same_person(one: str, other: str | None, own_names: Sequence[str]) -> bool:
    """True if either name contains the other: "Ingrid" and "the user's sister Ingrid"."""
    first = canonical_subject(one, own_names)
    second = canonical_subject(other or USER_SUBJECT, own_names)
    if USER_SUBJECT in (first, second):
        return first == second
    words, others = set(fold_name(first).split("_")), set(fold_name(second).split("_"))
    return words <= others or others <= words
