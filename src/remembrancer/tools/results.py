"""What tools answer with: typed values for programs, and short words for a model.

The words of memories are rendered as data in the text, and stand unchanged in the values.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable

from pydantic import BaseModel, ConfigDict

from remembrancer.errors import Ambiguous, RemembrancerError
from remembrancer.memory import Memory
from remembrancer.recall.prompt_block import (
    BLOCK_END,
    BLOCK_START,
    PREAMBLE,
    Context,
    escape_for_prompt,
)
from remembrancer.types import Batch, Fact, Recollection, Record, Rule, TeamRecalled, Written

MAX_QUOTE_CHARS = 200
MAX_ERROR_CHARS = 500
MAX_DETAIL_CHARS = 2000
"""How much of a long form is told along with others; alone, a memory is told in full."""


class ToolResult(BaseModel, ABC):
    """An answer; what is None in it is left out."""

    model_config = ConfigDict(frozen=True)

    @abstractmethod
    def to_text(self) -> str:
        """The answer as a model should read it."""


class MemoryResult(ToolResult):
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
    def from_record(
        cls,
        memory: Memory,
        record: Record,
        *,
        score: float | None = None,
        max_detail_chars: int | None = MAX_DETAIL_CHARS,
    ) -> MemoryResult:
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
            detail=fact.body[:max_detail_chars] if fact and fact.body else None,
            maturity=record.maturity if isinstance(record, Rule) else None,
            tags=list(record.tags) or None,
            unverified=record.tainted or None,
            score=None if score is None else round(score, 4),
        )

    def to_line(self) -> str:
        """The memory on one line, as data."""
        topic = f"{self.subject} {self.predicate}: " if self.subject else ""
        notes = [self.category or self.kind, f"confidence {self.confidence:g}"]
        notes += [self.maturity] if self.maturity else []
        notes += ["unverified"] if self.unverified else []
        text = escape_for_prompt(topic + self.content)
        told = f"- [{self.id}] {text} ({', '.join(map(escape_for_prompt, notes))})"
        return f"{told}\n  {escape_for_prompt(self.detail)}" if self.detail else told

    def to_text(self) -> str:
        return render_block([self.to_line()])


class MemoryListResult(ToolResult):
    """Memories, best first; `sure` is how likely it is that anything relevant is known at all."""

    memories: list[MemoryResult]
    sure: float | None = None
    more: bool | None = None

    @classmethod
    def from_recall(cls, memory: Memory, found: Recollection) -> MemoryListResult:
        """What a recall brought back."""
        told = [MemoryResult.from_record(memory, one.memory, score=one.score) for one in found]
        return cls(memories=told, sure=round(found.sure, 3))

    @classmethod
    def from_records(
        cls, memory: Memory, records: Iterable[Record], *, more: bool = False
    ) -> MemoryListResult:
        """Memories that were not ranked, and whether these are not all."""
        return cls(
            memories=[MemoryResult.from_record(memory, one) for one in records], more=more or None
        )

    def to_text(self) -> str:
        if not self.memories:
            return "Nothing is remembered about that."
        told = render_block(one.to_line() for one in self.memories)
        return f"{told}\nThere are more; search for what you need." if self.more else told


class WriteResult(ToolResult):
    """What a write did to a memory; `event` is what undo takes."""

    done: str
    id: str
    content: str
    event: str | None = None
    replaced: str | None = None
    secrets: list[str] | None = None

    @classmethod
    def from_written(cls, written: Written) -> WriteResult:
        """What a write of the library did."""
        return cls(
            done=written.event.action if written.event else "unchanged",
            id=written.memory.id,
            content=written.memory.content,
            event=written.event.id if written.event else None,
            replaced=written.replaced.id if written.replaced else None,
            secrets=list(written.secrets) or None,
        )

    def to_text(self) -> str:
        parts = [f"{self.done.capitalize()}: {quote_content(self.content)} [{self.id}]"]
        if self.replaced:
            parts.append(f"It replaces {self.replaced}.")
        if self.secrets:
            parts.append(f"Left out, as a secret is never kept: {', '.join(self.secrets)}.")
        if self.event:
            parts.append(f"Undo: {self.event}")
        return "\n".join(parts)


class BatchResult(ToolResult):
    """What a write did to several memories at once."""

    done: str
    ids: list[str]
    content: str | None = None
    event: str | None = None

    @classmethod
    def from_batch(cls, batch: Batch) -> BatchResult:
        """What a write of the library did."""
        action = batch.event.action if batch.event else "unchanged"
        return cls(done=action, ids=list(batch.ids), event=batch.event.id if batch.event else None)

    def to_text(self) -> str:
        what = f"{len(self.ids)} memories" if self.content is None else quote_content(self.content)
        told = f"{self.done.capitalize()}: {what}."
        return f"{told}\nUndo: {self.event}" if self.event else told


class ContextResult(ToolResult):
    """Memory as text for a prompt."""

    text: str
    memories: list[str]
    tokens: int

    @classmethod
    def from_context(cls, context: Context) -> ContextResult:
        """What the library would put into a prompt."""
        return cls(text=context.text, memories=list(context.memories), tokens=context.tokens)

    def to_text(self) -> str:
        return self.text or "Nothing is remembered that matters here."


class StatsResult(ToolResult):
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

    def to_text(self) -> str:
        kinds = [f"{sum(states.values())} {kind}s" for kind, states in self.by_kind.items()]
        return (
            f"{', '.join(kinds) or 'Nothing yet'}; {self.fading} fading, {self.expiring_soon} "
            f"expire within a week, {self.episodes_waiting} episodes wait to be consolidated."
        )


class ProposalResult(ToolResult):
    """What became of something said to the team, and which rules it breaks."""

    verdict: str
    rules: list[str] | None = None

    def to_text(self) -> str:
        if self.rules:
            return f"Refused, nothing was kept. It breaks: {', '.join(self.rules)}."
        return f"{self.verdict.replace('_', ' ').capitalize()}."


class TeamFactResult(BaseModel):
    """One thing that a team knows."""

    kind: str
    content: str
    confidence: float


class TeamRecallResult(ToolResult):
    """What a team knows, best first."""

    facts: list[TeamFactResult]

    @classmethod
    def from_recall(cls, found: Iterable[TeamRecalled]) -> TeamRecallResult:
        """What the team's memory brought back."""
        told = [
            TeamFactResult(kind=one.kind, content=one.content, confidence=one.confidence)
            for one in found
        ]
        return cls(facts=told)

    def to_text(self) -> str:
        if not self.facts:
            return "The team knows nothing about that."
        return render_block(
            f"- {escape_for_prompt(one.content)} ({one.kind})" for one in self.facts
        )


def format_error(error: RemembrancerError) -> str:
    """What went wrong, in the library's own words; of several candidates, which there are."""
    candidates = error.candidates if isinstance(error, Ambiguous) else ()
    lines = [f"- [{one.id}] {quote_content(one.content)}" for one in candidates]
    return "\n".join([f"{str(error)[:MAX_ERROR_CHARS]} [{error.code}]", *lines])


def render_block(lines: Iterable[str]) -> str:
    """Lines of data between the marks that say so."""
    return "\n".join((BLOCK_START, PREAMBLE, "", *lines, BLOCK_END))


def quote_content(content: str) -> str:
    """The beginning of a memory, as data."""
    told = escape_for_prompt(content)
    return f"“{told if len(told) <= MAX_QUOTE_CHARS else told[: MAX_QUOTE_CHARS - 1] + '…'}”"
