"""Finds the memory that "Correction: …" corrects, and stores the correction in its place."""

from __future__ import annotations

from collections.abc import Iterable

from remembrancer.learn.rules.told import ToldStatement, read_told
from remembrancer.learn.wording.change import SaidChange, find_changed
from remembrancer.learn.wording.other_value import list_frame
from remembrancer.memory import Memory
from remembrancer.paging import MAX_LIMIT
from remembrancer.remember.attributes import USER_SUBJECT, can_have_several, canonical_attribute
from remembrancer.remember.resolve import MIN_SIMILARITY, MIN_SIMILARITY_MARGIN
from remembrancer.remember.statement import FactFields
from remembrancer.types import Fact, Kind, Record, Written

CATEGORY = "correction"
MAX_COMPARED = 5


def apply_correction(
    memory: Memory, content: str, topic: Record | None, source: FactFields
) -> Written:
    """Update the topic or the memory that is corrected; without one, add a memory."""
    told = read_told(content)
    fields: FactFields = {**source, **told.to_fields(memory.profile)}
    if (category := memory.profile.categories.get(CATEGORY)) is not None:
        fields["category"] = CATEGORY
        fields["importance"] = category.importance or memory.profile.importance.default
    corrected = topic or find_corrected(memory, told, content)
    if corrected is None:
        return memory.remember(told.content, **fields)
    fields.pop("subject", None)  # The new version inherits the key of the old one.
    fields.pop("predicate", None)
    return memory.update(corrected.id, told.content, **fields)


def find_corrected(memory: Memory, told: ToldStatement, content: str) -> Record | None:
    """The memory that the person puts right; None if several or none can be meant."""
    page = memory.list(kinds=(Kind.FACT,), limit=MAX_LIMIT)
    facts = [one for one in page.items if isinstance(one, Fact) and not one.has_program_key]
    said = SaidChange((f"Correction: {content}",), told.content, USER_SUBJECT, told.predicate)
    return (
        _find_same_attribute(told, facts)
        or find_changed(said, facts)
        or _find_most_similar(memory, told.content)
    )


def _find_same_attribute(told: ToldStatement, facts: Iterable[Fact]) -> Fact | None:
    """The only memory of the same attribute of the same subject."""
    if told.predicate is None or can_have_several(told.predicate):
        return None
    slot = told.subject, canonical_attribute(told.predicate)
    found = [one for one in facts if _read_slot(one) == slot]
    return found[0] if len(found) == 1 else None


def _read_slot(fact: Fact) -> tuple[str | None, str] | None:
    if fact.subject and fact.predicate:
        return fact.subject, canonical_attribute(fact.predicate)
    told = read_told(fact.content)
    return (told.subject, canonical_attribute(told.predicate)) if told.predicate else None


def _find_most_similar(memory: Memory, content: str) -> Record | None:
    """The memory that is clearly most similar and begins with the same verb or thing."""
    kinds = (Kind.FACT, Kind.RULE)
    found = memory.recall(content, kinds=kinds, mode="semantic", limit=2)
    nearest = sorted(
        ((one.why.similarity or 0, one.memory) for one in found), key=lambda one: -one[0]
    )
    if not nearest or nearest[0][0] < MIN_SIMILARITY:
        return None
    if len(nearest) > 1 and nearest[0][0] - nearest[1][0] < MIN_SIMILARITY_MARGIN:
        return None
    best = nearest[0][1]
    return best if list_frame(best.content)[:1] == list_frame(content)[:1] else None
