"""The domain: what a memory is and what can happen to it. Frozen values, no I/O."""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Generic, TypeVar

from remembrancer.errors import InvalidInput

GLOBAL_SCOPE = "global"
"""The scope of what every agent of a person may know."""

JOBS_SURFACE = "jobs"
"""The surface of what happens by itself; it is taken back only when it is named."""


Json = str | int | float | bool | None | list["Json"] | dict[str, "Json"]


class Kind(StrEnum):
    """What sort of thing is remembered; the first part of every id."""

    FACT = "fact"
    RULE = "rule"
    EPISODE = "episode"
    TURN = "turn"


class Status(StrEnum):
    """Where a memory is in its life."""

    ACTIVE = "active"
    SUPERSEDED = "superseded"
    FORGOTTEN = "forgotten"
    EXPIRED = "expired"
    TRASHED = "trashed"
    RETRACTED = "retracted"
    DISABLED = "disabled"
    QUARANTINED = "quarantined"


class Permanence(StrEnum):
    """How fast a memory fades when nobody confirms it."""

    PERMANENT = "permanent"
    STABLE = "stable"
    STANDARD = "standard"
    VOLATILE = "volatile"
    EPHEMERAL = "ephemeral"

    @property
    def decay_per_day(self) -> float:
        """The share of confidence that is lost in a day, where the day is short."""
        return _DECAY_PER_DAY[self]


_DECAY_PER_DAY = {
    Permanence.PERMANENT: 0.0,
    Permanence.STABLE: 0.002,
    Permanence.STANDARD: 0.008,
    Permanence.VOLATILE: 0.03,
    Permanence.EPHEMERAL: 0.1,
}


class ConfidenceBand(StrEnum):
    """What a memory's confidence means now: it is recalled, only shown, or only in the archive."""

    RECALLED = "recalled"
    FADING = "fading"
    EXPIRED = "expired"


class Source(StrEnum):
    """Who vouches for a memory: a person said so, or software concluded it."""

    EXPLICIT = "explicit"
    EXTRACTED = "extracted"
    CONSOLIDATED = "consolidated"
    IMPORTED = "imported"


class Origin(StrEnum):
    """Where words came from; those of tools and documents are tainted."""

    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"
    DOCUMENT = "document"

    @property
    def is_untrusted(self) -> bool:
        """Whether nobody here vouches for the words: they may be an attack."""
        return self in (Origin.TOOL, Origin.DOCUMENT)


class Relation(StrEnum):
    """How one memory stands to another."""

    DERIVED_FROM = "derived_from"
    SUPPORTS = "supports"
    CONTRADICTS = "contradicts"
    SUPERSEDES = "supersedes"
    RELATED_TO = "related_to"


class Maturity(StrEnum):
    """How far a rule is trusted."""

    CANDIDATE = "candidate"
    ESTABLISHED = "established"
    PROVEN = "proven"
    ANTI_PATTERN = "anti_pattern"


class Verdict(StrEnum):
    """What came of applying a rule."""

    HELPFUL = "helpful"
    HARMFUL = "harmful"


class Backlog(StrEnum):
    """Whether an episode has been consolidated."""

    PENDING = "pending"
    LEASED = "leased"
    DONE = "done"
    DEAD = "dead"


class SessionStatus(StrEnum):
    """Where a conversation is in its life."""

    ACTIVE = "active"
    IDLE = "idle"
    ARCHIVED = "archived"


class TeamKind(StrEnum):
    """What sort of project knowledge the team shares."""

    FACT = "fact"
    HOWTO = "howto"
    REFERENCE = "reference"
    GLOSSARY = "glossary"


class TeamStatus(StrEnum):
    """Only what is approved is ever recalled."""

    PENDING = "pending"
    APPROVED = "approved"
    REJECTED = "rejected"


class TeamOrigin(StrEnum):
    """The class of author of a team fact, never the author."""

    ASSISTANT = "assistant"
    AGENT = "agent"
    USER = "user"


class Mode(StrEnum):
    """How recall looks for candidates."""

    HYBRID = "hybrid"
    SEMANTIC = "semantic"
    KEYWORD = "keyword"


class Action(StrEnum):
    """What an event did."""

    REMEMBERED = "remembered"
    HEARD = "heard"
    REPLACED = "replaced"
    UPDATED = "updated"
    CONFIRMED = "confirmed"
    FORGOTTEN = "forgotten"
    RESTORED = "restored"
    TRASHED = "trashed"
    DELETED = "deleted"
    LINKED = "linked"
    UNLINKED = "unlinked"
    HELPED = "helped"
    HARMED = "harmed"
    PROMOTED = "promoted"
    DEMOTED = "demoted"
    DISABLED = "disabled"
    EXPIRED = "expired"
    EVICTED = "evicted"
    PURGED = "purged"
    REPAIRED = "repaired"
    CLOSED = "closed"
    LEARNED = "learned"
    CONSOLIDATED = "consolidated"
    IMPORTED = "imported"
    VIEWED = "viewed"
    QUARANTINED = "quarantined"
    UNDONE = "undone"


@dataclass(frozen=True, slots=True)
class Owner:
    """A person within a tenant: the unit of isolation, of erasure and of sharding."""

    tenant: str
    user: str
    id: str = field(init=False, compare=False)
    """A fixed-width key: safe as a file name and a literal, and it shows nobody's name."""

    def __post_init__(self) -> None:
        for name in ("tenant", "user"):
            object.__setattr__(self, name, validate_name(getattr(self, name), name))
        pair = f"{len(self.tenant)}:{self.tenant}{self.user}".encode()
        digest = hashlib.blake2b(pair, digest_size=16, person=b"rem-owner")
        object.__setattr__(self, "id", digest.hexdigest())


@dataclass(frozen=True, slots=True)
class Tenant:
    """An organisation or a household: it owns what a team knows, and the settings."""

    name: str
    id: str = field(init=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", validate_name(self.name, "tenant"))
        digest = hashlib.blake2b(self.name.encode(), digest_size=16, person=b"rem-tenant")
        object.__setattr__(self, "id", digest.hexdigest())


@dataclass(frozen=True, slots=True)
class Principal:
    """Who is calling, resolved once at the edge."""

    owner: Owner
    agent: str | None = None
    surface: str = "library"
    capabilities: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """What lets someone in as a principal; its secret is known to nobody here."""

    id: str
    owner: Owner
    agent: str | None = None
    capabilities: frozenset[str] = frozenset()
    label: str | None = None
    created_at: datetime
    expires_at: datetime | None = None
    revoked_at: datetime | None = None
    used_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Evidence:
    """A turn that supports a memory, and the words in it that do."""

    session_id: str
    turn_id: str
    quote: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """What every stored memory has; content never changes, its state does.

    All versions of a memory share a lineage: the id of the first.
    """

    id: str
    content: str
    scope: str = GLOBAL_SCOPE
    status: Status = Status.ACTIVE
    importance: float
    confidence: float = 1.0
    permanence: Permanence = Permanence.STANDARD
    source: Source = Source.EXPLICIT
    tainted: bool = False
    agent: str | None = None
    surface: str = "library"
    session_id: str | None = None
    evidence: tuple[Evidence, ...] = ()
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, Json] = field(default_factory=dict)
    supersedes: str | None = None
    lineage: str = ""
    valid_from: datetime
    valid_until: datetime | None = None
    recorded_at: datetime
    retired_at: datetime | None = None
    expires_at: datetime | None = None
    ttl_days: float | None = None
    confirmed_at: datetime
    recalled_at: datetime | None = None
    recall_count: int = 0

    def __post_init__(self) -> None:
        if not self.lineage:
            object.__setattr__(self, "lineage", self.id)

    @property
    def kind(self) -> Kind:
        """Told by the id."""
        return kind_of(self.id)

    @property
    def has_program_key(self) -> bool:
        """Whether a program keeps it at an address, as a fact that is known by that alone."""
        return False

    @property
    def search_text(self) -> str:
        """The words by which this memory is embedded and found."""
        return self.content


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact(Record):
    """What is true."""

    category: str
    subject: str | None = None
    predicate: str | None = None
    summary: str | None = None
    body: str | None = None

    @property
    def key(self) -> tuple[str, str, str] | None:
        """Scope, subject and predicate, of which at most one fact is active."""
        if self.subject is None or self.predicate is None:
            return None
        return self.scope, self.subject, self.predicate

    @property
    def has_program_key(self) -> bool:
        """Whether its predicate, by a dot at the beginning, is a program's address and no word."""
        return self.predicate is not None and self.predicate.startswith(".")

    @property
    def topic(self) -> str:
        """What it is about, in words."""
        if self.has_program_key:
            return ""
        topic = " ".join(part for part in (self.subject, self.predicate) if part)
        return topic.replace("_", " ")

    @property
    def search_text(self) -> str:
        return f"{self.topic}: {self.content}" if self.topic else self.content


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule(Record):
    """How to behave; it earns and loses trust."""

    maturity: Maturity = Maturity.CANDIDATE
    applied_count: int = 0
    success_count: int = 0
    harmful_count: int = 0
    applied_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Episode(Record):
    """What happened; short-lived, the raw material of facts and rules."""

    backlog: Backlog = Backlog.PENDING
    attempts: int = 0
    leased_until: datetime | None = None
    failure: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A conversation and how far it has been learned from.

    Turns before the position `watermark` have been learned from, those before `summarised` are
    told by the summary. Learning is waiting from `due_at` on; `failure` says why it was given up.
    """

    id: str
    scope: str = GLOBAL_SCOPE
    surface: str = "library"
    status: SessionStatus = SessionStatus.ACTIVE
    title: str | None = None
    summary: str | None = None
    summarised: int = 0
    watermark: int = 0
    due_at: datetime | None = None
    attempts: int = 0
    leased_until: datetime | None = None
    failure: str | None = None
    started_at: datetime
    active_at: datetime
    metadata: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class View:
    """The turns to show, and what to say of those before them; `hidden` is how many these are."""

    turns: tuple[Turn, ...]
    summary: str | None = None
    hidden: int = 0

    @property
    def compressed(self) -> bool:
        """Whether the beginning is told in brief; say so to the person."""
        return self.hidden > 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejection:
    """Something a conversation seemed to tell that was not remembered, and why not."""

    id: str
    at: datetime
    session_id: str
    reason: str
    content: str
    quote: str = ""
    turns: tuple[str, ...] = ()


COMMAND_KEY = "command"
"""The key in a turn's metadata that says it told the memory to do something."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn(Record):
    """One message of a conversation: the evidence behind all other memories. It never fades."""

    permanence: Permanence = Permanence.PERMANENT
    position: int
    role: str
    speaker: str | None = None
    origin: Origin = Origin.USER

    @property
    def said_at(self) -> datetime:
        """When it was said; `recorded_at` is when it was stored."""
        return self.valid_from

    @property
    def is_by_user(self) -> bool:
        """Whether the person said it, not an assistant or a tool."""
        return self.role == "user"

    @property
    def is_command(self) -> bool:
        """Whether it told the memory to do something: that is done, and it tells nothing more."""
        return bool(self.metadata.get(COMMAND_KEY))

    @property
    def search_text(self) -> str:
        return f"{self.speaker}: {self.content}" if self.speaker else self.content


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleApplication:
    """One use of a rule and what came of it."""

    id: str
    rule_id: str
    verdict: Verdict
    reason: str | None = None
    agent: str | None = None
    session_id: str | None = None
    applied_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class TeamFact:
    """What is true of the project, with no person in it."""

    id: str
    kind: TeamKind
    content: str
    status: TeamStatus = TeamStatus.PENDING
    origin: TeamOrigin = TeamOrigin.ASSISTANT
    importance: float
    confidence: float
    recall_count: int = 0
    recorded_at: datetime
    confirmed_at: datetime
    decided_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class TeamRecalled:
    """What a team knows, as it is told: nothing in it leads to a person."""

    kind: TeamKind
    content: str
    importance: float
    confidence: float


@dataclass(frozen=True, slots=True)
class TeamEntry:
    """A team fact as reviewers see it: how many said so, never who, and what speaks against it."""

    fact: TeamFact
    contributors: int
    conflicts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Link:
    """A typed relation from one memory to another."""

    source: str
    target: str
    relation: Relation
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Change:
    """What an event did to one memory: its mutable fields before (None if it is new) and after."""

    memory_id: str
    before: Mapping[str, Json] | None
    after: Mapping[str, Json] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One entry of the append-only activity log; it holds no memory's words."""

    id: str
    at: datetime
    action: Action
    agent: str | None = None
    surface: str = "library"
    note: str | None = None
    undoes: str | None = None
    undone_by: str | None = None
    changes: tuple[Change, ...] = ()
    batch_id: str | None = None


@dataclass(frozen=True, slots=True)
class PastState:
    """A past state of a memory: what we held of it from `since` until `until`."""

    status: Status
    valid_until: datetime | None
    since: datetime
    until: datetime


@dataclass(frozen=True, slots=True)
class AsOf:
    """A moment to look back to: what we knew then, what was true then, or both.

    `AsOf(known=t)` is the world as we saw it at t; `AsOf(true=t)` is what we say today about t.
    """

    known: datetime | None = None
    true: datetime | None = None


@dataclass(frozen=True, slots=True)
class Why:
    """Why a memory was recalled: every number that led to its score, and where it came from."""

    recipe: str
    semantic_rank: int | None = None
    similarity: float | None = None
    keyword_rank: int | None = None
    bm25: float | None = None
    normalised: Mapping[str, float] = field(default_factory=dict)
    parts: Mapping[str, float] = field(default_factory=dict)
    confidence: float = 1.0
    effective_confidence: float = 1.0
    age_days: float = 0.0
    filters: tuple[str, ...] = ()
    evidence: tuple[Evidence, ...] = ()


@dataclass(frozen=True, slots=True)
class Recalled:
    """A memory brought back, how well it fits, and why."""

    memory: Record
    score: float
    why: Why


class Recollection(list[Recalled]):
    """What a recall brought back, best first.

    `sure` is how likely it is, from 0 to 1, that anything relevant is remembered at all. `late`
    names what there was no time for before the deadline.
    """

    def __init__(
        self, found: Iterable[Recalled] = (), *, sure: float = 0.0, late: tuple[str, ...] = ()
    ) -> None:
        super().__init__(found)
        self.sure = sure
        self.late = late


@dataclass(frozen=True, slots=True)
class Written:
    """What a write did: the memory as it is now, and the event that `undo` takes.

    `event` is None when there was nothing to do, as when the very same words are saved twice.
    """

    memory: Record
    event: Event | None
    replaced: Record | None = None
    secrets: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Batch:
    """What a write did to several memories at once; `undo` takes its event as a whole.

    `event` is None when there was nothing to do.
    """

    ids: tuple[str, ...]
    event: Event | None


@dataclass(frozen=True, slots=True)
class History:
    """The life of one memory: its versions from first to last, and what happened to them.

    `applications` are the uses of a rule, in all its versions.
    """

    versions: tuple[Record, ...]
    events: tuple[Event, ...]
    links: tuple[Link, ...]
    applications: tuple[RuleApplication, ...] = ()


@dataclass(frozen=True, slots=True)
class Stats:
    """Counts that say how a person's memory is doing."""

    by_kind: Mapping[str, Mapping[str, int]]
    by_category: Mapping[str, int]
    by_permanence: Mapping[str, int]
    by_scope: Mapping[str, int]
    fading: int
    expiring: int
    backlog: int
    events: int


Item = TypeVar("Item")
Member = TypeVar("Member", bound=StrEnum)


@dataclass(frozen=True, slots=True)
class Page(Generic[Item]):
    """One page of a listing; `cursor` asks for the next one and is None on the last."""

    items: tuple[Item, ...]
    cursor: str | None = None


def parse_enum(enum: type[Member], value: str, name: str) -> Member:
    """The member of a closed set, or an error that names the set."""
    try:
        return enum(value)
    except ValueError:
        raise InvalidInput(f"{name}: use one of {', '.join(enum)}, not {value!r}.") from None


def kind_of(memory_id: str) -> Kind:
    """The kind that an id names."""
    return Kind(memory_id.partition("_")[0])


def looks_like_id(text: str) -> bool:
    """Whether `text` has the form of a memory's id."""
    kind, _, rest = text.partition("_")
    return kind in list(Kind) and len(rest) == 26 and rest.isalnum()


def validate_name(name: str, what: str) -> str:
    """A tenant's, user's or agent's name in canonical form, or an error that says what is wrong."""
    canonical = unicodedata.normalize("NFC", name) if isinstance(name, str) else ""
    if not canonical.strip():
        raise InvalidInput(f"The {what} is missing: give the name of the {what}.")
    if len(canonical) > 200:
        raise InvalidInput(f"The {what} is too long: at most 200 characters.")
    if any(unicodedata.category(c) in ("Cc", "Cs") for c in canonical):
        raise InvalidInput(f"The {what} has control characters in it.")
    return canonical


Progress = Callable[[int, int], None]
"""Told how much is done and how much there is."""
