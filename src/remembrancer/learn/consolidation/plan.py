"""A consolidation plan: the steps to apply, which can be shown and stored first."""

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
    """Add a fact or a rule.

    `name` is how links of the same plan refer to it. An unconfirmed fact is stored for review, and
    `contradicts` is the trusted memory against which it stands.
    """

    kind: Literal["fact", "rule"]
    content: str
    episodes: Ids
    category: str | None = None
    subject: str | None = None
    predicate: str | None = None
    permanence: Permanence | None = None
    importance: float | None = None
    scope: str | None = None
    name: str | None = None
    unconfirmed: bool = False
    contradicts: str | None = None
    step: Literal["add"] = "add"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviseStep:
    """Replace the content of a memory; the fields that are given change with it."""

    target: str
    before: str
    content: str
    episodes: Ids
    category: str | None = None
    subject: str | None = None
    predicate: str | None = None
    permanence: Permanence | None = None
    importance: float | None = None
    scope: str | None = None
    name: str | None = None
    step: Literal["revise"] = "revise"


@dataclass(frozen=True, slots=True, kw_only=True)
class AffirmStep:
    """Confirm a memory; the episodes are those that certainly support it."""

    target: str
    content: str
    episodes: Ids = ()
    step: Literal["affirm"] = "affirm"


@dataclass(frozen=True, slots=True, kw_only=True)
class RelateStep:
    """Link two memories, each by its id or by the name of a step."""

    source: str
    target: str
    relation: Relation
    step: Literal["relate"] = "relate"


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeStep:
    """Drop duplicates of a memory and move their links to it."""

    kept: str
    content: str
    dropped: Mapping[str, str]
    step: Literal["merge"] = "merge"


PlanStep = AddStep | ReviseStep | AffirmStep | RelateStep | MergeStep


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsolidationPlan:
    """The steps for one scope, and the entries of the model's response that were refused.

    `reasons` say why, without the words of the entries.
    """

    scope: str
    made_at: datetime
    episodes: Ids = ()
    steps: tuple[Annotated[PlanStep, PydanticField(discriminator="step")], ...] = ()
    refused: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    model: str | None = None
    tokens: int = 0

    def diff(self) -> list[str]:
        """The plan as lines for a person to read; what begins with ? is stored unconfirmed."""
        return [line for step in self.steps for line in render_step(step)]

    def to_json(self) -> dict[str, Json]:
        """The plan as JSON, for `from_json`."""
        value: dict[str, Json] = _PLAN_ADAPTER.dump_python(self, mode="json")
        return value


def render_step(step: PlanStep) -> list[str]:
    match step:
        case AddStep():
            topic = " ".join(part for part in (step.subject, step.predicate) if part)
            about = f"{topic}: " if topic else ""
            return [f"{'?' if step.unconfirmed else '+'} {step.kind}: {about}{step.content}"]
        case ReviseStep():
            return [f"- {step.before}", f"+ {step.content}"]
        case AffirmStep():
            return [f"= still true: {step.content}"]
        case RelateStep():
            return [f"~ {step.source} {step.relation} {step.target}"]
        case MergeStep():
            return [*(f"- {one}" for one in step.dropped.values()), f"= {step.content}"]


def from_json(value: Json) -> ConsolidationPlan:
    """Read a plan from JSON; raises InvalidInput if it is not one."""
    try:
        return _PLAN_ADAPTER.validate_python(value)
    except ValidationError:
        raise InvalidInput("This is not a consolidation plan.") from None


_PLAN_ADAPTER: TypeAdapter[ConsolidationPlan] = TypeAdapter(ConsolidationPlan)
