"""Counts and shares of what learning kept and what it put into prompts. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import mean, median
from typing import Any

from bench.learning_run import BlockOutcome, Find, PersonOutcome, ProposalOutcome

Json = dict[str, Any]


def score_model_runs(outcomes: Sequence[PersonOutcome]) -> Json:
    """All measures in total, by style, by language and by fault."""
    return {
        "total": score(outcomes),
        "by_style": _score_by(outcomes, lambda one: one.settings.style or ""),
        "by_language": _score_by(outcomes, lambda one: one.person.language),
        "by_style_and_language": _score_by(
            outcomes, lambda one: f"{one.settings.style} {one.person.language}"
        ),
        "by_fault": _score_faults(outcomes),
    }


def score(outcomes: Sequence[PersonOutcome]) -> Json:
    """Every measure, with its counts."""
    proposals = [one for outcome in outcomes for one in outcome.proposals]
    return {
        "right": score_right([one for one in proposals if one.proposal.right]),
        "wrong": score_wrong([one for one in proposals if not one.proposal.right]),
        "updates": _score_changes(outcomes),
        "coexist": _score_pairs(outcomes),
        "valid_time": _score_dates(outcomes),
        "block": score_blocks([one for outcome in outcomes for one in outcome.blocks]),
        "targets_shown": part([one for outcome in outcomes for one in outcome.targets]),
        "claims_verified": sum(one.claims for one in outcomes),
    }


def score_right(proposals: Sequence[ProposalOutcome]) -> Json:
    """Right proposals that an active memory states, and what became of the others."""
    told = sum(one.is_told for one in proposals)
    others = Counter(_describe(one) for one in proposals if not one.is_told)
    by_op = {
        op: part([one.is_told for one in proposals if one.proposal.op == op])
        for op in sorted({one.proposal.op for one in proposals})
    }
    return {
        **share(told, len(proposals)),
        "as_proposed": sum(one.outcome == "kept" for one in proposals),
        "unconfirmed": sum(one.outcome == "unconfirmed" for one in proposals),
        "by_op": by_op,
        "not_told": dict(others.most_common()),
    }


def score_wrong(proposals: Sequence[ProposalOutcome]) -> Json:
    """Wrong proposals that became an active memory at some time, and those kept in doubt."""
    return {
        **share(sum(one.is_told for one in proposals), len(proposals)),
        "unconfirmed": sum(one.outcome == "unconfirmed" for one in proposals),
        "not_told": dict(Counter(_describe(one) for one in proposals if not one.is_told)),
    }


def score_blocks(blocks: Sequence[BlockOutcome]) -> Json:
    """What the blocks hold of what their questions need, and what else."""
    needing = [one for one in blocks if one.question.needed]
    needless = [one for one in blocks if not one.question.needed]
    trapped = [one for one in blocks if one.question.stale]
    return {
        "needed": part([not one.missing for one in needing]),
        "needed_without_turns": part([not one.missing_without_turns for one in needing]),
        "relevant_lines": _score_relevance(needing),
        "relevant_lines_of_all_blocks": _score_relevance(blocks),
        "stale": share(sum(bool(one.stale_lines) for one in blocks), len(blocks)),
        "stale_where_there_is_a_trap": part([bool(one.stale_lines) for one in trapped]),
        "empty_where_nothing_is_needed": part([not one.counted_lines for one in needless]),
        "lines": _spread([len(one.lines) for one in blocks]),
        "turn_lines": _spread([sum(line.is_turn for line in one.lines) for one in blocks]),
        "tokens": _spread([one.tokens for one in blocks]),
        "lines_where_something_is_needed": _spread([len(one.lines) for one in needing]),
        "lines_where_nothing_is_needed": _spread([len(one.lines) for one in needless]),
    }


def score_rule_extractor(outcomes: Sequence[PersonOutcome]) -> Json:
    """What is found without a model, in total and by language."""
    return {
        "total": _score_finds(outcomes),
        "by_language": {
            name: _score_finds(some)
            for name, some in group(outcomes, lambda one: one.person.language).items()
        },
    }


def _score_finds(outcomes: Sequence[PersonOutcome]) -> Json:
    finds = [one for outcome in outcomes for one in outcome.finds.values()]
    stated = [find_stated_rows(one) for one in outcomes]
    facts = [_count_facts(one, rows) for one, rows in zip(outcomes, stated, strict=True)]
    return {
        "precision": part([bool(one.states) for one in finds]),
        "recall": share(sum(map(len, stated)), sum(len(one.person.gold) for one in outcomes)),
        "recall_of_distinct_facts": share(
            sum(found for found, _ in facts), sum(known for _, known in facts)
        ),
        "block": score_blocks([one for outcome in outcomes for one in outcome.blocks]),
    }


def find_stated_rows(outcome: PersonOutcome) -> set[str]:
    """The rows that some find states."""
    return {row for one in outcome.finds.values() for row in one.states}


def list_unknown_finds(outcome: PersonOutcome) -> list[Find]:
    """The finds that state no row."""
    return [one for one in outcome.finds.values() if not one.states]


def _count_facts(outcome: PersonOutcome, stated: set[str]) -> tuple[int, int]:
    """How many facts are stated in some version, and how many there are."""
    gold = outcome.person.gold

    def first_version(row: str) -> str:
        replaced = gold[row].replaces
        return row if replaced is None else first_version(replaced)

    return len({first_version(one) for one in stated}), len({first_version(one) for one in gold})


def _score_changes(outcomes: Sequence[PersonOutcome]) -> Json:
    changes = [one for outcome in outcomes for one in outcome.changes]
    return {
        **part([one.is_right for one in changes]),
        "new_missing": sum(not one.is_new_current for one in changes),
        "old_still_current": sum(one.still_current is not None for one in changes),
    }


def _score_pairs(outcomes: Sequence[PersonOutcome]) -> Json:
    pairs = [one for outcome in outcomes for one in outcome.pairs]
    return {
        **part([not one.missing for one in pairs]),
        "lost": sum(bool(one.lost) for one in pairs),
        "never_kept": sum(bool({*one.missing} - {*one.lost}) for one in pairs),
    }


def _score_dates(outcomes: Sequence[PersonOutcome]) -> Json:
    changes = [one for outcome in outcomes for one in outcome.changes]
    starts = [one.is_start_right for one in changes if one.is_start_right is not None]
    ends = [one.is_end_right for one in changes if one.is_end_right is not None]
    return {"new_from": part(starts), "old_until": part(ends)}


def _score_relevance(blocks: Sequence[BlockOutcome]) -> Json:
    counted = [one for one in blocks if one.counted_lines]
    shares = [len(one.relevant_lines) / len(one.counted_lines) for one in counted]
    return {
        **share(
            sum(len(one.relevant_lines) for one in counted),
            sum(len(one.counted_lines) for one in counted),
        ),
        "mean_of_blocks": 100 * mean(shares) if shares else None,
        "blocks": len(counted),
    }


def _score_by(outcomes: Sequence[PersonOutcome], key: Callable[[PersonOutcome], str]) -> Json:
    return {name: score(some) for name, some in group(outcomes, key).items()}


def _score_faults(outcomes: Sequence[PersonOutcome]) -> Json:
    wrong = [one for some in outcomes for one in some.proposals if not one.proposal.right]
    faults = sorted({one.proposal.fault or "" for one in wrong})
    return {
        fault: score_wrong([one for one in wrong if one.proposal.fault == fault])
        for fault in faults
    }


def group(
    outcomes: Iterable[PersonOutcome], key: Callable[[PersonOutcome], str]
) -> Mapping[str, list[PersonOutcome]]:
    """The outcomes by a name, in the order in which the names come."""
    found: dict[str, list[PersonOutcome]] = {}
    for one in outcomes:
        found.setdefault(key(one), []).append(one)
    return found


def share(count: int, of: int) -> Json:
    """A count, what it is a part of, and the percentage."""
    return {"count": count, "of": of, "share": 100 * count / of if of else None}


def part(held: Sequence[bool]) -> Json:
    return share(sum(held), len(held))


def _spread(values: Sequence[int]) -> Json:
    if not values:
        return {"median": None, "mean": None, "max": None}
    return {"median": median(values), "mean": mean(values), "max": max(values)}


def _describe(one: ProposalOutcome) -> str:
    is_reason = one.outcome == "rejected" and one.reason
    return f"{one.outcome}: {one.reason}" if is_reason else one.outcome
