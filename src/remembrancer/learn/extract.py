"""Extracts facts from a transcript with a model; its response is untrusted and validated."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from remembrancer.learn.evidence_check import RejectionReason
from remembrancer.learn.extracted_fact import ExtractedFact, Quote
from remembrancer.learn.transcript import Transcript
from remembrancer.llm import Answer, InvalidModelResponse, Model, Question
from remembrancer.llm.prompts import load_prompt
from remembrancer.recall.prompt_block import escape_for_prompt, strip_memory_block
from remembrancer.types import Json, Permanence, Record, Turn

MAX_TURN_CHARS_SHOWN = 4000
"""Characters of a turn that are shown to the model."""

MAX_OPERATIONS = 50
MAX_EXCERPT_CHARS = 500


class Operation(BaseModel):
    """One operation of a model's response; an invalid one is rejected, not repaired.

    The limits are wider than those in `SCHEMA`: the schema asks the model to be brief, and a fact
    that is a little longer is not lost for it.
    """

    model_config = ConfigDict(extra="ignore", strict=True)

    op: Literal["add", "update", "skip"]
    content: Annotated[str, Field(min_length=3, max_length=2000)]
    quote: Annotated[str, Field(min_length=2, max_length=4000)]
    turns: Annotated[list[str], Field(min_length=1, max_length=20)]
    category: Annotated[str, Field(max_length=100)] | None = None
    importance: Annotated[float, Field(ge=1, le=10)] | None = None
    permanence: Literal["permanent", "stable", "standard", "volatile", "ephemeral"] | None = None
    confidence: Annotated[float, Field(ge=0, le=1)] = 0.5
    target: Annotated[str, Field(max_length=100)] | None = None


@dataclass(frozen=True, slots=True)
class InvalidProposal:
    """A proposal that cannot be checked further, and why."""

    content: str
    reason: RejectionReason


@dataclass(frozen=True, slots=True)
class Extraction:
    """A model's response for one batch, before the facts are checked against the transcript."""

    candidates: tuple[ExtractedFact, ...] = ()
    refused: tuple[InvalidProposal, ...] = ()
    summary: str | None = None
    title: str | None = None
    model: str | None = None
    tokens: int = 0


@dataclass(frozen=True, slots=True)
class ShortIds:
    """Ids by the short names shown to the model, so that it cannot name anything else."""

    turns: Mapping[str, str] = field(default_factory=dict)
    memories: Mapping[str, str] = field(default_factory=dict)


def extract_with_model(
    model: Model,
    transcript: Transcript,
    memories: Sequence[Record],
    categories: Sequence[str],
    summary: str | None,
) -> Extraction:
    names = ShortIds(
        {f"t{number}": one.id for number, one in enumerate(transcript.turns, 1)},
        {f"m{number}": one.id for number, one in enumerate(memories, 1)},
    )
    system = load_prompt("extract").replace("{categories}", ", ".join(categories))
    question = Question(
        system, _render_input(transcript, memories, summary, names), SCHEMA, "memory"
    )
    return parse_answer(model.answer(question), names)


def parse_answer(answer: Answer, names: ShortIds) -> Extraction:
    """Parse a response; raises InvalidModelResponse if it has no list of operations."""
    operations = answer.value.get("operations")
    if not isinstance(operations, list):
        raise InvalidModelResponse("The model did not answer with a list of operations.")
    candidates: list[ExtractedFact] = []
    refused: list[InvalidProposal] = []
    for one in operations[:MAX_OPERATIONS]:
        match _parse_operation(one, names):
            case ExtractedFact() as candidate:
                candidates.append(candidate)
            case InvalidProposal() as refusal:
                refused.append(refusal)
            case None:
                pass
    return Extraction(
        tuple(candidates),
        tuple(refused),
        _clip_text(answer.value.get("summary"), 2000),
        _clip_text(answer.value.get("title"), 80),
        answer.model,
        answer.tokens_in + answer.tokens_out,
    )


def _parse_operation(value: Json, names: ShortIds) -> ExtractedFact | InvalidProposal | None:
    try:
        one = Operation.model_validate(value)
    except ValidationError:
        return InvalidProposal(excerpt_entry(value, MAX_EXCERPT_CHARS), RejectionReason.MALFORMED)
    if one.op == "skip":
        return None
    turns = tuple(names.turns.get(name, "") for name in one.turns)
    target = names.memories.get(one.target or "")
    if one.op == "update" and target is None:
        return InvalidProposal(one.content, RejectionReason.UNKNOWN_MEMORY)
    return ExtractedFact(
        content=one.content.strip(),
        quotes=tuple(Quote(turn, one.quote) for turn in turns),
        category=one.category,
        importance=one.importance,
        permanence=Permanence(one.permanence) if one.permanence else None,
        confidence=one.confidence,
        target=target if one.op == "update" else None,
    )


def excerpt_entry(entry: Json, max_chars: int) -> str:
    """The beginning of a refused entry's content, to show to the user; it is not redacted."""
    content = entry.get("content") if isinstance(entry, dict) else entry
    return content[:max_chars] if isinstance(content, str) else ""


def _clip_text(value: Json, limit: int) -> str | None:
    return value.strip()[:limit] or None if isinstance(value, str) else None


def _render_input(
    transcript: Transcript, memories: Sequence[Record], summary: str | None, names: ShortIds
) -> str:
    memory_names = {memory_id: name for name, memory_id in names.memories.items()}
    remembered = [f"[{memory_names[one.id]}] {escape_for_prompt(one.content)}" for one in memories]
    parts = {"remembered": "\n".join(remembered), "earlier": escape_for_prompt(summary or "")}
    marked = [f"<{name}>\n{text}\n</{name}>" for name, text in parts.items() if text]
    return "\n\n".join([*marked, render_transcript(transcript, names.turns)])


def render_transcript(transcript: Transcript, names: Mapping[str, str]) -> str:
    """Render the transcript as data: one line per turn, under its short name."""
    turn_names = {turn_id: name for name, turn_id in names.items()}
    turns = [_render_turn(turn_names[one.id], one, transcript) for one in transcript.turns]
    return "\n".join(["<conversation>", *turns, "</conversation>"])


def _render_turn(name: str, turn: Turn, transcript: Transcript) -> str:
    who = "person" if turn.is_by_user else turn.role
    speaker = f" {json.dumps(turn.speaker, ensure_ascii=False)}" if turn.speaker else ""
    new = " new" if turn.is_by_user and turn.position >= transcript.new_from else ""
    text = (
        transcript.own_words.get(turn.id)
        if turn.is_by_user
        else strip_memory_block(turn.content)[0]
    )
    return f"[{name}] {who}{speaker}{new}: {escape_for_prompt((text or '')[:MAX_TURN_CHARS_SHOWN])}"


def _string_schema(**more: Any) -> dict[str, Json]:
    return {"type": "string", **more}


SCHEMA: dict[str, Json] = {
    "type": "object",
    "properties": {
        "operations": {
            "type": "array",
            "maxItems": 12,
            "items": {
                "type": "object",
                "properties": {
                    "op": _string_schema(enum=["add", "update", "skip"]),
                    "content": _string_schema(maxLength=300),
                    "category": _string_schema(maxLength=40),
                    "importance": {"type": "number", "minimum": 1, "maximum": 10},
                    "permanence": _string_schema(enum=list(Permanence)),
                    "confidence": {"type": "number", "minimum": 0, "maximum": 1},
                    "turns": {"type": "array", "items": _string_schema(maxLength=6), "maxItems": 4},
                    "quote": _string_schema(maxLength=300),
                    "target": _string_schema(maxLength=10),
                },
                "required": ["op", "content", "turns", "quote", "confidence"],
            },
        },
        "summary": _string_schema(maxLength=600),
        "title": _string_schema(maxLength=60),
    },
    "required": ["operations"],
}
