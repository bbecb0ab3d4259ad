"""Asking a model what a conversation tells, and reading its answer with distrust."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from remembrancer.learn.evidence_check import Reason
from remembrancer.learn.extracted import Candidate
from remembrancer.learn.transcript import Transcript
from remembrancer.llm import Answer, Model, ModelMisspoke, Question
from remembrancer.llm.prompts import prompt
from remembrancer.recall.prompt_block import as_data, without_memory
from remembrancer.types import Json, Permanence, Record, Turn

SHOWN = 4000
"""How many characters of a turn a model is shown."""

MOST_OPERATIONS = 50


class Operation(BaseModel):
    """One thing that a model proposes; whatever does not fit is rejected, not repaired."""

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
class Refused:
    """A proposal that is none, and why."""

    content: str
    reason: Reason


@dataclass(frozen=True, slots=True)
class Reading:
    """What was read in a stretch of a conversation, before code has checked any of it."""

    candidates: tuple[Candidate, ...] = ()
    refused: tuple[Refused, ...] = ()
    summary: str | None = None
    title: str | None = None
    model: str | None = None
    tokens: int = 0


@dataclass(frozen=True, slots=True)
class Names:
    """Short names for turns and memories: a model can name nothing that it was not shown."""

    turns: Mapping[str, str] = field(default_factory=dict)
    memories: Mapping[str, str] = field(default_factory=dict)


def ask(
    model: Model,
    said: Transcript,
    known: Sequence[Record],
    categories: Sequence[str],
    summary: str | None,
) -> Reading:
    """What a model makes of a stretch of a conversation."""
    names = Names(
        {f"t{number}": one.id for number, one in enumerate(said.turns, 1)},
        {f"m{number}": one.id for number, one in enumerate(known, 1)},
    )
    system = prompt("extract").replace("{categories}", ", ".join(categories))
    question = Question(system, _shown(said, known, summary, names), SCHEMA, "memory")
    return read_answer(model.answer(question), names)


def read_answer(answer: Answer, names: Names) -> Reading:
    """The proposals of an answer; an answer that has none of the shape asked for is an error."""
    operations = answer.value.get("operations")
    if not isinstance(operations, list):
        raise ModelMisspoke("The model did not answer with a list of operations.")
    candidates: list[Candidate] = []
    refused: list[Refused] = []
    for one in operations[:MOST_OPERATIONS]:
        match _proposal(one, names):
            case Candidate() as candidate:
                candidates.append(candidate)
            case Refused() as refusal:
                refused.append(refusal)
            case None:
                pass
    return Reading(
        tuple(candidates),
        tuple(refused),
        _text(answer.value.get("summary"), 2000),
        _text(answer.value.get("title"), 80),
        answer.model,
        answer.tokens_in + answer.tokens_out,
    )


def _proposal(value: Json, names: Names) -> Candidate | Refused | None:
    try:
        one = Operation.model_validate(value)
    except ValidationError:
        return Refused(_told(value), Reason.MALFORMED)
    if one.op == "skip":
        return None
    turns = tuple(names.turns.get(name, "") for name in one.turns)
    target = names.memories.get(one.target or "")
    if one.op == "update" and target is None:
        return Refused(one.content, Reason.UNKNOWN_MEMORY)
    return Candidate(
        content=one.content.strip(),
        quote=one.quote,
        turns=turns,
        category=one.category,
        importance=one.importance,
        permanence=Permanence(one.permanence) if one.permanence else None,
        confidence=one.confidence,
        target=target if one.op == "update" else None,
    )


def _told(value: Json) -> str:
    """What a malformed proposal seems to say, for the person to see."""
    content = value.get("content") if isinstance(value, dict) else value
    return content[:500] if isinstance(content, str) else ""


def _text(value: Json, limit: int) -> str | None:
    return value.strip()[:limit] or None if isinstance(value, str) else None


def _shown(said: Transcript, known: Sequence[Record], summary: str | None, names: Names) -> str:
    memory_names = {memory_id: name for name, memory_id in names.memories.items()}
    remembered = [f"[{memory_names[one.id]}] {as_data(one.content)}" for one in known]
    parts = {"remembered": "\n".join(remembered), "earlier": as_data(summary or "")}
    marked = [f"<{name}>\n{text}\n</{name}>" for name, text in parts.items() if text]
    return "\n\n".join([*marked, shown(said, names.turns)])


def shown(said: Transcript, names: Mapping[str, str]) -> str:
    """A conversation as a model sees it: each turn on a line, under a short name, as data."""
    turn_names = {turn_id: name for name, turn_id in names.items()}
    turns = [_line(turn_names[one.id], one, said) for one in said.turns]
    return "\n".join(["<conversation>", *turns, "</conversation>"])


def _line(name: str, turn: Turn, said: Transcript) -> str:
    who = "person" if turn.is_by_user else turn.role
    speaker = f" {json.dumps(turn.speaker, ensure_ascii=False)}" if turn.speaker else ""
    new = " new" if turn.is_by_user and turn.position >= said.new_from else ""
    text = said.own.get(turn.id) if turn.is_by_user else without_memory(turn.content)[0]
    return f"[{name}] {who}{speaker}{new}: {as_data((text or '')[:SHOWN])}"


def _string(**more: Any) -> dict[str, Json]:
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
                    "op": _string(enum=["add", "update", "skip"]),
                    "content": _string(maxLength=300),
                    "category": _string(maxLength=40),
                    "importance": {"type": "number", "minimum": 1, "maximum": 10},
                    "permanence": _string(enum=list(Permanence)),
                    "confidence": {"type": "number", "minimum": 0, "maximum": 1},
                    "turns": {"type": "array", "items": _string(maxLength=6), "maxItems": 4},
                    "quote": _string(maxLength=300),
                    "target": _string(maxLength=10),
                },
                "required": ["op", "content", "turns", "quote", "confidence"],
            },
        },
        "summary": _string(maxLength=600),
        "title": _string(maxLength=60),
    },
    "required": ["operations"],
}
