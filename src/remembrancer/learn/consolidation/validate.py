"""From a model's answer to a plan: every step is checked against what the model was shown. Pure."""

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
from remembrancer.types import Episode, Json, Permanence, Record, Relation, Source

MAX_PROPOSALS_PER_KIND = 50
"""How many proposals of a kind are looked at."""

Text = Annotated[str, Field(min_length=3, max_length=2000)]
Name = Annotated[str, Field(min_length=1, max_length=100)]
NameList = Annotated[list[Name], Field(min_length=1, max_length=100)]
PermanenceName = Literal["permanent", "stable", "standard", "volatile", "ephemeral"]


class _Proposal(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=True)


class FactProposal(_Proposal):
    """A new fact."""

    content: Text
    episodes: NameList
    subject: Name | None = None
    predicate: Name | None = None
    permanence: PermanenceName | None = None
    importance: Annotated[float, Field(ge=1, le=10)] | None = None
    category: Name | None = None


class RuleProposal(_Proposal):
    """A new rule."""

    content: Text
    episodes: NameList


class UpdateProposal(_Proposal):
    """Other words for a remembered fact."""

    target: Name
    content: Text
    episodes: NameList
    permanence: PermanenceName | None = None


class LinkProposal(_Proposal):
    """A relation between two remembered memories."""

    source: Name
    target: Name
    relation: Literal["derived_from", "supports", "contradicts", "related_to"]


class MergeProposal(_Proposal):
    """Memories that say the same."""

    keep: Name
    drop: NameList


Shape = TypeVar("Shape", bound=_Proposal)


class Refusal(Exception):
    """Why a step is not taken."""


@dataclass(frozen=True, slots=True)
class ShownRecords:
    """What a model was shown, by the short names it was shown under."""

    episodes: Mapping[str, Episode]
    memories: Mapping[str, Record]

    def get_memory(self, name: str) -> Record:
        """A memory that was shown."""
        if name not in self.memories:
            raise Refusal("it names a memory that it was not shown")
        return self.memories[name]

    def get_episodes(self, names: Iterable[str]) -> list[Episode]:
        """The episodes that are named, all of which must have been shown."""
        chosen = list(dict.fromkeys(names))
        if any(name not in self.episodes for name in chosen):
            raise Refusal("it names an episode that it was not shown")
        return [self.episodes[name] for name in chosen]


def parse_steps(
    answer: Mapping[str, Json], shown: ShownRecords
) -> tuple[list[PlanStep], list[str]]:
    """The steps that may be taken, and why others may not."""
    steps: list[PlanStep] = []
    refused: list[str] = []
    for name, reader in PARSERS.items():
        entries = answer.get(name, [])
        if not isinstance(entries, list):
            refused.append(f"{name}: it is not a list")
            continue
        for entry in entries[:MAX_PROPOSALS_PER_KIND]:
            try:
                steps.append(reader(entry, shown))
            except Refusal as why:
                refused.append(f"{name}: {why}{_quote_entry(entry)}")
    return steps, refused


def _quote_entry(entry: Json) -> str:
    """What a refused proposal said, for the person to see."""
    content = entry.get("content") if isinstance(entry, dict) else entry
    return f" ({redact_text(content[:200])})" if isinstance(content, str) else ""


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
        raise Refusal("what a tool or a document says never becomes a rule")
    _check_supported(one.content, sources)
    return AddStep(kind="rule", content=one.content, episodes=tuple(each.id for each in sources))


def _parse_update(entry: Json, shown: ShownRecords) -> PlanStep:
    one = _parse_entry(UpdateProposal, entry)
    old, sources = shown.get_memory(one.target), shown.get_episodes(one.episodes)
    if old.source is Source.EXPLICIT:
        raise Refusal("what the person said themselves stands")
    if any(each.tainted for each in sources) and not old.tainted:
        raise Refusal("what a tool or a document says does not replace what is trusted")
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
        raise Refusal("no episode bears it out")
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
    """Refuse to drop what says anything that the other does not."""
    if kept.id == dropped.id or kept.kind is not dropped.kind:
        raise Refusal("these are not two memories of one kind")
    if dropped.source is Source.EXPLICIT and kept.source is not Source.EXPLICIT:
        raise Refusal("what the person said themselves stands")
    if kept.tainted and not dropped.tainted:
        raise Refusal("what is trusted is not dropped for what is not")
    if count_negations(dropped.content) != count_negations(kept.content):
        raise Refusal("one says something that the other does not")
    if word_coverage(dropped.content, kept.content) < 1 or find_invented(
        dropped.content, kept.content
    ):
        raise Refusal("one says something that the other does not")


def _check_supported(content: str, sources: Sequence[Record]) -> None:
    """Refuse what the sources do not say, or say otherwise in names and numbers."""
    said = "\n".join(one.content for one in sources)
    if word_coverage(content, said) < MIN_SUPPORTED_SHARE:
        raise Refusal("the episodes do not say so")
    if find_invented(content, said):
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
