"""Pydantic models of requests and responses that several routes share.

Where a response has the fields of a domain class, the route returns the domain class itself.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, Generic, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from remembrancer.clock import as_utc
from remembrancer.options import MAX_ITEMS
from remembrancer.team.fact_list import TeamListed
from remembrancer.types import (
    Backlog,
    ConfidenceBand,
    Event,
    Evidence,
    Key,
    Kind,
    Link,
    Maturity,
    Mode,
    Origin,
    Permanence,
    ProvenanceKind,
    Rejection,
    RuleApplication,
    SessionStatus,
    Source,
    Status,
    TeamEntry,
    Why,
)

MAX_NESTING_DEPTH = 30
MIN_MOMENT, MAX_MOMENT = datetime(1, 1, 2, tzinfo=UTC), datetime(9999, 12, 30, tzinfo=UTC)

Item = TypeVar("Item")


def check_text(text: str) -> str:
    """Refuse text that databases cannot store."""
    if "\x00" in text or any(unicodedata.category(char) == "Cs" for char in text):
        raise ValueError("the text contains a NUL or an unpaired surrogate")
    return text


def check_moment(moment: datetime) -> datetime:
    """Refuse a moment that databases cannot store."""
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
            child
            for node in level
            if isinstance(node, dict | list)
            for child in (node.values() if isinstance(node, dict) else node)
        ]
        if not level:
            return value
    raise ValueError(f"it is nested more than {MAX_NESTING_DEPTH} levels deep")


Text = Annotated[str, AfterValidator(check_text)]
Content = Annotated[Text, Field(min_length=1, max_length=20_000)]
Name = Annotated[Text, Field(min_length=1, max_length=200)]
Reference = Annotated[Text, Field(min_length=1, max_length=2000)]
Moment = Annotated[datetime, AfterValidator(check_moment)]
ForGood = Annotated[
    bool, Field(description="Destroy it at once, also from the trash. This cannot be undone.")
]
Metadata = Annotated[dict[str, Any], AfterValidator(_check_depth)]
Fraction = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
FiniteNumber = Annotated[float, Field(allow_inf_nan=False)]
Limit = Annotated[int, Field(ge=1, le=1000)]
Names = Annotated[list[Name], Field(max_length=MAX_ITEMS)]
Tags = Names


class ResponseModel(BaseModel):
    """Base of responses; reads domain objects by attribute."""

    model_config = ConfigDict(from_attributes=True)


class RequestModel(BaseModel):
    """Base of request bodies and query parameters; unknown fields are errors."""

    model_config = ConfigDict(extra="forbid")


class DeleteParams(RequestModel):
    """Whether what is deleted skips the trash."""

    for_good: ForGood = False


class PageResponse(ResponseModel, Generic[Item]):
    """One page of a list. Pass `cursor` to get the next page; it is null on the last."""

    items: list[Item]
    cursor: str | None = None


class ProvenanceResponse(ResponseModel):
    """Where a memory comes from, with a description for people.

    `turns` and `episodes` are the ids of what supports it, and `product` is what it was imported
    from.
    """

    kind: ProvenanceKind
    description: str
    agent: str | None
    surface: str
    session_id: str | None
    turns: list[str]
    episodes: list[str]
    product: str | None


class MemoryResponse(ResponseModel):
    """The fields that all kinds of memory have."""

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
    provenance: ProvenanceResponse
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


class FactResponse(MemoryResponse):
    """A fact: a statement that is true."""

    kind: Literal["fact"] = "fact"
    category: str
    subject: str | None
    predicate: str | None
    summary: str | None
    body: str | None


class RuleResponse(MemoryResponse):
    """A rule: an instruction on how to behave."""

    kind: Literal["rule"] = "rule"
    maturity: Maturity
    effectiveness: float
    applied_count: int
    success_count: int
    harmful_count: int
    applied_at: datetime | None


class EpisodeResponse(MemoryResponse):
    """An episode: something that happened."""

    kind: Literal["episode"] = "episode"
    backlog: Backlog
    attempts: int
    failure: str | None


class TurnResponse(MemoryResponse):
    """A turn: one message of a session."""

    kind: Literal["turn"] = "turn"
    position: int
    role: str
    speaker: str | None
    origin: Origin


AnyMemory = Annotated[
    FactResponse | RuleResponse | EpisodeResponse | TurnResponse, Field(discriminator="kind")
]


class FactPage(PageResponse[FactResponse]):
    """One page of facts."""


class RulePage(PageResponse[RuleResponse]):
    """One page of rules."""


class EpisodePage(PageResponse[EpisodeResponse]):
    """One page of episodes."""


class TurnPage(PageResponse[TurnResponse]):
    """One page of turns."""


class MemoryPage(PageResponse[AnyMemory]):
    """One page of memories of any kind."""


class EventPage(PageResponse[Event]):
    """One page of the activity log."""


class WriteResponse(ResponseModel):
    """The memory after a write; `event` is null if nothing changed.

    `refusal` says why a rule was not stored; then the memory is the warning against it, or the
    disabled rule. `conflicts` are the active memories that contradict it, such as another value in
    another scope.
    """

    memory: AnyMemory
    event: Event | None
    replaced: AnyMemory | None = None
    refusal: str | None = None
    conflicts: list[AnyMemory] = []
    secrets: list[str] = []


class HistoryResponse(ResponseModel):
    """All versions of a memory, oldest first, with their events and the uses of a rule."""

    versions: list[AnyMemory]
    events: list[Event]
    applications: list[RuleApplication]


class MemoryDetail(ResponseModel):
    """A memory with its provenance: versions, links, events, uses and sources."""

    memory: AnyMemory
    versions: list[AnyMemory]
    links: list[Link]
    events: list[Event]
    applications: list[RuleApplication]
    sources: list[AnyMemory]


class RecalledMemory(ResponseModel):
    """A memory with its score; `why` is the score breakdown if `explain` was set."""

    memory: AnyMemory
    score: float
    why: Why | None = None


class RecallResponse(ResponseModel):
    """Recalled memories, best first.

    `sure` is the probability that anything relevant is stored. `late` lists the search stages
    that missed the deadline.
    """

    items: list[RecalledMemory]
    sure: float
    late: list[str]


class SessionResponse(ResponseModel):
    """A session; turns before position `watermark` have been learned from."""

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


class SessionPage(PageResponse[SessionResponse]):
    """One page of sessions."""


class RejectionPage(PageResponse[Rejection]):
    """One page of rejected statements."""


class TeamEntryPage(PageResponse[TeamEntry]):
    """One page of team facts as reviewers see them."""


class TeamFactPage(PageResponse[TeamListed]):
    """One page of approved team facts as members see them."""


class StoredTurns(ResponseModel):
    """The turns as they were stored."""

    session_id: str | None
    turns: list[TurnResponse]


class ApiKey(ResponseModel):
    """An API key without its secret."""

    id: str
    agent: str | None
    capabilities: list[str]
    label: str | None
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None
    used_at: datetime | None


def build_key(key: Key) -> ApiKey:
    """Render a key with its capabilities sorted."""
    values = {name: getattr(key, name) for name in ApiKey.model_fields}
    return ApiKey.model_validate({**values, "capabilities": sorted(key.capabilities)})


class NewTurn(RequestModel):
    """One turn to append to a session."""

    role: Literal["user", "assistant", "system", "tool"]
    content: Annotated[Text, Field(min_length=1, max_length=1_000_000)]
    speaker: Name | None = None
    said_at: Moment | None = None
    origin: Origin | None = None
    metadata: Metadata = {}


class RememberRequest(RequestModel):
    """A memory to store."""

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
    """The new content of a memory; fields that are not given keep their value."""

    content: Content
    subject: Name | None = None
    predicate: Name | None = None
    importance: FiniteNumber | None = None
    permanence: Permanence | None = None
    category: Name | None = None
    origin: Origin | None = None
    tags: Tags | None = None
    metadata: Metadata | None = None
    summary: Annotated[Text, Field(max_length=20_000)] | None = None
    body: Annotated[Text, Field(max_length=200_000)] | None = None
    ttl_days: FiniteNumber | None = None


class RecallRequest(RequestModel):
    """A query, and filters on the memories to search."""

    query: Annotated[Text, Field(min_length=1, max_length=20_000)]
    limit: Limit | None = None
    kinds: Annotated[list[Kind], Field(max_length=MAX_ITEMS)] | None = None
    categories: Names | None = None
    tags: Tags | None = None
    scope: Name | None = None
    agent: Name | None = None
    session: Name | None = None
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
    """Return the fields that have a value."""
    return model.model_dump(exclude_none=True, exclude=set(exclude))
