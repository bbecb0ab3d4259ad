"""Links a fact to those in other scopes that hold another value of the same attribute."""

from __future__ import annotations

from remembrancer.call import Call
from remembrancer.remember.attributes import can_have_several, name_slot
from remembrancer.remember.likeness import adds_nothing, can_be_the_same
from remembrancer.store.contract import AddLink, Reader
from remembrancer.types import Fact, Link, Record, Relation, Status


def plan_conflict_links(
    call: Call, reader: Reader, new: Record, *, old: Record | None = None
) -> list[AddLink]:
    """The links to what a new fact contradicts, as far as the caller can see it.

    Those of `old`, which it supersedes, are its own already.
    """
    if not isinstance(new, Fact) or not _has_one_value(new) or new.status is not Status.ACTIVE:
        return []
    if call.profile.scopes.visibility != "shared":
        return []
    slot = _slot(new)
    keys = reader.list_fact_keys(new.scope, elsewhere=True)
    rivals = [reader.active_fact(*key) for key in keys if name_slot(*key[1:]) == slot]
    known = {end for one in _list_contradictions(reader, old) for end in (one.source, one.target)}
    known |= {old.id} if old is not None else set()
    return [
        AddLink(Link(new.id, rival.id, Relation.CONTRADICTS, new.recorded_at))
        for rival in rivals
        if rival is not None and rival.status is Status.ACTIVE and call.can_see(rival)
        if rival.id not in known and not _agree(new, rival)
    ]


def is_settled(reader: Reader, link: Link, old: Record, new: Record) -> bool:
    """True for a contradiction across scopes that a new version of one side ends."""
    other = reader.get(link.target if link.source == old.id else link.source)
    if link.relation is not Relation.CONTRADICTS or not isinstance(other, Fact):
        return False
    if not isinstance(new, Fact) or not _has_one_value(new) or not _has_one_value(other):
        return False
    return other.scope != new.scope and _slot(other) == _slot(new) and _agree(new, other)


def list_conflicts(call: Call, reader: Reader, record: Record) -> tuple[Record, ...]:
    """The active memories that contradict one, as far as the caller can see them."""
    links = _list_contradictions(reader, record) if isinstance(record, Fact) else []
    ends = {end for one in links for end in (one.source, one.target)} - {record.id}
    return tuple(
        one
        for one in reader.load(ends).values()
        if one.status is Status.ACTIVE and call.can_see(one)
    )


def _list_contradictions(reader: Reader, record: Record | None) -> list[Link]:
    if record is None:
        return []
    return [one for one in reader.list_links(record.id) if one.relation is Relation.CONTRADICTS]


def _has_one_value(fact: Fact) -> bool:
    if fact.predicate is None or fact.subject is None or fact.has_program_key:
        return False
    return not can_have_several(fact.predicate)


def _slot(fact: Fact) -> tuple[str, str]:
    return name_slot(fact.subject or "", fact.predicate or "")


def _agree(one: Fact, other: Fact) -> bool:
    """True if one says nothing that the other does not; a name can stand anywhere."""
    mine, theirs = one.content.casefold(), other.content.casefold()
    repeats = adds_nothing(mine, theirs) or adds_nothing(theirs, mine)
    return repeats and can_be_the_same(mine, theirs)
