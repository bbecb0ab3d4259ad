"""Plans to merge memories that say the same; no model is asked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from remembrancer.agreement.verdict import Agreement, judge
from remembrancer.audit.findings import Flaw
from remembrancer.audit.report import audit
from remembrancer.call import Call
from remembrancer.learn.consolidation.plan import ConsolidationPlan, MergeStep
from remembrancer.remember.trust import PERSONAL, trust_tier
from remembrancer.store.contract import Filter
from remembrancer.store.nearest import iter_records
from remembrancer.types import Fact, Kind, Record, Source

MAX_COMPARED_MEMORIES = 10_000

Repeated = tuple[Record, Record]
"""A memory that is kept, and one that says the same."""


def plan_merges(call: Call) -> ConsolidationPlan | None:
    """A plan to merge duplicates, and paraphrases if the profile says so; None if there are none.

    The comparison is quadratic, so it is skipped for very many memories.
    """
    facts = Filter(now=call.now(), kinds=(Kind.FACT, Kind.RULE), visible=call.resolve_visibility())
    with call.store.open_reader(call.owner) as reader:
        if reader.count(facts) > MAX_COMPARED_MEMORIES:
            return None
    pairs = [*_find_duplicates(call)]
    if call.profile.dedup.paraphrases:
        paraphrases = [*_find_paraphrases(call, {other.id for _, other in pairs})]
        kept_instead = {other.id: first for first, other in paraphrases}
        pairs = [(kept_instead.get(first.id, first), other) for first, other in pairs]
        pairs += paraphrases
    kept = {one.id: one for one, _ in pairs}
    steps = tuple(
        MergeStep(
            kept=id,
            content=one.content,
            dropped={other.id: other.content for first, other in pairs if first.id == id},
        )
        for id, one in kept.items()
    )
    return ConsolidationPlan(scope="", made_at=call.now(), steps=steps) if steps else None


def _find_duplicates(call: Call) -> Iterator[Repeated]:
    """Yield what an audit finds, except what differs in its words, as "morning" and "evening"."""
    found = audit(call, [Flaw.DUPLICATE]).findings
    with call.store.open_reader(call.owner) as reader:
        for finding in found:
            records = reader.load(finding.ids)
            first, *others = _put_keyed_first([records[id] for id in finding.ids])
            for other in others:
                if judge(first.content, other.content) is not Agreement.CONTRADICTS:
                    yield first, other


def _put_keyed_first(records: Sequence[Record]) -> Sequence[Record]:
    """The records, so that no key is lost but for the person's own word."""
    first = records[0]
    if not isinstance(first, Fact) or first.key is not None or trust_tier(first) == PERSONAL:
        return records
    keyed = next((one for one in records if isinstance(one, Fact) and one.key is not None), None)
    if keyed is None or (keyed.tainted and not first.tainted):
        return records
    return [keyed, *(one for one in records if one.id != keyed.id)]


def _find_paraphrases(call: Call, dropped: set[str]) -> Iterator[Repeated]:
    from remembrancer.learn.consolidation.paraphrases import find_paraphrases  # It loads numpy.

    in_force = Filter(now=call.now(), kinds=(Kind.FACT,), visible=call.resolve_visibility())
    by_scope: dict[str, list[Fact]] = {}
    with call.store.open_reader(call.owner) as reader:
        for one in iter_records(reader, in_force):
            if isinstance(one, Fact) and one.id not in dropped:
                by_scope.setdefault(one.scope, []).append(one)
        ids = [one.id for some in by_scope.values() for one in some]
        vectors = reader.load_vectors(call.embedder.model, ids)
    for some in by_scope.values():
        for first, *others in find_paraphrases(sorted(some, key=_trust_sort_key), vectors):
            yield from ((first, other) for other in others)


def _trust_sort_key(fact: Fact) -> tuple[bool, bool, float, float, int, str]:
    """Sort by trust, then permanence, then use; of equals, the oldest fact comes first.

    A fact with a key comes before one without.
    """
    is_told = fact.source is Source.EXPLICIT
    decay = fact.permanence.decay_per_day
    return not is_told, fact.key is None, -fact.confidence, decay, -fact.recall_count, fact.id
