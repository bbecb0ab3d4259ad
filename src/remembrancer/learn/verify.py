"""Asks a model a second, blind question: does the conversation support these claims?

It sees neither the quotes nor the reasons of the first answer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from remembrancer.learn.extracted_fact import ExtractedFact
from remembrancer.learn.model_input import ShortIds, render_transcript
from remembrancer.learn.transcript import Transcript
from remembrancer.learn.wording.doubt import Doubt
from remembrancer.llm import Answer, InvalidModelResponse, Model, Question
from remembrancer.llm.prompts import load_prompt
from remembrancer.recall.prompt_block import escape_for_prompt
from remembrancer.remember.attributes import USER_SUBJECT, canonical_subject, fold_name
from remembrancer.types import Json


class ClaimVerdict(BaseModel):
    """What a model says about one claim."""

    model_config = ConfigDict(extra="ignore", strict=True)

    claim: Annotated[str, Field(max_length=20)]
    supported: bool
    about: Annotated[str, Field(max_length=200)] | None = None
    manner: Literal["stated", "planned", "hypothetical", "ironic", "quoted", "past"] = "stated"


@dataclass(frozen=True, slots=True)
class Verification:
    """A doubt for each claim that was not supported, by its position, and the tokens it cost."""

    doubts: Mapping[int, Doubt]
    tokens: int


DOUBT_OF_MANNER = {
    "hypothetical": Doubt.HYPOTHETICAL,
    "ironic": Doubt.IRONY,
    "quoted": Doubt.QUOTED,
}


def verify(
    model: Model, transcript: Transcript, claims: Sequence[ExtractedFact], now: datetime
) -> Verification:
    """Ask about all claims at once; raises InvalidModelResponse if some got no verdict."""
    names = ShortIds.of(transcript)
    lines = [f"[c{number}] {_render_claim(one)}" for number, one in enumerate(claims, 1)]
    prompt = "\n".join(
        [render_transcript(transcript, names.turns), "", "<claims>", *lines, "</claims>"]
    )
    system = load_prompt("verify").replace("{today}", f"{now:%A, %Y-%m-%d}")
    question = Question(system, prompt, SCHEMA, "verification")
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


def _ask(model: Model, question: Question, count: int) -> tuple[dict[str, ClaimVerdict], int]:
    """A verdict on each claim, and the tokens it cost."""
    answer = model.answer(question)
    verdicts = _parse_verdicts(answer)
    if any(f"c{number}" not in verdicts for number in range(1, count + 1)):
        raise InvalidModelResponse("The model did not give a verdict on every claim.")
    return verdicts, answer.tokens_in + answer.tokens_out


def _render_claim(claim: ExtractedFact) -> str:
    about = escape_for_prompt(claim.subject or USER_SUBJECT)
    dates = claim.dates
    span = ""
    if dates is not None:
        ends = (("from", dates.start), ("until", dates.end))
        span = " [" + ", ".join(f"{word} {day:%Y-%m-%d}" for word, day in ends if day) + "]"
    return f"(about {about}) {escape_for_prompt(claim.content)}{span}"


def _parse_verdicts(answer: Answer) -> dict[str, ClaimVerdict]:
    entries = answer.value.get("verdicts")
    if not isinstance(entries, list):
        raise InvalidModelResponse("The model did not answer with a list of verdicts.")
    found: dict[str, ClaimVerdict] = {}
    for entry in entries:
        try:
            one = ClaimVerdict.model_validate(entry)
        except ValidationError:
            continue
        found[one.claim] = one
    return found


def _find_doubt(
    verdict: ClaimVerdict, claim: ExtractedFact, own_names: Sequence[str]
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


SCHEMA: dict[str, Json] = {
    "type": "object",
    "properties": {
        "verdicts": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "claim": {"type": "string", "maxLength": 6},
                    "supported": {"type": "boolean"},
                    "about": {"type": "string", "maxLength": 60},
                    "manner": {
                        "type": "string",
                        "enum": ["stated", "planned", "hypothetical", "ironic", "quoted", "past"],
                    },
                },
                "required": ["claim", "supported", "about", "manner"],
            },
        }
    },
    "required": ["verdicts"],
}
