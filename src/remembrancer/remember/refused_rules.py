"""Keeps rules from being stored again that did harm or were disabled."""

from __future__ import annotations

from collections.abc import Sequence

from remembrancer.call import Call
from remembrancer.errors import Conflict
from remembrancer.remember.likeness import can_be_the_same
from remembrancer.remember.rule_trust import format_warning
from remembrancer.search.terms import fingerprint
from remembrancer.store.contract import Embedding, Filter, Reader, Visibility
from remembrancer.types import GLOBAL_SCOPE, Kind, Maturity, Record, Rule, Status

MAX_WARNINGS = 1000


def find_objection(call: Call, reader: Reader, new: Rule, embedding: Embedding) -> Rule | None:
    """The disabled rule with the same words, or the warning against what the new rule says."""
    disabled = Filter(
        now=new.recorded_at,
        kinds=(Kind.RULE,),
        visible=Visibility(scopes=(new.scope,)),
        statuses=(Status.DISABLED,),
        fingerprint=fingerprint(new.content),
    )
    for twin in reader.find(disabled, 1):
        assert isinstance(twin, Rule)
        return twin
    return _find_warning(call, reader, new, embedding)


def _find_warning(call: Call, reader: Reader, new: Rule, embedding: Embedding) -> Rule | None:
    """The warning that a rule has become which says the same as the new one."""
    warnings = _list_warnings(call, reader, new)
    originals = _load_originals(reader, warnings)
    ids = [one.id for one in originals.values()]
    hits = reader.compute_similarities(embedding, ids) if ids else []
    alike = {hit.id for hit in hits if call.profile.dedup.is_met_by(hit.score)}
    for warning in warnings:
        original = originals.get(warning.id)
        if _quotes(warning, new) or (original is not None and _says_same(new, original, alike)):
            return warning
    return None


def check_rule(call: Call, reader: Reader, new: Record, embedding: Embedding) -> None:
    """Raise Conflict for a rule that would come back although it was disabled or did harm."""
    objection = find_objection(call, reader, new, embedding) if isinstance(new, Rule) else None
    if objection is not None:
        raise Conflict(objection.explain_refusal())


def _list_warnings(call: Call, reader: Reader, new: Rule) -> list[Rule]:
    """The warnings for whoever follows the new rule."""
    in_force = Filter(
        now=new.recorded_at,
        kinds=(Kind.RULE,),
        visible=call.resolve_visibility(),
        statuses=(Status.ACTIVE,),
        maturities=(Maturity.ANTI_PATTERN,),
    )
    found = [one for one in reader.find(in_force, MAX_WARNINGS) if isinstance(one, Rule)]
    if new.scope == GLOBAL_SCOPE:
        return found
    return [one for one in found if one.scope in (GLOBAL_SCOPE, new.scope)]


def _load_originals(reader: Reader, warnings: Sequence[Rule]) -> dict[str, Record]:
    """The rule that each warning is about, by the id of the warning, whose words may be edited."""
    originals: dict[str, Record] = {}
    open_ends = {one.id: one.supersedes for one in warnings if one.supersedes}
    while open_ends:
        found = reader.load(set(open_ends.values()))
        earlier = {id: found[end] for id, end in open_ends.items() if end in found}
        originals |= earlier
        open_ends = {
            id: one.supersedes
            for id, one in earlier.items()
            if isinstance(one, Rule) and one.is_warning and one.supersedes
        }
    return originals


def _quotes(warning: Rule, new: Rule) -> bool:
    """True for a warning against these words, also if its rule was not imported with it."""
    return warning.content.casefold().startswith(format_warning(new.content, ()).casefold())


def _says_same(new: Rule, original: Record, alike: set[str]) -> bool:
    if fingerprint(new.content) == fingerprint(original.content):
        return True
    return original.id in alike and can_be_the_same(new.content, original.content)
