"""Results of tools: typed values for programs, and short text for a model.

The text marks the content of memories as data; the values carry it unchanged.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable

from pydantic import BaseModel, ConfigDict, PrivateAttr

from remembrancer.errors import Ambiguous, RemembrancerError
from remembrancer.memory import Memory
from remembrancer.recall.prompt_block import (
    BLOCK_END,
    BLOCK_START,
    PREAMBLE,
    Context,
    escape_for_prompt,
)
from remembrancer.remember.doubt import describe_doubt
from remembrancer.remember.provenance import name_unverified_origin
from remembrancer.team.fact_list import TeamListed
from remembrancer.types import (
    Action,
    Fact,
    Page,
    Recollection,
    Record,
    Rule,
    Stats,
    TeamRecalled,
    Written,
    is_program_key,
)

HELD_BACK = (
    "It reads like an instruction to an assistant, so it is not used before the user allows it."
)
MAX_QUOTE_CHARS = 200
MAX_ERROR_CHARS = 500
MAX_DETAIL_CHARS = 2000
"""Length to which a list cuts the long form of a memory; a single memory is not cut."""


class ToolResult(BaseModel, ABC):
    """Base of all results; fields that are None are omitted from the output."""

    model_config = ConfigDict(frozen=True)

    @abstractmethod
    def to_text(self) -> str:
        """Return the result as text for a model."""


class MemoryResult(ToolResult):
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
    unverified: str | None = None
    doubt: str | None = None
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
            unverified=name_unverified_origin(record) or None,
            doubt=describe_doubt(record) or None,
            score=None if score is None else round(score, 4),
        )

    def to_line(self) -> str:
        is_named = self.subject and not is_program_key(self.predicate or "")
        topic = f"{self.subject} {self.predicate}: " if is_named else ""
        notes = [self.category or self.kind, f"confidence {self.confidence:g}"]
        notes += [self.maturity] if self.maturity else []
        notes += [f"unverified: {self.unverified}"] if self.unverified else []
        notes += [f"not confirmed: {self.doubt}"] if self.doubt else []
        text = escape_for_prompt(topic + self.content)
        line = f"- [{self.id}] {text} ({', '.join(map(escape_for_prompt, notes))})"
        return f"{line}\n  {escape_for_prompt(self.detail)}" if self.detail else line

    def to_text(self) -> str:
        return render_block([self.to_line()])


class MemoryListResult(ToolResult):
    """Memories, best first.

    `sure` is the probability that anything relevant is remembered; `late` names the searches that
    missed the deadline.
    """

    items: list[MemoryResult]
    sure: float | None = None
    late: list[str] | None = None
    more: bool | None = None

    @classmethod
    def from_recall(cls, memory: Memory, found: Recollection) -> MemoryListResult:
        items = [MemoryResult.from_record(memory, one.memory, score=one.score) for one in found]
        return cls(items=items, sure=round(found.sure, 3), late=list(found.late))

    @classmethod
    def from_records(
        cls, memory: Memory, records: Iterable[Record], *, more: bool = False
    ) -> MemoryListResult:
        """Build the result of a listing; `more` says that it was cut."""
        items = [MemoryResult.from_record(memory, one) for one in records]
        return cls(items=items, more=more or None)

    def to_text(self) -> str:
        if not self.items:
            return "Nothing is remembered about that."
        block = render_block(one.to_line() for one in self.items)
        return f"{block}\nThere are more; search for what you need." if self.more else block


class WriteResult(ToolResult):
    """The effect of a write on one memory; `undo` takes its `event`."""

    done: str
    id: str
    content: str
    event: str | None = None
    replaced: str | None = None
    refusal: str | None = None
    secrets: list[str] | None = None
    conflicts: list[str] | None = None
    _replaced_content: str | None = PrivateAttr(None)

    @classmethod
    def from_written(cls, written: Written) -> WriteResult:
        result = cls(
            done=written.event.action if written.event else _name_idle(written),
            id=written.memory.id,
            content=written.memory.content,
            event=written.event.id if written.event else None,
            replaced=written.replaced.id if written.replaced else None,
            refusal=written.refusal,
            secrets=list(written.secrets) or None,
            conflicts=[_describe_conflict(one) for one in written.conflicts] or None,
        )
        result._replaced_content = written.replaced.content if written.replaced else None
        return result

    def describe_change(self) -> str:
        """What was written, and in place of what."""
        old = self._replaced_content
        instead = f", instead of {quote_content(old)}" if old else ""
        return f"{self.done.capitalize()}: {quote_content(self.content)}{instead}"

    def to_text(self) -> str:
        parts = [f"{self.describe_change()} [{self.id}]"]
        if self.replaced:
            parts.append(f"It replaces {self.replaced}.")
        if self.refusal:
            parts.append(self.refusal)
        if self.done == Action.QUARANTINED:
            parts.append(HELD_BACK)
        parts += [f"It contradicts {one}." for one in self.conflicts or ()]
        if self.secrets:
            parts.append(f"Left out, because secrets are never stored: {', '.join(self.secrets)}.")
        if self.event:
            parts.append(f"Undo: {self.event}")
        return "\n".join(parts)


def _describe_conflict(record: Record) -> str:
    return f"{quote_content(record.content)} in the scope {record.scope} [{record.id}]"


def _name_idle(written: Written) -> str:
    return "refused" if written.refusal else "unchanged"


class ForgetResult(ToolResult):
    """A memory that was forgotten, or everything that was erased.

    With a `code`, nothing is forgotten yet: `content` says what would go, and the code confirms it.
    """

    done: str
    ids: list[str] = []
    content: str | None = None
    event: str | None = None
    code: str | None = None

    @classmethod
    def from_written(cls, written: Written) -> ForgetResult:
        done = WriteResult.from_written(written)
        return cls(done=done.done, ids=[done.id], content=done.content, event=done.event)

    def to_text(self) -> str:
        if self.code is not None:
            return (
                f"Nothing is forgotten yet. This would erase for good: {self.content}. Ask the "
                f"user, and only if they agree, call again with confirm = {self.code!r}."
            )
        if self.content is None:
            return "There is nothing to forget."
        if self.event is None:
            return f"{self.done.capitalize()}: {self.content}. It cannot be undone."
        return f"{self.done.capitalize()}: {quote_content(self.content)}.\nUndo: {self.event}"


class ContextResult(ToolResult):
    """Memory as text for a prompt, and the ids of the memories in it."""

    text: str
    memories: list[str]
    tokens: int

    @classmethod
    def from_context(cls, context: Context) -> ContextResult:
        return cls(text=context.text, memories=list(context.memories), tokens=context.tokens)

    def to_text(self) -> str:
        return self.text or "Nothing relevant is remembered."


class StatsResult(ToolResult):
    by_kind: dict[str, dict[str, int]]
    by_scope: dict[str, int]
    by_permanence: dict[str, dict[str, int]]
    fading: int
    expiring_soon: int
    episodes_waiting: int
    confidence: dict[str, int]
    rules: dict[str, int]
    effectiveness: float | None = None
    consolidated_at: str | None = None

    @classmethod
    def from_stats(cls, stats: Stats) -> StatsResult:
        last = stats.consolidated_at
        return cls(
            by_kind={kind: dict(states) for kind, states in stats.by_kind.items()},
            by_scope=dict(stats.by_scope),
            by_permanence={kind: dict(found) for kind, found in stats.by_permanence.items()},
            fading=stats.fading,
            expiring_soon=stats.expiring,
            episodes_waiting=stats.backlog,
            confidence=dict(stats.by_confidence),
            rules=dict(stats.by_maturity),
            effectiveness=stats.effectiveness,
            consolidated_at=last.isoformat(timespec="seconds") if last else None,
        )

    def to_text(self) -> str:
        kinds = [f"{sum(states.values())} {kind}s" for kind, states in self.by_kind.items()]
        lines = [
            f"{', '.join(kinds) or 'Nothing yet'}; {self.fading} fading, {self.expiring_soon} "
            f"expire within a week, {self.episodes_waiting} episodes wait to be consolidated."
        ]
        if self.rules:
            found = [f"{count} {name}" for name, count in self.rules.items()]
            lines.append(f"Rules: {', '.join(found)}.")
        if self.effectiveness is not None:
            lines.append(f"Effectiveness of rules: {self.effectiveness:.0%}.")
        if self.confidence:
            found = [f"{count} at {band}" for band, count in self.confidence.items()]
            lines.append(f"Confidence of facts and rules: {', '.join(found)}.")
        if self.consolidated_at:
            lines.append(f"Last consolidation: {self.consolidated_at}.")
        return "\n".join(lines)


class ProposalResult(ToolResult):
    """The verdict on a proposal to the team, the rules that it breaks, and both in words."""

    verdict: str
    rules: list[str] | None = None
    explanation: str

    def to_text(self) -> str:
        return escape_for_prompt(self.explanation)


class TeamFactResult(BaseModel):
    kind: str
    content: str
    confidence: float


class TeamRecallResult(ToolResult):
    """Facts from team memory, best first."""

    facts: list[TeamFactResult]

    @classmethod
    def from_recall(cls, found: Iterable[TeamRecalled]) -> TeamRecallResult:
        facts = [
            TeamFactResult(kind=one.kind, content=one.content, confidence=one.confidence)
            for one in found
        ]
        return cls(facts=facts)

    def to_text(self) -> str:
        if not self.facts:
            return "The team knows nothing about that."
        return render_block(
            f"- {escape_for_prompt(one.content)} ({one.kind})" for one in self.facts
        )


class TeamListedResult(TeamFactResult):
    origin: str


class TeamListResult(ToolResult):
    """Approved facts of the team, newest first; `cursor` continues the list."""

    items: list[TeamListedResult]
    cursor: str | None = None

    @classmethod
    def from_page(cls, page: Page[TeamListed]) -> TeamListResult:
        items = [
            TeamListedResult(
                kind=one.kind, content=one.content, confidence=one.confidence, origin=one.origin
            )
            for one in page.items
        ]
        return cls(items=items, cursor=page.cursor)

    def to_text(self) -> str:
        if not self.items:
            return "The team knows nothing of the kind."
        more = [f"- more with cursor {self.cursor}"] if self.cursor else []
        lines = (
            f"- {escape_for_prompt(one.content)} ({one.kind}, by {one.origin})"
            for one in self.items
        )
        return render_block([*lines, *more])


def format_error(error: RemembrancerError) -> str:
    """Return the message and code of an error, followed by the candidates if it is ambiguous."""
    candidates = error.candidates if isinstance(error, Ambiguous) else ()
    lines = [f"- [{one.id}] {quote_content(one.content)}" for one in candidates]
    return "\n".join([f"{str(error)[:MAX_ERROR_CHARS]} [{error.code}]", *lines])


def render_block(lines: Iterable[str]) -> str:
    """Put lines between the markers that tell a model to treat them as data."""
    return "\n".join((BLOCK_START, PREAMBLE, "", *lines, BLOCK_END))


def quote_content(content: str) -> str:
    """Return the beginning of a memory in quotation marks, escaped for a prompt."""
    text = escape_for_prompt(content)
    return f"“{text if len(text) <= MAX_QUOTE_CHARS else text[: MAX_QUOTE_CHARS - 1] + '…'}”"
