"""Turns a model's response into plan steps, each checked against what it was shown. No I/O."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from remembrancer.guard.redaction import redact_text
from remembrancer.learn.consolidation.plan import (
    AddStep,
    AffirmStep,
    MergeStep,
    PlanStep,
    RelateStep,
    ReviseStep,
)
from remembrancer.learn.evidence_check import (
    MIN_SUPPORTED_SHARE,
    count_negations,
    find_invented,
    word_coverage,
)
from remembrancer.learn.extract import excerpt_entry
from remembrancer.types import Episode, Json, Permanence, Record, Relation, Source

MAX_PROPOSALS_PER_KIND = 50
MAX_EXCERPT_CHARS = 200

Text = Annotated[str, Field(min_length=3, max_length=2000)]
Name = Annotated[str, Field(min_length=1, max_length=100)]
NameList = Annotated[list[Name], Field(min_length=1, max_length=100)]
PermanenceName = Literal["permanent", "stable", "standard", "volatile", "ephemeral"]


class _Proposal(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=True)


class FactProposal(_Proposal):
    content: Text
    episodes: NameList
    subject: Name | None = None
    predicate: Name | None = None
    permanence: PermanenceName | None = None
    importance: Annotated[float, Field(ge=1, le=10)] | None = None
    category: Name | None = None


class RuleProposal(_Proposal):
    content: Text
    episodes: NameList


class UpdateProposal(_Proposal):
    target: Name
    content: Text
    episodes: NameList
    permanence: PermanenceName | None = None


class LinkProposal(_Proposal):
    source: Name
    target: Name
    relation: Literal["derived_from", "supports", "contradicts", "related_to"]


class MergeProposal(_Proposal):
    keep: Name
    drop: NameList


Shape = TypeVar("Shape", bound=_Proposal)


class Refusal(Exception):
    """Raised with the reason why a proposal is refused."""


@dataclass(frozen=True, slots=True)
class ShownRecords:
    """The records shown to the model, by their short names."""

    episodes: Mapping[str, Episode]
    memories: Mapping[str, Record]

    def get_memory(self, name: str) -> Record:
        if name not in self.memories:
            raise Refusal("it names a memory that the model was not shown")
        return self.memories[name]

    def get_episodes(self, names: Iterable[str]) -> list[Episode]:
        chosen = list(dict.fromkeys(names))
        if any(name not in self.episodes for name in chosen):
            raise Refusal("it names an episode that the model was not shown")
        return [self.episodes[name] for name in chosen]


def parse_steps(
    answer: Mapping[str, Json], shown: ShownRecords
) -> tuple[list[PlanStep], list[str]]:
    """Returns the accepted steps, and a message for each refused entry."""
    steps: list[PlanStep] = []
    refused: list[str] = []
    for name, parse in PARSERS.items():
        entries = answer.get(name, [])
        if not isinstance(entries, list):
            refused.append(f"{name}: it is not a list")
            continue
        for entry in entries[:MAX_PROPOSALS_PER_KIND]:
            try:
                steps.append(parse(entry, shown))
            except Refusal as reason:
                refused.append(f"{name}: {reason}{_quote_entry(entry)}")
    return steps, refused


def _quote_entry(entry: Json) -> str:
    excerpt = redact_text(excerpt_entry(entry, MAX_EXCERPT_CHARS))
    return f" ({excerpt})" if excerpt else ""


def _parse_entry(shape: type[Shape], entry: Json) -> Shape:
    try:
        return shape.model_validate(entry)
    except ValidationError:
        raise Refusal("it does not have the shape asked for") from None


def _parse_fact(entry: Json, shown: ShownRecords) -> PlanStep:
    one = _parse_entry(FactProposal, entry)
    sources = shown.get_episodes(one.episodes)
    _check_supported(one.content, sources)
    keyed = one.subject is not None and one.predicate is not None
    return AddStep(
        kind="fact",
        content=one.content,
        episodes=tuple(each.id for each in sources),
        category=one.category,
        subject=one.subject if keyed else None,
        predicate=one.predicate if keyed else None,
        permanence=_parse_permanence(one.permanence),
        importance=one.importance,
    )


def _parse_rule(entry: Json, shown: ShownRecords) -> PlanStep:
    one = _parse_entry(RuleProposal, entry)
    sources = shown.get_episodes(one.episodes)
    if any(each.tainted for each in sources):
        raise Refusal("text from a tool or a document never becomes a rule")
    _check_supported(one.content, sources)
    return AddStep(kind="rule", content=one.content, episodes=tuple(each.id for each in sources))


def _parse_update(entry: Json, shown: ShownRecords) -> PlanStep:
    one = _parse_entry(UpdateProposal, entry)
    old, sources = shown.get_memory(one.target), shown.get_episodes(one.episodes)
    if old.source is Source.EXPLICIT:
        raise Refusal("a memory that the user stated is not changed")
    if any(each.tainted for each in sources) and not old.tainted:
        raise Refusal("text from a tool or a document does not replace a trusted memory")
    _check_supported(one.content, [*sources, old])
    return ReviseStep(
        target=old.id,
        before=old.content,
        content=one.content,
        episodes=tuple(each.id for each in sources),
        permanence=_parse_permanence(one.permanence),
    )


def _parse_confirmation(entry: Json, shown: ShownRecords) -> PlanStep:
    name = entry.get("target") if isinstance(entry, dict) else entry
    if not isinstance(name, str):
        raise Refusal("it does not have the shape asked for")
    memory = shown.get_memory(name)
    if not any(
        word_coverage(memory.content, one.content) >= MIN_SUPPORTED_SHARE
        for one in _list_untainted(shown)
    ):
        raise Refusal("no episode supports it")
    return AffirmStep(target=memory.id, content=memory.content)


def _parse_link(entry: Json, shown: ShownRecords) -> PlanStep:
    one = _parse_entry(LinkProposal, entry)
    source, target = shown.get_memory(one.source), shown.get_memory(one.target)
    if source.id == target.id:
        raise Refusal("a memory cannot be linked to itself")
    return RelateStep(source=source.id, target=target.id, relation=Relation(one.relation))


def _parse_merge(entry: Json, shown: ShownRecords) -> PlanStep:
    one = _parse_entry(MergeProposal, entry)
    kept = shown.get_memory(one.keep)
    dropped = [shown.get_memory(name) for name in dict.fromkeys(one.drop)]
    for each in dropped:
        _check_same_content(kept, each)
    return MergeStep(
        kept=kept.id, content=kept.content, dropped={each.id: each.content for each in dropped}
    )


def _check_same_content(kept: Record, dropped: Record) -> None:
    """Refuse a merge that would lose content or trust."""
    if kept.id == dropped.id or kept.kind is not dropped.kind:
        raise Refusal("these are not two memories of one kind")
    if dropped.source is Source.EXPLICIT and kept.source is not Source.EXPLICIT:
        raise Refusal("a memory that the user stated is not dropped")
    if kept.tainted and not dropped.tainted:
        raise Refusal("a trusted memory is not dropped for an untrusted one")
    if count_negations(dropped.content) != count_negations(kept.content):
        raise Refusal("one says something that the other does not")
    if word_coverage(dropped.content, kept.content) < 1 or find_invented(
        dropped.content, kept.content
    ):
        raise Refusal("one says something that the other does not")


def _check_supported(content: str, sources: Sequence[Record]) -> None:
    """Refuse content whose words, names or numbers are not in the sources."""
    text = "\n".join(one.content for one in sources)
    if word_coverage(content, text) < MIN_SUPPORTED_SHARE:
        raise Refusal("the episodes do not say so")
    if find_invented(content, text):
        raise Refusal("it has a name or a number that the episodes do not have")


def _list_untainted(shown: ShownRecords) -> list[Episode]:
    return [one for one in shown.episodes.values() if not one.tainted]


def _parse_permanence(name: str | None) -> Permanence | None:
    return Permanence(name) if name else None


PARSERS: Mapping[str, Callable[[Any, ShownRecords], PlanStep]] = {
    "facts": _parse_fact,
    "updates": _parse_update,
    "rules": _parse_rule,
    "confirmations": _parse_confirmation,
    "links": _parse_link,
    "merges": _parse_merge,
}


def _list_schema(**properties: Json) -> Json:
    required: list[Json] = [name for name in properties if name not in ("importance", "category")]
    entry: Json = {"type": "object", "properties": properties, "required": required}
    return {"type": "array", "items": entry}


_TEXT: Json = {"type": "string"}
_TEXTS: Json = {"type": "array", "items": {"type": "string"}}
_PERMANENCE: Json = {"type": "string", "enum": list(Permanence)}
SCHEMA: dict[str, Json] = {
    "type": "object",
    "properties": {
        "facts": _list_schema(
            subject=_TEXT, predicate=_TEXT, content=_TEXT, permanence=_PERMANENCE, episodes=_TEXTS
        ),
        "updates": _list_schema(target=_TEXT, content=_TEXT, episodes=_TEXTS),
        "rules": _list_schema(content=_TEXT, episodes=_TEXTS),
        "confirmations": _TEXTS,
        "links": _list_schema(source=_TEXT, target=_TEXT, relation=_TEXT),
        "merges": _list_schema(keep=_TEXT, drop=_TEXTS),
    },
    "required": ["facts", "updates", "rules", "confirmations", "links", "merges"],
}
