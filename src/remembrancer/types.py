"""The domain types: memories, sessions, events and their enums. Frozen values, no I/O."""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from remembrancer.clock import as_utc
from remembrancer.errors import InvalidInput

GLOBAL_SCOPE = "global"
"""The scope that every agent of a person can see."""

JOBS_SURFACE = "jobs"
"""The surface of automatic changes; undo reverses them only by their event id."""


if TYPE_CHECKING:
    Json = str | int | float | bool | None | list["Json"] | dict[str, "Json"]
else:
    Json = Any  # pydantic cannot expand a recursive alias


class Kind(StrEnum):
    """The kind of a memory; it is the prefix of every id."""

    FACT = "fact"
    RULE = "rule"
    EPISODE = "episode"
    TURN = "turn"


class Status(StrEnum):
    """The lifecycle status of a memory.

    An unconfirmed memory was learned in doubt: it is listed for review and never put into a prompt.
    """

    ACTIVE = "active"
    UNCONFIRMED = "unconfirmed"
    SUPERSEDED = "superseded"
    FORGOTTEN = "forgotten"
    EXPIRED = "expired"
    TRASHED = "trashed"
    RETRACTED = "retracted"
    DISABLED = "disabled"
    QUARANTINED = "quarantined"


class Permanence(StrEnum):
    """How fast a memory's confidence decays unless it is confirmed."""

    PERMANENT = "permanent"
    STABLE = "stable"
    STANDARD = "standard"
    VOLATILE = "volatile"
    EPHEMERAL = "ephemeral"

    @property
    def decay_per_day(self) -> float:
        """The decay rate λ per day."""
        return _DECAY_PER_DAY[self]


_DECAY_PER_DAY = {
    Permanence.PERMANENT: 0.0,
    Permanence.STABLE: 0.002,
    Permanence.STANDARD: 0.008,
    Permanence.VOLATILE: 0.03,
    Permanence.EPHEMERAL: 0.1,
}


class ConfidenceBand(StrEnum):
    """What a memory's confidence means now: it is recalled, only listed, or archived."""

    RECALLED = "recalled"
    FADING = "fading"
    EXPIRED = "expired"


class Source(StrEnum):
    """Where a memory came from: a person stated it, or software derived it."""

    EXPLICIT = "explicit"
    EXTRACTED = "extracted"
    CONSOLIDATED = "consolidated"
    IMPORTED = "imported"


class ProvenanceKind(StrEnum):
    """How a memory came about, and on whose word."""

    DIRECT = "direct"
    SAID = "said"
    SPOKEN = "spoken"
    REQUESTED = "requested"
    NOTED = "noted"
    BOOKMARKED = "bookmarked"
    STORED = "stored"
    RECORDED = "recorded"
    LEARNED = "learned"
    CONCLUDED = "concluded"
    IMPORTED = "imported"
    OUTSIDE = "outside"


class Origin(StrEnum):
    """The origin of a text; tools and documents are tainted."""

    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"
    DOCUMENT = "document"

    @property
    def is_untrusted(self) -> bool:
        """True if nobody here vouches for the text, so it could be an attack."""
        return self in (Origin.TOOL, Origin.DOCUMENT)


class Relation(StrEnum):
    """The relation of one memory to another."""

    DERIVED_FROM = "derived_from"
    SUPPORTS = "supports"
    CONTRADICTS = "contradicts"
    SUPERSEDES = "supersedes"
    RELATED_TO = "related_to"

    @classmethod
    def _missing_(cls, value: object) -> Relation | None:
        return cls.RELATED_TO if value == "relates_to" else None


LINK_RELATIONS = tuple(one for one in Relation if one is not Relation.SUPERSEDES)
"""The relations that are given by hand: only a new version supersedes."""


class Maturity(StrEnum):
    """How far a rule is trusted."""

    CANDIDATE = "candidate"
    ESTABLISHED = "established"
    PROVEN = "proven"
    ANTI_PATTERN = "anti_pattern"


class Verdict(StrEnum):
    """The outcome of applying a rule."""

    HELPFUL = "helpful"
    HARMFUL = "harmful"


class Backlog(StrEnum):
    """The state of an episode's consolidation."""

    PENDING = "pending"
    LEASED = "leased"
    DONE = "done"
    DEAD = "dead"


class SessionStatus(StrEnum):
    """The lifecycle status of a session."""

    ACTIVE = "active"
    IDLE = "idle"
    ARCHIVED = "archived"


class TeamKind(StrEnum):
    """The kind of a team fact."""

    FACT = "fact"
    HOWTO = "howto"
    REFERENCE = "reference"
    GLOSSARY = "glossary"


class TeamStatus(StrEnum):
    """The review status of a team fact; only approved facts are recalled."""

    PENDING = "pending"
    APPROVED = "approved"
    REJECTED = "rejected"


class TeamOrigin(StrEnum):
    """The class of a team fact's author, never the author."""

    ASSISTANT = "assistant"
    AGENT = "agent"
    USER = "user"


class ListOrder(StrEnum):
    """The order of a list of memories."""

    NEWEST = "newest"
    MOST_USED = "most_used"


class Mode(StrEnum):
    """How recall searches for candidates."""

    HYBRID = "hybrid"
    SEMANTIC = "semantic"
    KEYWORD = "keyword"


class Action(StrEnum):
    """The action that an event records."""

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
    INVERTED = "inverted"
    FADED = "faded"
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
    DOUBTED = "doubted"
    UNDONE = "undone"


INSTANCE_PREFIX = "instance:"
"""The beginning of the names that stand for instances; no person can have such a name."""


@dataclass(frozen=True, slots=True)
class Owner:
    """A person or an instance within a tenant: the unit of isolation, erasure and sharding."""

    tenant: str
    user: str
    id: str = field(init=False, compare=False)
    """A fixed-width key: safe in file names and SQL literals, and it reveals no name."""

    def __post_init__(self) -> None:
        for name in ("tenant", "user"):
            object.__setattr__(self, name, validate_name(getattr(self, name), name))
        pair = f"{len(self.tenant)}:{self.tenant}{self.user}".encode()
        digest = hashlib.blake2b(pair, digest_size=16, person=b"rem-owner")
        object.__setattr__(self, "id", digest.hexdigest())

    @classmethod
    def of_instance(cls, tenant: str, name: str) -> Owner:
        """The owner of the memories that the users of an instance share."""
        return cls(tenant, f"{INSTANCE_PREFIX}{validate_name(name, 'instance')}")

    @classmethod
    def of_person(cls, tenant: str, user: str) -> Owner:
        """A person as an owner; raises InvalidInput for a name that stands for an instance."""
        owner = cls(tenant, user)
        if owner.instance is not None:
            raise InvalidInput(f"No user name can begin with {INSTANCE_PREFIX!r}.")
        return owner

    @property
    def instance(self) -> str | None:
        """The name of the instance; None for a person."""
        name = self.user.removeprefix(INSTANCE_PREFIX)
        return name if name != self.user else None


@dataclass(frozen=True, slots=True)
class Tenant:
    """An organisation or household; it owns team facts and settings."""

    name: str
    id: str = field(init=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", validate_name(self.name, "tenant"))
        digest = hashlib.blake2b(self.name.encode(), digest_size=16, person=b"rem-tenant")
        object.__setattr__(self, "id", digest.hexdigest())


@dataclass(frozen=True, slots=True)
class Principal:
    """The caller, resolved once at the edge; `session` is the one in which they store memories."""

    owner: Owner
    agent: str | None = None
    surface: str = "library"
    capabilities: frozenset[str] = frozenset()
    session: str | None = None

    @classmethod
    def for_jobs(cls, owner: Owner) -> Principal:
        """The principal of background jobs; in an instance's store, the instance itself."""
        return cls(owner, owner.instance, JOBS_SURFACE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """An API key; its secret is not stored."""

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
    """A turn that supports a memory, and the quoted words."""

    session_id: str
    turn_id: str
    quote: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """The fields of every memory; its content never changes, its state does.

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
    author: str | None = field(default=None, repr=False)
    """A keyed hash of the person who wrote it into an instance; only erasure reads it."""
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
        return kind_of(self.id)

    @property
    def has_program_key(self) -> bool:
        """True if a program addresses the memory by its key alone."""
        return False

    @property
    def search_text(self) -> str:
        """The text that is embedded and indexed."""
        return self.content


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact(Record):
    """Something that is true."""

    category: str
    subject: str | None = None
    predicate: str | None = None
    summary: str | None = None
    body: str | None = None

    @property
    def key(self) -> tuple[str, str, str] | None:
        """Scope, subject and predicate; at most one active fact has them."""
        if self.subject is None or self.predicate is None:
            return None
        return self.scope, self.subject, self.predicate

    @property
    def has_program_key(self) -> bool:
        """True if the predicate starts with a dot: it is a program's key, not a word."""
        return self.predicate is not None and is_program_key(self.predicate)

    @property
    def topic(self) -> str:
        """Subject and predicate in words."""
        if self.has_program_key:
            return ""
        topic = " ".join(part for part in (self.subject, self.predicate) if part)
        return topic.replace("_", " ")

    @property
    def search_text(self) -> str:
        return f"{self.topic}: {self.content}" if self.topic else self.content


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule(Record):
    """An instruction for behaviour; it gains and loses trust by use."""

    maturity: Maturity = Maturity.CANDIDATE
    applied_count: int = 0
    success_count: int = 0
    harmful_count: int = 0
    applied_at: datetime | None = None

    @property
    def is_warning(self) -> bool:
        """True for a rule that did so much harm that it warns against itself."""
        return self.maturity is Maturity.ANTI_PATTERN

    def explain_refusal(self) -> str:
        """Why a rule is not stored beside this warning or disabled rule, and how to do so."""
        if not self.is_warning:
            return f"Not stored: that rule is disabled ({self.id}). Restore it to use it again."
        return (
            f"Not stored: that rule did harm and has become a warning ({self.id}). To store it "
            "all the same, forget the warning first, or undo the event that made it."
        )


FORGOTTEN_MARK = "[forgotten]"
"""What stands in a text for words that a person asked to forget."""

NOTE_TAG = "note"
"""The tag of saved replies, and the metadata key of the turn that was saved."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Episode(Record):
    """Something that happened; short-lived, and the source of facts and rules."""

    backlog: Backlog = Backlog.PENDING
    attempts: int = 0
    leased_until: datetime | None = None
    failure: str | None = None

    @property
    def is_note(self) -> bool:
        """True if it is a reply that the person saved; nothing is concluded from it."""
        return NOTE_TAG in self.tags and looks_like_id(str(self.metadata.get(NOTE_TAG)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A conversation and the progress of learning from it.

    Turns before `watermark` have been learned from. `summary` is a few sentences, and `summarised`
    the position up to which a long session is told to a model in brief. Learning is due from
    `due_at` on; `failure` says why it was given up.
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
    """The turns to show, and a summary of the `hidden` ones before them."""

    turns: tuple[Turn, ...]
    summary: str | None = None
    hidden: int = 0

    @property
    def compressed(self) -> bool:
        """True if the beginning is only summarised; tell the user so."""
        return self.hidden > 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejection:
    """A candidate from a conversation that was not stored, and the reason."""

    id: str
    at: datetime
    session_id: str
    reason: str
    content: str
    quote: str = ""
    turns: tuple[str, ...] = ()


COMMAND_KEY = "command"
"""The metadata key that marks a turn as a command to the memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn(Record):
    """One message of a session: the evidence behind all other memories. It never decays."""

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
        """True if the person said it, not an assistant or a tool."""
        return self.role == "user"

    @property
    def is_command(self) -> bool:
        """True if it is a command to the memory; nothing is learned from it."""
        return bool(self.metadata.get(COMMAND_KEY))

    @property
    def search_text(self) -> str:
        return f"{self.speaker}: {self.content}" if self.speaker else self.content


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleApplication:
    """One use of a rule and its outcome."""

    id: str
    rule_id: str
    verdict: Verdict
    reason: str | None = None
    agent: str | None = None
    session_id: str | None = None
    applied_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class TeamFact:
    """A fact about the project, without personal data."""

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

    @property
    def approved_at(self) -> datetime:
        """When an approved fact was approved."""
        return self.decided_at or self.recorded_at


@dataclass(frozen=True, slots=True)
class TeamRecalled:
    """A team fact as recall returns it; nothing in it identifies a person."""

    kind: TeamKind
    content: str
    importance: float
    confidence: float


@dataclass(frozen=True, slots=True)
class TeamEntry:
    """A team fact for reviewers: the number of contributors, never who, and its conflicts."""

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
    """The mutable fields of one memory before an event (None if it is new) and after it."""

    memory_id: str
    before: Mapping[str, Json] | None
    after: Mapping[str, Json] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """An entry of the append-only activity log; it contains no memory's words.

    Events of one import share a `batch_id`, and undo reverses them together.
    """

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
    """A past state of a memory, recorded from `since` until `until`."""

    status: Status
    valid_until: datetime | None
    since: datetime
    until: datetime


@dataclass(frozen=True, slots=True)
class AsOf:
    """A moment to look back to: what was known then, what was true then, or both.

    `AsOf(known=t)` is what the memory held at t; `AsOf(true=t)` is what it says today about t.
    """

    known: datetime | None = None
    true: datetime | None = None


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where a memory comes from.

    `agent` stored it, or had the episodes that it was concluded from; `turns` and `episodes` are
    the ids of what supports it, and `product` is what it was imported from.
    """

    kind: ProvenanceKind
    agent: str | None = None
    surface: str = "library"
    session_id: str | None = None
    turns: tuple[str, ...] = ()
    episodes: tuple[str, ...] = ()
    product: str | None = None


@dataclass(frozen=True, slots=True)
class Why:
    """Why a memory was recalled: every number in its score, and its provenance."""

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
    provenance: Provenance | None = None


@dataclass(frozen=True, slots=True)
class Recalled:
    """A recalled memory, its score, and why."""

    memory: Record
    score: float
    why: Why


class Recollection(list[Recalled]):
    """The results of a recall, best first.

    `sure` is the probability, from 0 to 1, that anything relevant is stored at all. `late` names
    the parts that missed the deadline.
    """

    def __init__(
        self, found: Iterable[Recalled] = (), *, sure: float = 0.0, late: tuple[str, ...] = ()
    ) -> None:
        super().__init__(found)
        self.sure = sure
        self.late = late


@dataclass(frozen=True, slots=True)
class Written:
    """The result of a write: the memory as it is now, and the event for `undo`.

    `event` is None if nothing changed, such as when the same text is stored twice. `conflicts` are
    the active memories that contradict it, as far as the caller can see them. `refusal` says why
    nothing was stored; then the memory is what stands against it.
    """

    memory: Record
    event: Event | None
    replaced: Record | None = None
    secrets: tuple[str, ...] = ()
    conflicts: tuple[Record, ...] = ()
    refusal: str | None = None


@dataclass(frozen=True, slots=True)
class Batch:
    """The result of a write to several memories; `undo` reverses its event as a whole.

    `event` is None if nothing changed.
    """

    ids: tuple[str, ...]
    event: Event | None


@dataclass(frozen=True, slots=True)
class History:
    """The history of one memory: its versions, oldest first, and their events.

    `applications` are the uses of a rule, in all its versions.
    """

    versions: tuple[Record, ...]
    events: tuple[Event, ...]
    links: tuple[Link, ...]
    applications: tuple[RuleApplication, ...] = ()


@dataclass(frozen=True, slots=True)
class Stats:
    """Counts of a person's memories.

    `by_permanence` counts each kind apart, `by_confidence` facts and rules in bands such as
    "0.8-1". `effectiveness` is the mean of the rules that were applied; `consolidated_at` is the
    time of the last consolidation.
    """

    by_kind: Mapping[str, Mapping[str, int]]
    by_category: Mapping[str, int]
    by_permanence: Mapping[str, Mapping[str, int]]
    by_scope: Mapping[str, int]
    by_maturity: Mapping[str, int]
    by_confidence: Mapping[str, int]
    effectiveness: float | None
    fading: int
    expiring: int
    backlog: int
    events: int
    consolidated_at: datetime | None


Item = TypeVar("Item")
Member = TypeVar("Member", bound=StrEnum)


@dataclass(frozen=True, slots=True)
class Page(Generic[Item]):
    """One page of a listing; `cursor` requests the next one and is None on the last."""

    items: tuple[Item, ...]
    cursor: str | None = None


def to_as_of(as_of: AsOf | datetime | None) -> AsOf | None:
    """The moments in UTC, None if there is none; a datetime means what was known then."""
    known, true = (as_of.known, as_of.true) if isinstance(as_of, AsOf) else (as_of, None)
    for moment in (known, true):
        if not isinstance(moment, datetime | None):
            raise InvalidInput(f"as_of must be a datetime or an AsOf of them, not {moment!r}.")
    if known is None and true is None:
        return None
    return AsOf(known and as_utc(known), true and as_utc(true))


def parse_enum(enum: type[Member], value: str, name: str) -> Member:
    """The enum member with this value, or an InvalidInput error that lists the values."""
    try:
        return enum(value)
    except ValueError:
        raise InvalidInput(f"{name}: use one of {', '.join(enum)}, not {value!r}.") from None


def parse_relation(value: str) -> Relation:
    """The relation; an unknown one is an InvalidInput error that lists what a link can have."""
    try:
        return Relation(value)
    except ValueError:
        known = ", ".join(LINK_RELATIONS)
        raise InvalidInput(f"relation: use one of {known}, not {value!r}.") from None


def validate_confidence(minimum: float) -> float:
    if not isinstance(minimum, int | float) or not 0 <= minimum <= 1:
        raise InvalidInput("The minimum confidence must be from 0 to 1.")
    return minimum


def kind_of(memory_id: str) -> Kind:
    return Kind(memory_id.partition("_")[0])


def looks_like_id(text: str) -> bool:
    """True if `text` has the form of a memory's id."""
    kind, _, rest = text.partition("_")
    return kind in list(Kind) and len(rest) == 26 and rest.isalnum()


def is_program_key(predicate: str) -> bool:
    """True if a predicate is an address of a program."""
    return predicate.startswith(".")


def validate_name(name: str, what: str) -> str:
    """The normalised name of a tenant, user or agent, or an InvalidInput error."""
    if name is not None and not isinstance(name, str):
        raise InvalidInput(f"The {what} must be text, not {type(name).__name__}: pass str(…).")
    canonical = unicodedata.normalize("NFC", name) if isinstance(name, str) else ""
    if not canonical.strip():
        raise InvalidInput(f"The {what} is empty. Pass a name.")
    if len(canonical) > 200:
        raise InvalidInput(f"The {what} is longer than 200 characters.")
    if any(unicodedata.category(c) in ("Cc", "Cs") for c in canonical):
        raise InvalidInput(f"The {what} contains control characters.")
    return canonical


Progress = Callable[[int, int], None]
"""A callback with the amount done and the total."""
