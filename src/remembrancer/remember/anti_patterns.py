"""Keeps a rule that did harm from being stored again, while its warning is in force."""

from __future__ import annotations

from remembrancer.call import Call
from remembrancer.errors import Conflict
from remembrancer.remember.likeness import can_be_the_same
from remembrancer.remember.rule_trust import format_warning
from remembrancer.search.terms import fingerprint
from remembrancer.store.contract import Embedding, Filter, Reader
from remembrancer.types import GLOBAL_SCOPE, Kind, Maturity, Record, Rule, Status

MAX_WARNINGS = 1000


def find_warning(call: Call, reader: Reader, new: Rule, embedding: Embedding) -> Rule | None:
    """The warning that a rule has become which says the same as the new one."""
    warnings = _list_warnings(call, reader, new)
    originals = reader.load(one.supersedes for one in warnings if one.supersedes)
    hits = reader.compute_similarities(embedding, list(originals)) if originals else []
    alike = {hit.id for hit in hits if call.profile.dedup.is_met_by(hit.score)}
    for warning in warnings:
        original = originals.get(warning.supersedes or "")
        if _quotes(warning, new) or (original is not None and _says_same(new, original, alike)):
            return warning
    return None


def refuse_warned(call: Call, reader: Reader, new: Record, embedding: Embedding) -> None:
    """Raise Conflict for a rule that would come back although a warning stands against it."""
    warning = find_warning(call, reader, new, embedding) if isinstance(new, Rule) else None
    if warning is not None:
        raise Conflict(warning.explain_refusal())


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


def _quotes(warning: Rule, new: Rule) -> bool:
    """True for a warning against these words, also if its rule was not imported with it."""
    return warning.content.casefold().startswith(format_warning(new.content, ()).casefold())


def _says_same(new: Rule, original: Record, alike: set[str]) -> bool:
    if fingerprint(new.content) == fingerprint(original.content):
        return True
    return original.id in alike and can_be_the_same(new.content, original.content)
