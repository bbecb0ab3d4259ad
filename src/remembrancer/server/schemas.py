"""What goes over the wire: the library's values as JSON, and what comes in, checked. One place."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, Generic, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field
from starlette.responses import Response

from remembrancer import types
from remembrancer.clock import as_utc
from remembrancer.memory import Memory as Handle
from remembrancer.types import (
    Action,
    Backlog,
    ConfidenceBand,
    Maturity,
    Mode,
    Origin,
    Permanence,
    Relation,
    SessionStatus,
    Source,
    Status,
    TeamKind,
    TeamOrigin,
    TeamStatus,
    Verdict,
)

MAX_NESTING_DEPTH = 30
MIN_MOMENT, MAX_MOMENT = datetime(1, 1, 2, tzinfo=UTC), datetime(9999, 12, 30, tzinfo=UTC)

Item = TypeVar("Item")


def check_text(text: str) -> str:
    """Text that can be stored and asked for: no control characters that databases refuse."""
    if "\x00" in text or any(unicodedata.category(one) == "Cs" for one in text):
        raise ValueError("the text has a NUL or half a character in it")
    return text


def _check_moment(moment: datetime) -> datetime:
    try:
        moment = as_utc(moment)
    except OverflowError:
        raise ValueError("the date is out of range") from None
    if not MIN_MOMENT <= moment <= MAX_MOMENT:
        raise ValueError("the date is out of range")
    return moment


def _check_depth(value: Mapping[str, Any]) -> Mapping[str, Any]:
    level: list[Any] = [value]
    for _ in range(MAX_NESTING_DEPTH):
        level = [
            inner
            for one in level
            if isinstance(one, dict | list)
            for inner in (one.values() if isinstance(one, dict) else one)
        ]
        if not level:
            return value
    raise ValueError(f"it is nested more than {MAX_NESTING_DEPTH} levels deep")


Text = Annotated[str, AfterValidator(check_text)]
Content = Annotated[Text, Field(min_length=1, max_length=20_000)]
Name = Annotated[Text, Field(min_length=1, max_length=200)]
Moment = Annotated[datetime, AfterValidator(_check_moment)]
Metadata = Annotated[dict[str, Any], AfterValidator(_check_depth)]
Fraction = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
FiniteNumber = Annotated[float, Field(allow_inf_nan=False)]
Limit = Annotated[int, Field(ge=1, le=1000)]
Tags = Annotated[list[Name], Field(max_length=100)]


class ResponseModel(BaseModel):
    """What we tell, made of the library's values by the names of their fields."""

    model_config = ConfigDict(from_attributes=True)


class RequestModel(BaseModel):
    """What a caller may say; a word that means nothing here is an error."""

    model_config = ConfigDict(extra="forbid")


class Page(ResponseModel, Generic[Item]):
    """One page of a listing; `cursor` asks for the next, and is null on the last."""

    items: list[Item]
    cursor: str | None = None


class Evidence(ResponseModel):
    """A turn that supports a memory, and the words in it that do."""

    session_id: str
    turn_id: str
    quote: str = ""


class _MemoryBase(ResponseModel):
    id: str
    content: str
    scope: str
    status: Status
    standing: ConfidenceBand
    importance: float
    confidence: float
    effective_confidence: float
    permanence: Permanence
    source: Source
    tainted: bool
    agent: str | None
    surface: str
    session_id: str | None
    evidence: list[Evidence]
    tags: list[str]
    metadata: dict[str, Any]
    supersedes: str | None
    lineage: str
    valid_from: datetime
    valid_until: datetime | None
    recorded_at: datetime
    retired_at: datetime | None
    expires_at: datetime | None
    ttl_days: float | None
    confirmed_at: datetime
    recalled_at: datetime | None
    recall_count: int


class Fact(_MemoryBase):
    """What is true."""

    kind: Literal["fact"] = "fact"
    category: str
    subject: str | None
    predicate: str | None
    summary: str | None
    body: str | None


class Rule(_MemoryBase):
    """How to behave."""

    kind: Literal["rule"] = "rule"
    maturity: Maturity
    effectiveness: float
    applied_count: int
    success_count: int
    harmful_count: int
    applied_at: datetime | None


class Episode(_MemoryBase):
    """What happened."""

    kind: Literal["episode"] = "episode"
    backlog: Backlog
    attempts: int
    failure: str | None


class Turn(_MemoryBase):
    """What was said."""

    kind: Literal["turn"] = "turn"
    position: int
    role: str
    speaker: str | None
    origin: Origin


AnyMemory = Annotated[Fact | Rule | Episode | Turn, Field(discriminator="kind")]
_MODELS: dict[str, type[Fact | Rule | Episode | Turn]] = {
    "fact": Fact,
    "rule": Rule,
    "episode": Episode,
    "turn": Turn,
}


def build_memory(me: Handle, record: types.Record) -> Fact | Rule | Episode | Turn:
    """A memory with what its numbers mean at this moment."""
    model = _MODELS[record.kind]
    values = {name: getattr(record, name, None) for name in model.model_fields}
    values["standing"] = me.standing(record)
    values["effective_confidence"] = round(me.confidence(record), 4)
    if isinstance(record, types.Rule):
        values["effectiveness"] = round(me.effectiveness(record), 4)
    return model.model_validate(values)


def build_json_response(model: type[ResponseModel], values: object) -> Response:
    """An answer made in the thread of its request; FastAPI would take another thread for it."""
    return Response(model.model_validate(values).model_dump_json(), media_type="application/json")


def build_memories(me: Handle, records: Iterable[types.Record]) -> list[Any]:
    """Several memories."""
    return [build_memory(me, one) for one in records]


class MemoryChange(ResponseModel):
    """What an event did to one memory; never its words."""

    memory_id: str
    before: dict[str, Any] | None
    after: dict[str, Any] | None


class Event(ResponseModel):
    """What happened; its id is what undo takes."""

    id: str
    at: datetime
    action: Action
    agent: str | None
    surface: str
    note: str | None
    undoes: str | None
    undone_by: str | None
    changes: list[MemoryChange]
    batch_id: str | None = None


class MemoryLink(ResponseModel):
    """A relation from one memory to another."""

    source: str
    target: str
    relation: Relation
    created_at: datetime


class RuleApplication(ResponseModel):
    """One use of a rule and what came of it."""

    id: str
    rule_id: str
    verdict: Verdict
    reason: str | None
    agent: str | None
    session_id: str | None
    applied_at: datetime


class WriteResponse(ResponseModel):
    """What a write did; `event` is null when there was nothing to do."""

    memory: AnyMemory
    event: Event | None
    replaced: AnyMemory | None = None
    secrets: list[str] = []


def build_write_response(me: Handle, result: types.Written) -> WriteResponse:
    """What a write did."""
    return WriteResponse(
        memory=build_memory(me, result.memory),
        event=Event.model_validate(result.event) if result.event else None,
        replaced=build_memory(me, result.replaced) if result.replaced else None,
        secrets=list(result.secrets),
    )


class BatchResponse(ResponseModel):
    """What a write did to several memories; `event` undoes all of it."""

    ids: list[str]
    event: Event | None


class MemoryDetail(ResponseModel):
    """A memory with its provenance: all its versions, links, events and uses."""

    memory: AnyMemory
    versions: list[AnyMemory]
    links: list[MemoryLink]
    events: list[Event]
    applications: list[RuleApplication]
    sources: list[AnyMemory]


class ScoreBreakdown(ResponseModel):
    """Why a memory was recalled: every number that led to its score."""

    recipe: str
    semantic_rank: int | None
    similarity: float | None
    keyword_rank: int | None
    bm25: float | None
    normalised: dict[str, float]
    parts: dict[str, float]
    confidence: float
    effective_confidence: float
    age_days: float
    filters: list[str]
    evidence: list[Evidence]


class RecalledMemory(ResponseModel):
    """A memory brought back, how well it fits, and if asked for, why."""

    memory: AnyMemory
    score: float
    why: ScoreBreakdown | None = None


class RecallResponse(ResponseModel):
    """What a recall brought back, best first; `sure` is how likely anything relevant is known."""

    items: list[RecalledMemory]
    sure: float
    late: list[str]


class PromptContextResponse(ResponseModel):
    """Memory as text for a prompt."""

    text: str
    memories: list[str]
    tokens: int
    frozen: bool


class MemoryStats(ResponseModel):
    """How a person's memory is doing."""

    by_kind: dict[str, dict[str, int]]
    by_category: dict[str, int]
    by_permanence: dict[str, int]
    by_scope: dict[str, int]
    fading: int
    expiring: int
    backlog: int
    events: int


class Session(ResponseModel):
    """A conversation, and how far it has been learned from."""

    id: str
    scope: str
    surface: str
    status: SessionStatus
    title: str | None
    summary: str | None
    watermark: int
    due_at: datetime | None
    failure: str | None
    started_at: datetime
    active_at: datetime
    metadata: dict[str, Any]


class Rejection(ResponseModel):
    """Something a conversation seemed to tell that was not remembered, and why not."""

    id: str
    at: datetime
    session_id: str
    reason: str
    content: str
    quote: str
    turns: list[str]


class StoredTurns(ResponseModel):
    """The turns as they were stored."""

    session_id: str | None
    turns: list[Turn]


class RecalledTeamFact(ResponseModel):
    """What a team knows; nothing in it leads to a person."""

    kind: TeamKind
    content: str
    importance: float
    confidence: float


class TeamFact(ResponseModel):
    """What is true of the project."""

    id: str
    kind: TeamKind
    content: str
    status: TeamStatus
    origin: TeamOrigin
    importance: float
    confidence: float
    recall_count: int
    recorded_at: datetime
    confirmed_at: datetime
    decided_at: datetime | None


class TeamReviewItem(ResponseModel):
    """A team fact as reviewers see it: how many said so, never who."""

    fact: TeamFact
    contributors: int
    conflicts: list[str]


class ApiKey(ResponseModel):
    """A key; its secret is told once, when it is made."""

    id: str
    agent: str | None
    capabilities: list[str]
    label: str | None
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None
    used_at: datetime | None


def build_key(found: types.Key) -> ApiKey:
    """A key, its capabilities in one order."""
    values = {name: getattr(found, name) for name in ApiKey.model_fields}
    return ApiKey.model_validate({**values, "capabilities": sorted(found.capabilities)})


class NewTurn(RequestModel):
    """One turn of a conversation."""

    role: Literal["user", "assistant", "system", "tool"]
    content: Annotated[Text, Field(min_length=1, max_length=1_000_000)]
    speaker: Name | None = None
    said_at: Moment | None = None
    origin: Origin | None = None
    metadata: Metadata = {}


class RememberRequest(RequestModel):
    """One thing to remember."""

    content: Content
    kind: Literal["fact", "rule", "episode"] | None = None
    category: Name | None = None
    subject: Name | None = None
    predicate: Name | None = None
    importance: FiniteNumber | None = None
    permanence: Permanence | None = None
    confidence: Fraction | None = None
    origin: Origin | None = None
    scope: Name | None = None
    tags: Tags | None = None
    metadata: Metadata | None = None
    summary: Annotated[Text, Field(max_length=20_000)] | None = None
    body: Annotated[Text, Field(max_length=200_000)] | None = None
    valid_from: Moment | None = None
    valid_until: Moment | None = None
    ttl_days: FiniteNumber | None = None
    session_id: Name | None = None


class UpdateMemoryRequest(RequestModel):
    """Other words for a memory; what is not said stays as it was."""

    content: Content
    subject: Name | None = None
    predicate: Name | None = None
    importance: FiniteNumber | None = None
    permanence: Permanence | None = None
    category: Name | None = None
    tags: Tags | None = None
    metadata: Metadata | None = None
    summary: Annotated[Text, Field(max_length=20_000)] | None = None
    body: Annotated[Text, Field(max_length=200_000)] | None = None
    ttl_days: FiniteNumber | None = None


class RecallRequest(RequestModel):
    """What to recall, and among which memories."""

    query: Annotated[Text, Field(min_length=1, max_length=20_000)]
    limit: Limit | None = None
    kinds: list[types.Kind] | None = None
    categories: list[Name] | None = None
    tags: list[Name] | None = None
    scope: Name | None = None
    mode: Mode | None = None
    minimum_importance: FiniteNumber | None = None
    minimum_confidence: Fraction | None = None
    known_at: Moment | None = None
    true_at: Moment | None = None
    now: Moment | None = None
    deadline_ms: Annotated[float, Field(gt=0, le=60_000)] | None = None
    used: bool | None = None
    explain: bool = False


def dump_given(model: BaseModel, *exclude: str) -> dict[str, Any]:
    """What was said, and nothing that was not."""
    return model.model_dump(exclude_none=True, exclude=set(exclude))
