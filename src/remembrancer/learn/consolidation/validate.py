"""Turns a model's response into plan steps, each checked against what it was shown. No I/O."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from remembrancer.guard.redaction import redact_text
from remembrancer.learn.consolidation.phrases import (
    count_negations,
    find_ungrounded,
    is_correction,
)
from remembrancer.learn.consolidation.plan import (
    AddStep,
    AffirmStep,
    MergeStep,
    PlanStep,
    RelateStep,
    ReviseStep,
)
from remembrancer.learn.consolidation.shown import Refusal, ShownRecords, list_texts
from remembrancer.learn.evidence_check import MIN_SUPPORTED_SHARE, word_coverage
from remembrancer.learn.extract import excerpt_entry
from remembrancer.remember.trust import (
    INFERRED,
    PERSONAL,
    TAINTED,
    can_revise,
    trust_tier,
)
from remembrancer.types import (
    GLOBAL_SCOPE,
    Episode,
    Fact,
    Json,
    Permanence,
    Record,
    Relation,
    Rule,
)

MAX_PROPOSALS_PER_KIND = 50
MAX_EXCERPT_CHARS = 200
MIN_RULE_EPISODES = 2
"""Episodes that show a rule, unless one of them records a correction by the person."""

Text = Annotated[str, Field(min_length=3, max_length=2000)]
Name = Annotated[str, Field(min_length=1, max_length=100)]
NameList = Annotated[list[Name], Field(min_length=1, max_length=100)]
PermanenceName = Literal["permanent", "stable", "standard", "volatile", "ephemeral"]
StepName = Annotated[str, Field(pattern=r"^n\d{1,3}$")]


class _Proposal(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=True)


class FactProposal(_Proposal):
    content: Text
    episodes: NameList
    name: StepName | None = None
    subject: Name | None = None
    predicate: Name | None = None
    permanence: PermanenceName | None = None
    importance: Annotated[float, Field(ge=1, le=10)] | None = None
    category: Name | None = None
    scope: Name | None = None


class RuleProposal(_Proposal):
    content: Text
    episodes: NameList
    name: StepName | None = None
    permanence: PermanenceName | None = None
    importance: Annotated[float, Field(ge=1, le=10)] | None = None
    scope: Name | None = None
    correction: bool = False


class UpdateProposal(FactProposal):
    target: Name


class LinkProposal(_Proposal):
    source: Name
    target: Name
    relation: Literal["derived_from", "supports", "contradicts", "related_to"]


class MergeProposal(_Proposal):
    keep: Name
    drop: NameList


Shape = TypeVar("Shape", bound=_Proposal)


@dataclass(slots=True)
class ParsedPlan:
    """The accepted steps, and a message for each entry that was refused or doubted.

    `reasons` are those of the messages, without the words of the entries. `names` are those of the
    steps. `uncued` are rules that a model calls a correction although the
    episode has no word for it.
    """

    steps: list[PlanStep] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)
    names: set[str] = field(default_factory=set)
    uncued: list[AddStep] = field(default_factory=list)

    def refuse(self, section: str, reason: str, content: str = "") -> None:
        excerpt = redact_text(content[:MAX_EXCERPT_CHARS])
        self.reasons.append(reason)
        self.refused.append(f"{section}: {reason}{f' ({excerpt})' if excerpt else ''}")


def parse_steps(answer: Mapping[str, Json], shown: ShownRecords) -> ParsedPlan:
    """Check every entry of a response by itself."""
    plan = ParsedPlan()
    for section, parse in PARSERS.items():
        entries = answer.get(section, [])
        if not isinstance(entries, list):
            plan.refuse(section, "it is not a list")
            continue
        for entry in entries[:MAX_PROPOSALS_PER_KIND]:
            try:
                plan.steps.append(parse(entry, shown, plan))
            except Refusal as reason:
                plan.refuse(section, str(reason), excerpt_entry(entry, MAX_EXCERPT_CHARS))
    return plan


def _parse_entry(shape: type[Shape], entry: Json) -> Shape:
    try:
        return shape.model_validate(entry)
    except ValidationError:
        raise Refusal("it does not have the shape asked for") from None


def _parse_fact(entry: Json, shown: ShownRecords, plan: ParsedPlan) -> PlanStep:
    one = _parse_entry(FactProposal, entry)
    sources = shown.get_episodes(one.episodes)
    _check_grounded(one.content, sources, shown)
    return AddStep(
        kind="fact",
        content=one.content,
        episodes=_list_ids(sources),
        name=_register_name(one.name, plan),
        **_parse_fields(one, shown),
    )


def _parse_rule(entry: Json, shown: ShownRecords, plan: ParsedPlan) -> PlanStep:
    one = _parse_entry(RuleProposal, entry)
    sources = shown.get_episodes(one.episodes)
    if any(each.tainted for each in sources):
        raise Refusal("text from a tool or a document never becomes a rule")
    _check_grounded(one.content, sources, shown)
    cued = any(is_correction(each.content) for each in sources)
    if len(sources) < MIN_RULE_EPISODES and not cued and not one.correction:
        raise Refusal("a rule needs two episodes or a correction by the person")
    step = AddStep(
        kind="rule",
        content=one.content,
        episodes=_list_ids(sources),
        permanence=_parse_permanence(one.permanence),
        importance=one.importance,
        scope=_parse_scope(one.scope, shown),
        name=_register_name(one.name, plan),
    )
    if len(sources) < MIN_RULE_EPISODES and not cued:
        plan.uncued.append(step)
    return step


def _parse_update(entry: Json, shown: ShownRecords, plan: ParsedPlan) -> PlanStep:
    one = _parse_entry(UpdateProposal, entry)
    old, sources = shown.get_memory(one.target), shown.get_episodes(one.episodes)
    _check_grounded(one.content, [*sources, old], shown)
    step = ReviseStep(
        target=old.id,
        before=old.content,
        content=one.content,
        episodes=_list_ids(sources),
        name=_register_name(one.name, plan),
        **_parse_fields(one, shown),
    )
    reason = _find_trust_objection(old, sources)
    if reason is None:
        return step
    doubted = doubt_revision(step, old)
    if doubted is None:
        raise Refusal(reason)
    plan.refuse("updates", f"{reason}; it is stored as unconfirmed", one.content)
    return doubted


def _find_trust_objection(old: Record, sources: Sequence[Episode]) -> str | None:
    tainted = any(each.tainted for each in sources)
    if isinstance(old, Rule) and old.is_warning:
        return "a warning is not changed"
    if can_revise(TAINTED if tainted else INFERRED, old):
        return None
    if tainted:
        return "text from a tool or a document does not replace a trusted memory"
    return "a memory that the user stated is not changed"


def doubt_revision(step: ReviseStep, old: Record) -> AddStep | None:
    """The unconfirmed fact that stands for a revision which is not applied; None for a rule."""
    if not isinstance(old, Fact):
        return None
    return AddStep(
        kind="fact",
        content=step.content,
        episodes=step.episodes,
        category=step.category or old.category,
        subject=step.subject or old.subject,
        predicate=step.predicate or old.predicate,
        permanence=step.permanence or old.permanence,
        importance=step.importance,
        scope=old.scope,
        unconfirmed=True,
        contradicts=old.id,
    )


def _parse_confirmation(entry: Json, shown: ShownRecords, _: ParsedPlan) -> PlanStep:
    name = entry.get("target") if isinstance(entry, dict) else entry
    if not isinstance(name, str):
        raise Refusal("it does not have the shape asked for")
    memory = shown.get_memory(name)
    trusted = [one for one in shown.episodes.values() if not one.tainted]
    if not trusted:
        raise Refusal("no episode supports it")
    sources = trusted if len(trusted) == 1 else _find_repeating(memory, trusted)
    return AffirmStep(target=memory.id, content=memory.content, episodes=_list_ids(sources))


def _find_repeating(memory: Record, episodes: Sequence[Episode]) -> list[Episode]:
    """The episodes that share the words of a memory."""
    return [
        one for one in episodes if word_coverage(memory.content, one.content) >= MIN_SUPPORTED_SHARE
    ]


def _parse_link(entry: Json, shown: ShownRecords, plan: ParsedPlan) -> PlanStep:
    one = _parse_entry(LinkProposal, entry)
    source, target = (
        name if name in plan.names else shown.get_memory(name).id
        for name in (one.source, one.target)
    )
    if source == target:
        raise Refusal("a memory cannot be linked to itself")
    return RelateStep(source=source, target=target, relation=Relation(one.relation))


def _parse_merge(entry: Json, shown: ShownRecords, _: ParsedPlan) -> PlanStep:
    one = _parse_entry(MergeProposal, entry)
    kept = shown.get_memory(one.keep)
    dropped = [shown.get_memory(name) for name in dict.fromkeys(one.drop)]
    for each in dropped:
        check_same_content(kept, each)
    return MergeStep(
        kept=kept.id, content=kept.content, dropped={each.id: each.content for each in dropped}
    )


def check_same_content(kept: Record, dropped: Record) -> None:
    """Refuse a merge that would lose content, trust or readers."""
    if kept.id == dropped.id or kept.kind is not dropped.kind:
        raise Refusal("these are not two memories of one kind")
    if trust_tier(dropped) == PERSONAL and not _repeats_statement(kept, dropped):
        raise Refusal("a memory that the user stated is not dropped")
    if kept.tainted and not dropped.tainted:
        raise Refusal("a trusted memory is not dropped for an untrusted one")
    if kept.scope not in (GLOBAL_SCOPE, dropped.scope):
        raise Refusal("the other one is in a scope that fewer agents see")
    if (
        _have_other_subjects(kept, dropped)
        or count_negations(dropped.content) != count_negations(kept.content)
        or find_ungrounded(dropped.content, [kept.content])
    ):
        raise Refusal("one says something that the other does not")


def _repeats_statement(kept: Record, dropped: Record) -> bool:
    """True if the person stated all words of one memory in the other."""
    return trust_tier(kept) == PERSONAL and word_coverage(dropped.content, kept.content) == 1


def _have_other_subjects(one: Record, other: Record) -> bool:
    if not isinstance(one, Fact) or not isinstance(other, Fact):
        return False
    return None not in (one.subject, other.subject) and one.subject != other.subject


def _check_grounded(content: str, sources: Sequence[Record], shown: ShownRecords) -> None:
    """Refuse content with names or numbers that are neither in its sources nor in the memories."""
    if find_ungrounded(content, list_texts([*sources, *shown.memories.values()])):
        raise Refusal("it has a name or a number that the episodes do not have")


def _parse_fields(one: FactProposal, shown: ShownRecords) -> Any:
    """The fields of a step; a predicate without a subject means nothing."""
    return {
        "category": one.category,
        "subject": one.subject,
        "predicate": one.predicate if one.subject is not None else None,
        "permanence": _parse_permanence(one.permanence),
        "importance": one.importance,
        "scope": _parse_scope(one.scope, shown),
    }


def _parse_scope(name: str | None, shown: ShownRecords) -> str | None:
    """The proposed scope, if it is global; any other is the episodes' own."""
    if name is None:
        return None
    return GLOBAL_SCOPE if name.strip().casefold() == GLOBAL_SCOPE else shown.scope


def _register_name(name: str | None, plan: ParsedPlan) -> str | None:
    if name is None or name in plan.names:
        return None
    plan.names.add(name)
    return name


def _list_ids(records: Sequence[Record]) -> tuple[str, ...]:
    return tuple(one.id for one in records)


def _parse_permanence(name: str | None) -> Permanence | None:
    return Permanence(name) if name else None


PARSERS: Mapping[str, Callable[[Any, ShownRecords, ParsedPlan], PlanStep]] = {
    "facts": _parse_fact,
    "updates": _parse_update,
    "rules": _parse_rule,
    "confirmations": _parse_confirmation,
    "links": _parse_link,
    "merges": _parse_merge,
}

_OPTIONAL_FIELDS = frozenset("name importance category scope correction".split())
_OPTIONAL_UPDATE_FIELDS = _OPTIONAL_FIELDS | {"subject", "predicate", "permanence"}


def _list_schema(optional: frozenset[str] = frozenset(), **properties: Json) -> Json:
    required: list[Json] = [name for name in properties if name not in optional]
    entry: Json = {"type": "object", "properties": properties, "required": required}
    return {"type": "array", "items": entry}


_TEXT: Json = {"type": "string"}
_TEXTS: Json = {"type": "array", "items": {"type": "string"}}
_IMPORTANCE: Json = {"type": "number", "minimum": 1, "maximum": 10}
_PERMANENCE: Json = {"type": "string", "enum": list(Permanence)}
_FACT: dict[str, Json] = {
    "name": _TEXT,
    "subject": _TEXT,
    "predicate": _TEXT,
    "content": _TEXT,
    "category": _TEXT,
    "importance": _IMPORTANCE,
    "permanence": _PERMANENCE,
    "scope": _TEXT,
    "episodes": _TEXTS,
}
SCHEMA: dict[str, Json] = {
    "type": "object",
    "properties": {
        "facts": _list_schema(_OPTIONAL_FIELDS, **_FACT),
        "updates": _list_schema(_OPTIONAL_UPDATE_FIELDS, target=_TEXT, **_FACT),
        "rules": _list_schema(
            _OPTIONAL_FIELDS,
            name=_TEXT,
            content=_TEXT,
            permanence=_PERMANENCE,
            importance=_IMPORTANCE,
            scope=_TEXT,
            correction={"type": "boolean"},
            episodes=_TEXTS,
        ),
        "confirmations": _TEXTS,
        "links": _list_schema(source=_TEXT, target=_TEXT, relation=_TEXT),
        "merges": _list_schema(keep=_TEXT, drop=_TEXTS),
    },
    "required": ["facts", "updates", "rules", "confirmations", "links", "merges"],
}
