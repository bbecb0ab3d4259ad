"""From a model's answer to a plan: every step is checked against what the model was shown. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from remembrancer.guard.redaction import without_secrets
from remembrancer.learn.consolidation.plan import Add, Affirm, Merge, Relate, Revise, Step
from remembrancer.learn.evidence_check import SUPPORTED, covered, invented, negations
from remembrancer.types import Episode, Json, Permanence, Record, Relation, Source

MOST = 50
"""How many proposals of a kind are looked at."""

Text = Annotated[str, Field(min_length=3, max_length=2000)]
Name = Annotated[str, Field(min_length=1, max_length=100)]
Names = Annotated[list[Name], Field(min_length=1, max_length=100)]
Lasting = Literal["permanent", "stable", "standard", "volatile", "ephemeral"]


class _Proposal(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=True)


class FactProposal(_Proposal):
    """A new fact."""

    content: Text
    episodes: Names
    subject: Name | None = None
    predicate: Name | None = None
    permanence: Lasting | None = None
    importance: Annotated[float, Field(ge=1, le=10)] | None = None
    category: Name | None = None


class RuleProposal(_Proposal):
    """A new rule."""

    content: Text
    episodes: Names


class UpdateProposal(_Proposal):
    """Other words for a remembered fact."""

    target: Name
    content: Text
    episodes: Names
    permanence: Lasting | None = None


class LinkProposal(_Proposal):
    """A relation between two remembered memories."""

    source: Name
    target: Name
    relation: Literal["derived_from", "supports", "contradicts", "related_to"]


class MergeProposal(_Proposal):
    """Memories that say the same."""

    keep: Name
    drop: Names


Shape = TypeVar("Shape", bound=_Proposal)


class Refusal(Exception):
    """Why a step is not taken."""


@dataclass(frozen=True, slots=True)
class Shown:
    """What a model was shown, by the short names it was shown under."""

    episodes: Mapping[str, Episode]
    memories: Mapping[str, Record]

    def memory(self, name: str) -> Record:
        """A memory that was shown."""
        if name not in self.memories:
            raise Refusal("it names a memory that it was not shown")
        return self.memories[name]

    def sources(self, names: Iterable[str]) -> list[Episode]:
        """The episodes that are named, all of which must have been shown."""
        chosen = list(dict.fromkeys(names))
        if any(name not in self.episodes for name in chosen):
            raise Refusal("it names an episode that it was not shown")
        return [self.episodes[name] for name in chosen]


def steps_of(answer: Mapping[str, Json], shown: Shown) -> tuple[list[Step], list[str]]:
    """The steps that may be taken, and why others may not."""
    steps: list[Step] = []
    refused: list[str] = []
    for name, reader in READERS.items():
        entries = answer.get(name, [])
        if not isinstance(entries, list):
            refused.append(f"{name}: it is not a list")
            continue
        for entry in entries[:MOST]:
            try:
                steps.append(reader(entry, shown))
            except Refusal as why:
                refused.append(f"{name}: {why}{_named(entry)}")
    return steps, refused


def _named(entry: Json) -> str:
    """What a refused proposal said, for the person to see."""
    content = entry.get("content") if isinstance(entry, dict) else entry
    return f" ({without_secrets(content[:200])})" if isinstance(content, str) else ""


def _read(shape: type[Shape], entry: Json) -> Shape:
    try:
        return shape.model_validate(entry)
    except ValidationError:
        raise Refusal("it does not have the shape asked for") from None


def _fact(entry: Json, shown: Shown) -> Step:
    one = _read(FactProposal, entry)
    sources = shown.sources(one.episodes)
    _borne_out(one.content, sources)
    keyed = one.subject is not None and one.predicate is not None
    return Add(
        kind="fact",
        content=one.content,
        episodes=tuple(each.id for each in sources),
        category=one.category,
        subject=one.subject if keyed else None,
        predicate=one.predicate if keyed else None,
        permanence=_lasting(one.permanence),
        importance=one.importance,
    )


def _rule(entry: Json, shown: Shown) -> Step:
    one = _read(RuleProposal, entry)
    sources = shown.sources(one.episodes)
    if any(each.tainted for each in sources):
        raise Refusal("what a tool or a document says never becomes a rule")
    _borne_out(one.content, sources)
    return Add(kind="rule", content=one.content, episodes=tuple(each.id for each in sources))


def _update(entry: Json, shown: Shown) -> Step:
    one = _read(UpdateProposal, entry)
    old, sources = shown.memory(one.target), shown.sources(one.episodes)
    if old.source is Source.EXPLICIT:
        raise Refusal("what the person said themselves stands")
    if any(each.tainted for each in sources) and not old.tainted:
        raise Refusal("what a tool or a document says does not replace what is trusted")
    _borne_out(one.content, [*sources, old])
    return Revise(
        target=old.id,
        before=old.content,
        content=one.content,
        episodes=tuple(each.id for each in sources),
        permanence=_lasting(one.permanence),
    )


def _confirmation(entry: Json, shown: Shown) -> Step:
    name = entry.get("target") if isinstance(entry, dict) else entry
    if not isinstance(name, str):
        raise Refusal("it does not have the shape asked for")
    memory = shown.memory(name)
    if not any(covered(memory.content, one.content) >= SUPPORTED for one in _clean(shown)):
        raise Refusal("no episode bears it out")
    return Affirm(target=memory.id, content=memory.content)


def _link(entry: Json, shown: Shown) -> Step:
    one = _read(LinkProposal, entry)
    source, target = shown.memory(one.source), shown.memory(one.target)
    if source.id == target.id:
        raise Refusal("a memory cannot be linked to itself")
    return Relate(source=source.id, target=target.id, relation=Relation(one.relation))


def _merge(entry: Json, shown: Shown) -> Step:
    one = _read(MergeProposal, entry)
    kept = shown.memory(one.keep)
    dropped = [shown.memory(name) for name in dict.fromkeys(one.drop)]
    for each in dropped:
        _same(kept, each)
    return Merge(
        kept=kept.id, content=kept.content, dropped={each.id: each.content for each in dropped}
    )


def _same(kept: Record, dropped: Record) -> None:
    """Refuse to drop what says anything that the other does not."""
    if kept.id == dropped.id or kept.kind is not dropped.kind:
        raise Refusal("these are not two memories of one kind")
    if dropped.source is Source.EXPLICIT and kept.source is not Source.EXPLICIT:
        raise Refusal("what the person said themselves stands")
    if kept.tainted and not dropped.tainted:
        raise Refusal("what is trusted is not dropped for what is not")
    if negations(dropped.content) != negations(kept.content):
        raise Refusal("one says something that the other does not")
    if covered(dropped.content, kept.content) < 1 or invented(dropped.content, kept.content):
        raise Refusal("one says something that the other does not")


def _borne_out(content: str, sources: Sequence[Record]) -> None:
    """Refuse what the sources do not say, or say otherwise in names and numbers."""
    said = "\n".join(one.content for one in sources)
    if covered(content, said) < SUPPORTED:
        raise Refusal("the episodes do not say so")
    if invented(content, said):
        raise Refusal("it has a name or a number that the episodes do not have")


def _clean(shown: Shown) -> list[Episode]:
    return [one for one in shown.episodes.values() if not one.tainted]


def _lasting(name: str | None) -> Permanence | None:
    return Permanence(name) if name else None


READERS: Mapping[str, Callable[[Any, Shown], Step]] = {
    "facts": _fact,
    "updates": _update,
    "rules": _rule,
    "confirmations": _confirmation,
    "links": _link,
    "merges": _merge,
}


def _list_of(**properties: Json) -> Json:
    required: list[Json] = [name for name in properties if name not in ("importance", "category")]
    entry: Json = {"type": "object", "properties": properties, "required": required}
    return {"type": "array", "items": entry}


_TEXT: Json = {"type": "string"}
_TEXTS: Json = {"type": "array", "items": {"type": "string"}}
_PERMANENCE: Json = {"type": "string", "enum": list(Permanence)}
SCHEMA: dict[str, Json] = {
    "type": "object",
    "properties": {
        "facts": _list_of(
            subject=_TEXT, predicate=_TEXT, content=_TEXT, permanence=_PERMANENCE, episodes=_TEXTS
        ),
        "updates": _list_of(target=_TEXT, content=_TEXT, episodes=_TEXTS),
        "rules": _list_of(content=_TEXT, episodes=_TEXTS),
        "confirmations": _TEXTS,
        "links": _list_of(source=_TEXT, target=_TEXT, relation=_TEXT),
        "merges": _list_of(keep=_TEXT, drop=_TEXTS),
    },
    "required": ["facts", "updates", "rules", "confirmations", "links", "merges"],
}
