"""What tools answer with: typed values for programs, and short words for a model.

The words of memories are rendered as data in the text, and stand unchanged in the values.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable

from pydantic import BaseModel, ConfigDict

from remembrancer.errors import Ambiguous, RemembrancerError
from remembrancer.memory import Memory
from remembrancer.recall.prompt_block import CLOSING, OPENING, PREAMBLE, Context, as_data
from remembrancer.types import Batch, Fact, Recollection, Record, Rule, TeamRecalled, Written

QUOTED = 200
LONGEST_ERROR = 500
DETAIL = 2000
"""How much of a long form is told along with others; alone, a memory is told in full."""


class Result(BaseModel, ABC):
    """An answer; what is None in it is left out."""

    model_config = ConfigDict(frozen=True)

    @abstractmethod
    def words(self) -> str:
        """The answer as a model should read it."""


class Remembered(Result):
    """One memory."""

    id: str
    kind: str
    content: str
    scope: str
    status: str
    importance: float
    confidence: float
    since: str
    category: str | None = None
    subject: str | None = None
    predicate: str | None = None
    detail: str | None = None
    maturity: str | None = None
    tags: list[str] | None = None
    unverified: bool | None = None
    score: float | None = None

    @classmethod
    def of(
        cls,
        memory: Memory,
        record: Record,
        *,
        score: float | None = None,
        detail: int | None = DETAIL,
    ) -> Remembered:
        """A record as it is told; `detail` is how much of its long form."""
        fact = record if isinstance(record, Fact) else None
        return cls(
            id=record.id,
            kind=record.kind,
            content=record.content,
            scope=record.scope,
            status=record.status,
            importance=record.importance,
            confidence=round(memory.confidence(record), 3),
            since=record.valid_from.isoformat(timespec="seconds"),
            category=fact.category if fact else None,
            subject=fact.subject if fact else None,
            predicate=fact.predicate if fact else None,
            detail=fact.body[:detail] if fact and fact.body else None,
            maturity=record.maturity if isinstance(record, Rule) else None,
            tags=list(record.tags) or None,
            unverified=record.tainted or None,
            score=None if score is None else round(score, 4),
        )

    def line(self) -> str:
        """The memory on one line, as data."""
        topic = f"{self.subject} {self.predicate}: " if self.subject else ""
        notes = [self.category or self.kind, f"confidence {self.confidence:g}"]
        notes += [self.maturity] if self.maturity else []
        notes += ["unverified"] if self.unverified else []
        told = f"- [{self.id}] {as_data(topic + self.content)} ({', '.join(map(as_data, notes))})"
        return f"{told}\n  {as_data(self.detail)}" if self.detail else told

    def words(self) -> str:
        return as_block([self.line()])


class Found(Result):
    """Memories, best first; `sure` is how likely it is that anything relevant is known at all."""

    memories: list[Remembered]
    sure: float | None = None
    more: bool | None = None

    @classmethod
    def by(cls, memory: Memory, found: Recollection) -> Found:
        """What a recall brought back."""
        told = [Remembered.of(memory, one.memory, score=one.score) for one in found]
        return cls(memories=told, sure=round(found.sure, 3))

    @classmethod
    def listing(cls, memory: Memory, records: Iterable[Record], *, more: bool = False) -> Found:
        """Memories that were not ranked, and whether these are not all."""
        return cls(memories=[Remembered.of(memory, one) for one in records], more=more or None)

    def words(self) -> str:
        if not self.memories:
            return "Nothing is remembered about that."
        told = as_block(one.line() for one in self.memories)
        return f"{told}\nThere are more; search for what you need." if self.more else told


class Done(Result):
    """What a write did to a memory; `event` is what undo takes."""

    done: str
    id: str
    content: str
    event: str | None = None
    replaced: str | None = None
    secrets: list[str] | None = None

    @classmethod
    def by(cls, written: Written) -> Done:
        """What a write of the library did."""
        return cls(
            done=written.event.action if written.event else "unchanged",
            id=written.memory.id,
            content=written.memory.content,
            event=written.event.id if written.event else None,
            replaced=written.replaced.id if written.replaced else None,
            secrets=list(written.secrets) or None,
        )

    def words(self) -> str:
        parts = [f"{self.done.capitalize()}: {quoted(self.content)} [{self.id}]"]
        if self.replaced:
            parts.append(f"It replaces {self.replaced}.")
        if self.secrets:
            parts.append(f"Left out, as a secret is never kept: {', '.join(self.secrets)}.")
        if self.event:
            parts.append(f"Undo: {self.event}")
        return "\n".join(parts)


class DoneToMany(Result):
    """What a write did to several memories at once."""

    done: str
    ids: list[str]
    content: str | None = None
    event: str | None = None

    @classmethod
    def by(cls, batch: Batch) -> DoneToMany:
        """What a write of the library did."""
        action = batch.event.action if batch.event else "unchanged"
        return cls(done=action, ids=list(batch.ids), event=batch.event.id if batch.event else None)

    def words(self) -> str:
        what = f"{len(self.ids)} memories" if self.content is None else quoted(self.content)
        told = f"{self.done.capitalize()}: {what}."
        return f"{told}\nUndo: {self.event}" if self.event else told


class Told(Result):
    """Memory as text for a prompt."""

    text: str
    memories: list[str]
    tokens: int

    @classmethod
    def by(cls, context: Context) -> Told:
        """What the library would put into a prompt."""
        return cls(text=context.text, memories=list(context.memories), tokens=context.tokens)

    def words(self) -> str:
        return self.text or "Nothing is remembered that matters here."


class Counted(Result):
    """How a memory is doing, in numbers."""

    by_kind: dict[str, dict[str, int]]
    by_scope: dict[str, int]
    by_permanence: dict[str, int]
    fading: int
    expiring_soon: int
    episodes_waiting: int
    confidence: dict[str, int]
    rules: dict[str, int]
    effectiveness: float | None = None

    def words(self) -> str:
        kinds = [f"{sum(states.values())} {kind}s" for kind, states in self.by_kind.items()]
        return (
            f"{', '.join(kinds) or 'Nothing yet'}; {self.fading} fading, {self.expiring_soon} "
            f"expire within a week, {self.episodes_waiting} episodes wait to be consolidated."
        )


class Proposal(Result):
    """What became of something said to the team, and which rules it breaks."""

    verdict: str
    rules: list[str] | None = None

    def words(self) -> str:
        if self.rules:
            return f"Refused, nothing was kept. It breaks: {', '.join(self.rules)}."
        return f"{self.verdict.replace('_', ' ').capitalize()}."


class Shared(BaseModel):
    """One thing that a team knows."""

    kind: str
    content: str
    confidence: float


class TeamKnows(Result):
    """What a team knows, best first."""

    facts: list[Shared]

    @classmethod
    def by(cls, found: Iterable[TeamRecalled]) -> TeamKnows:
        """What the team's memory brought back."""
        told = [
            Shared(kind=one.kind, content=one.content, confidence=one.confidence) for one in found
        ]
        return cls(facts=told)

    def words(self) -> str:
        if not self.facts:
            return "The team knows nothing about that."
        return as_block(f"- {as_data(one.content)} ({one.kind})" for one in self.facts)


def refusal(error: RemembrancerError) -> str:
    """What went wrong, in the library's own words; of several candidates, which there are."""
    candidates = error.candidates if isinstance(error, Ambiguous) else ()
    lines = [f"- [{one.id}] {quoted(one.content)}" for one in candidates]
    return "\n".join([f"{str(error)[:LONGEST_ERROR]} [{error.code}]", *lines])


def as_block(lines: Iterable[str]) -> str:
    """Lines of data between the marks that say so."""
    return "\n".join((OPENING, PREAMBLE, "", *lines, CLOSING))


def quoted(content: str) -> str:
    """The beginning of a memory, as data."""
    told = as_data(content)
    return f"“{told if len(told) <= QUOTED else told[: QUOTED - 1] + '…'}”"
