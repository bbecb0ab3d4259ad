"""Turns rules that did too much harm into warnings that supersede them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from remembrancer.call import Call
from remembrancer.ids import new_id
from remembrancer.remember.anti_pattern import format_warning
from remembrancer.remember.embedding import TextVectors, write_with_vectors
from remembrancer.remember.pipeline import plan_supersede
from remembrancer.remember.rule_trust import COUNTS, MATURITY_ORDER, is_misleading
from remembrancer.search.terms import fingerprint
from remembrancer.store.contract import Embedding, Filter, Patch, Reader, Visibility, Write, Writer
from remembrancer.store.nearest import iter_records
from remembrancer.types import (
    Action,
    Kind,
    Maturity,
    Permanence,
    Rule,
    RuleApplication,
    Status,
)

INVERSION_NOTE = "turned into a warning"


def build_warning(call: Call, rule: Rule, uses: Sequence[RuleApplication]) -> Rule:
    """The warning that supersedes a harmful rule, with its record. It lasts."""
    now = call.now()
    return replace(
        rule,
        id=new_id("rule", now),
        content=format_warning(rule.content, [one.reason for one in uses if one.reason]),
        maturity=Maturity.ANTI_PATTERN,
        permanence=Permanence.PERMANENT,
        confidence=1.0,
        supersedes=rule.id,
        valid_from=now,
        recorded_at=now,
        confirmed_at=now,
        valid_until=None,
        expires_at=None,
        ttl_days=None,
    )


def list_uses(reader: Reader, rule: Rule) -> list[RuleApplication]:
    """The uses of a rule, with those of its earlier versions in the same words."""
    ids, said = [rule.id], fingerprint(rule.content)
    earlier = reader.get(rule.supersedes) if rule.supersedes else None
    while isinstance(earlier, Rule) and fingerprint(earlier.content) == said:
        ids.append(earlier.id)
        earlier = reader.get(earlier.supersedes) if earlier.supersedes else None
    return list(reader.list_applications(ids))


def plan_inversion(
    call: Call, reader: Reader, rule: Rule, warning: Rule, vector: Embedding
) -> list[Write]:
    """The writes that supersede the rule by the warning; the rule keeps its final counts."""
    counts = {name: getattr(rule, name) for name in COUNTS}
    return [
        Patch(one.id, {**one.values, **counts})
        if isinstance(one, Patch) and one.id == rule.id
        else one
        for one in plan_supersede(call, reader, rule, warning, vector)
    ]


def invert_misleading_rules(call: Call, visible: Visibility) -> int:
    """Turn the rules into warnings whose record demands it by the profile in force.

    A rule whose inversion was undone is left alone until its next use.
    """
    trusted = Filter(
        now=call.now(),
        kinds=(Kind.RULE,),
        visible=visible,
        statuses=(Status.ACTIVE,),
        maturities=MATURITY_ORDER,
    )
    with call.store.open_reader(call.owner) as reader:
        found = [one.id for one in iter_records(reader, trusted) if _must_invert(call, reader, one)]
    return sum(_invert(call, memory_id) for memory_id in found)


def _must_invert(call: Call, reader: Reader, record: object) -> bool:
    if not isinstance(record, Rule) or record.status is not Status.ACTIVE:
        return False
    if not is_misleading(record, call.profile.rules):
        return False
    events = reader.list_events(memory_ids=[record.id], actions=(Action.INVERTED,), limit=1)
    return not events or record.applied_at is None or events[0].at < record.applied_at


def _invert(call: Call, memory_id: str) -> bool:
    """Turn one rule into a warning, unless it has changed meanwhile."""

    def write(writer: Writer, vectors: TextVectors) -> bool:
        rule = writer.get(memory_id)
        if not isinstance(rule, Rule) or not _must_invert(call, writer, rule):
            return False
        warning = build_warning(call, rule, list_uses(writer, rule))
        writes = plan_inversion(call, writer, rule, warning, vectors.get(warning.search_text))
        event = call.new_event(Action.INVERTED, warning.recorded_at, note=INVERSION_NOTE)
        writer.apply(event, writes)
        return True

    return write_with_vectors(call, TextVectors(call), write)
