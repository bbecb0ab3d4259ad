"""A plan of consolidation: what would be done, step by step, before anything is. Frozen values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field as PydanticField
from pydantic import TypeAdapter, ValidationError

from remembrancer.errors import InvalidInput
from remembrancer.types import Json, Permanence, Relation

Ids = tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AddStep:
    """A new fact or rule, from some episodes."""

    kind: Literal["fact", "rule"]
    content: str
    episodes: Ids
    category: str | None = None
    subject: str | None = None
    predicate: str | None = None
    permanence: Permanence | None = None
    importance: float | None = None
    step: Literal["add"] = "add"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviseStep:
    """Other words for a fact, from some episodes."""

    target: str
    before: str
    content: str
    episodes: Ids
    permanence: Permanence | None = None
    step: Literal["revise"] = "revise"


@dataclass(frozen=True, slots=True, kw_only=True)
class AffirmStep:
    """A memory that some episodes bear out."""

    target: str
    content: str
    step: Literal["affirm"] = "affirm"


@dataclass(frozen=True, slots=True, kw_only=True)
class RelateStep:
    """A link between two memories."""

    source: str
    target: str
    relation: Relation
    step: Literal["relate"] = "relate"


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeStep:
    """Memories that say the same as one that stands; their links go over to it."""

    kept: str
    content: str
    dropped: Mapping[str, str]
    step: Literal["merge"] = "merge"


PlanStep = AddStep | ReviseStep | AffirmStep | RelateStep | MergeStep


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsolidationPlan:
    """What consolidation would do in one scope, and what of a model's answer was refused."""

    scope: str
    made_at: datetime
    episodes: Ids = ()
    steps: tuple[Annotated[PlanStep, PydanticField(discriminator="step")], ...] = ()
    refused: tuple[str, ...] = ()
    model: str | None = None
    tokens: int = 0

    def diff(self) -> list[str]:
        """The plan in lines that a person can read."""
        return [line for step in self.steps for line in render_step(step)]

    def to_json(self) -> dict[str, Json]:
        """The plan as plain values, to be kept and applied later."""
        plain: dict[str, Json] = _PLAN_ADAPTER.dump_python(self, mode="json")
        return plain


def render_step(step: PlanStep) -> list[str]:
    """One step in lines."""
    match step:
        case AddStep():
            topic = f"{step.subject} {step.predicate}: " if step.subject else ""
            return [f"+ {step.kind}: {topic}{step.content}"]
        case ReviseStep():
            return [f"- {step.before}", f"+ {step.content}"]
        case AffirmStep():
            return [f"= still true: {step.content}"]
        case RelateStep():
            return [f"~ {step.source} {step.relation} {step.target}"]
        case MergeStep():
            return [*(f"- {one}" for one in step.dropped.values()), f"= {step.content}"]


def from_json(value: Json) -> ConsolidationPlan:
    """The plan that was kept as plain values."""
    try:
        return _PLAN_ADAPTER.validate_python(value)
    except ValidationError:
        raise InvalidInput("That is not a plan of consolidation.") from None


_PLAN_ADAPTER: TypeAdapter[ConsolidationPlan] = TypeAdapter(ConsolidationPlan)
