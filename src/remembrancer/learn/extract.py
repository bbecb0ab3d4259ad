"""Extracts facts from a transcript with a model; its response is untrusted and validated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from remembrancer.learn.evidence_check import RejectionReason
from remembrancer.learn.extracted_fact import Dates, ExtractedFact, Quote
from remembrancer.learn.model_input import (
    ShortIds,
    describe_language,
    render_input,
)
from remembrancer.learn.subjects import canonical_subject
from remembrancer.learn.transcript import Transcript
from remembrancer.llm import Answer, InvalidModelResponse, Model, Question
from remembrancer.llm.prompts import load_prompt
from remembrancer.remember.attributes import list_attributes
from remembrancer.types import Json, Permanence, Record

MAX_OPERATIONS = 50
MAX_EXCERPT_CHARS = 500
DEFAULT_CONFIDENCE = 0.9
"""The confidence of a proposal that does not say how sure it is."""

Name = Annotated[str, Field(max_length=200)]


class CitedTurn(BaseModel):
    """A turn by its short name, and words of it."""

    model_config = ConfigDict(extra="ignore", strict=True)

    turn: Annotated[str, Field(max_length=4000)]
    quote: Annotated[str, Field(min_length=2, max_length=4000)]


class Period(BaseModel):
    """Days in ISO format; what is not a date is ignored."""

    model_config = ConfigDict(extra="ignore", populate_by_name=True)

    start: str | None = Field(None, alias="from")
    until: str | None = None

    def to_dates(self) -> Dates | None:
        start, end = _parse_day(self.start), _parse_day(self.until)
        if start and end and end < start:
            return None
        return Dates(start, end) if start or end else None


class Operation(BaseModel):
    """One operation of a model's response; an invalid one is rejected, not repaired.

    The limits are wider than those in `SCHEMA`: the schema asks the model to be brief, and a fact
    that is a little longer is not lost for it.
    """

    model_config = ConfigDict(extra="ignore", strict=True)

    op: Literal["add", "update", "retract", "confirm", "skip"]
    content: Annotated[str, Field(min_length=3, max_length=2000)]
    evidence: Annotated[list[CitedTurn], Field(min_length=1, max_length=20)]
    subject: Name | None = None
    predicate: Name | None = None
    category: Annotated[str, Field(max_length=100)] | None = None
    importance: Annotated[float, Field(ge=1, le=10)] | None = None
    permanence: Literal["permanent", "stable", "standard", "volatile", "ephemeral"] | None = None
    confidence: Annotated[float, Field(ge=0, le=1)] = DEFAULT_CONFIDENCE
    when: Period | None = None
    said_as: Annotated[str, Field(max_length=400)] | None = None
    target: Annotated[str, Field(max_length=100)] | None = None

    @model_validator(mode="before")
    @classmethod
    def _accept_one_quote(cls, value: Any) -> Any:
        """Smaller models give `turns` and one `quote` instead of a list."""
        match value:
            case {"turns": [*turns], "quote": quote} if "evidence" not in value:
                return {**value, "evidence": [{"turn": one, "quote": quote} for one in turns]}
        return value


@dataclass(frozen=True, slots=True)
class InvalidProposal:
    """A proposal that cannot be checked further, and why."""

    content: str
    reason: RejectionReason


@dataclass(frozen=True, slots=True)
class Confirmation:
    """The person said again what is remembered."""

    target: str
    fact: ExtractedFact


@dataclass(frozen=True, slots=True)
class Extraction:
    """A model's response for one batch, before the facts are checked against the transcript."""

    candidates: tuple[ExtractedFact, ...] = ()
    confirmations: tuple[Confirmation, ...] = ()
    refused: tuple[InvalidProposal, ...] = ()
    summary: str | None = None
    title: str | None = None
    model: str | None = None
    tokens: int = 0


@dataclass(frozen=True, slots=True)
class InstructionChoices:
    """What a profile chooses: categories with their descriptions, and what is learned about."""

    categories: Mapping[str, str]
    about: Literal["person", "domain"] = "person"


def extract_with_model(
    model: Model,
    transcript: Transcript,
    memories: Sequence[Record],
    choices: InstructionChoices,
    summary: str | None,
    now: datetime,
) -> Extraction:
    """Ask a model what is worth remembering."""
    names = ShortIds.of(transcript, memories)
    prompt = render_input(transcript, memories, summary, names)
    question = Question(_render_instructions(transcript, choices, now), prompt, SCHEMA, "memory")
    return parse_answer(model.answer(question), names)


def _render_instructions(transcript: Transcript, choices: InstructionChoices, now: datetime) -> str:
    own_names = transcript.own_names
    values = {
        "focus": load_prompt(f"extract_{choices.about}").strip(),
        "today": f"{now:%A, %Y-%m-%d}",
        "language": describe_language(transcript),
        "own_name": f" ({', '.join(own_names)})" if own_names else "",
        "attributes": ", ".join(list_attributes()),
        "categories": "; ".join(
            f"{name} ({about})" if about else name for name, about in choices.categories.items()
        ),
    }
    text = load_prompt("extract")
    for name, value in values.items():
        text = text.replace(f"{{{name}}}", value)
    return text


def parse_answer(answer: Answer, names: ShortIds) -> Extraction:
    """Parse a response; raises InvalidModelResponse if it has no list of operations."""
    operations = answer.value.get("operations")
    if not isinstance(operations, list):
        raise InvalidModelResponse("The model did not answer with a list of operations.")
    parsed = [_parse_operation(one, names) for one in operations[:MAX_OPERATIONS]]
    return Extraction(
        tuple(one for one in parsed if isinstance(one, ExtractedFact)),
        tuple(one for one in parsed if isinstance(one, Confirmation)),
        tuple(one for one in parsed if isinstance(one, InvalidProposal)),
        _clip_text(answer.value.get("summary"), 2000),
        _clip_text(answer.value.get("title"), 80),
        answer.model,
        answer.tokens_in + answer.tokens_out,
    )


def _parse_operation(
    value: Json, names: ShortIds
) -> ExtractedFact | Confirmation | InvalidProposal | None:
    try:
        one = Operation.model_validate(value)
    except ValidationError:
        return InvalidProposal(excerpt_entry(value, MAX_EXCERPT_CHARS), RejectionReason.MALFORMED)
    target = names.memories.get(one.target or "")
    if one.op == "skip":
        return None
    if one.op in ("update", "retract") and target is None:
        return InvalidProposal(one.content, RejectionReason.UNKNOWN_MEMORY)
    fact = _build_fact(one, names, target if one.op in ("update", "retract") else None)
    if one.op == "confirm" and target is not None:
        return Confirmation(target, fact)
    return fact


def _build_fact(one: Operation, names: ShortIds, target: str | None) -> ExtractedFact:
    return ExtractedFact(
        content=one.content.strip(),
        quotes=tuple(Quote(names.turns.get(cited.turn, ""), cited.quote) for cited in one.evidence),
        category=one.category,
        subject=canonical_subject(one.subject or "") or None,
        predicate=(one.predicate or "").strip() or None,
        importance=one.importance,
        permanence=Permanence(one.permanence) if one.permanence else None,
        confidence=one.confidence,
        target=target,
        dates=one.when.to_dates() if one.when else None,
        said_as=one.said_as or "",
    )


def excerpt_entry(entry: Json, max_chars: int) -> str:
    """The beginning of a refused entry's content, to show to the user; it is not redacted."""
    content = entry.get("content") if isinstance(entry, dict) else entry
    return content[:max_chars] if isinstance(content, str) else ""


def _clip_text(value: Json, limit: int) -> str | None:
    return value.strip()[:limit] or None if isinstance(value, str) else None


def _parse_day(text: str | None) -> date | None:
    try:
        return date.fromisoformat((text or "")[:10])
    except ValueError:
        return None


def _string_schema(**more: Any) -> dict[str, Json]:
    return {"type": "string", **more}


_DAY: dict[str, Json] = {"type": ["string", "null"], "description": "YYYY-MM-DD"}

SCHEMA: dict[str, Json] = {
    "type": "object",
    "properties": {
        "operations": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "op": _string_schema(enum=["add", "update", "retract", "confirm", "skip"]),
                    "content": _string_schema(maxLength=300),
                    "subject": _string_schema(maxLength=60),
                    "predicate": _string_schema(maxLength=60),
                    "category": _string_schema(maxLength=40),
                    "importance": {"type": "number", "minimum": 1, "maximum": 10},
                    "permanence": _string_schema(enum=list(Permanence)),
                    "confidence": {"type": "number", "minimum": 0, "maximum": 1},
                    "when": {
                        "type": ["object", "null"],
                        "properties": {"from": _DAY, "until": _DAY},
                    },
                    "said_as": _string_schema(maxLength=100),
                    "evidence": {
                        "type": "array",
                        "items": {
                            "type": "object",
                            "properties": {
                                "turn": _string_schema(maxLength=6),
                                "quote": _string_schema(maxLength=300),
                            },
                            "required": ["turn", "quote"],
                        },
                        "maxItems": 4,
                    },
                    "target": _string_schema(maxLength=10),
                },
                "required": ["op", "content", "subject", "predicate", "evidence", "confidence"],
            },
        },
        "summary": _string_schema(maxLength=600),
        "title": _string_schema(maxLength=60),
    },
    "required": ["operations"],
}
