"""Every failure of a run as text, to be read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bench.learning_data import Person
from bench.learning_run import BlockOutcome, PersonOutcome, ProposalOutcome
from bench.learning_scores import find_stated_rows, list_unknown_finds


def describe(name: str, outcomes: Sequence[PersonOutcome]) -> str:
    """All that went wrong in some runs."""
    lines = [f"# {name}", ""]
    for one in outcomes:
        lines += [f"## {one.person.id} ({one.person.language}), {one.settings.style or 'no model'}"]
        lines += ["", *_describe_run(one), ""]
    return "\n".join(lines)


def _describe_run(outcome: PersonOutcome) -> Iterator[str]:
    person = outcome.person
    if outcome.settings.style is None:
        yield from _describe_finds(outcome)
    for one in outcome.proposals:
        if one.proposal.right is not one.is_told or one.outcome == "kept in other words":
            yield from _describe_proposal(one)
    for change in outcome.changes:
        if not change.is_right:
            new = "" if change.is_new_current else " NEW NOT TOLD"
            old = f" OLD STILL CURRENT: {change.still_current}" if change.still_current else ""
            yield f"CHANGE {change.replaced} → {change.row}:{new}{old}"
        if False in (change.is_start_right, change.is_end_right):
            yield f"VALID TIME {change.replaced} → {change.row}: {change.dates}"
    for pair in outcome.pairs:
        if pair.missing:
            told = ", ".join(f"{one}: {person.gold[one].content}" for one in pair.missing)
            yield f"COEXIST {pair.rows}: missing {told}; once current {pair.lost}"
    for block in outcome.blocks:
        yield from _describe_block(block, person)


def _describe_finds(outcome: PersonOutcome) -> Iterator[str]:
    for one in list_unknown_finds(outcome):
        yield f"FOUND, NO ROW ({one.conversation}): {one.content}"
    stated = find_stated_rows(outcome)
    for row in outcome.person.gold.values():
        if row.id not in stated:
            yield f"NOT FOUND {row.id} ({row.conversation}): {row.content}"


def _describe_proposal(one: ProposalOutcome) -> Iterator[str]:
    proposal = one.proposal
    kind = "RIGHT" if proposal.right else f"WRONG ({proposal.fault})"
    reason = f" ({one.reason})" if one.reason else ""
    yield f"{kind} {proposal.id}, {proposal.op}: {one.outcome}{reason}"
    yield f"    content: {proposal.content}"
    yield f"    about: {proposal.about}; key: {proposal.subject} / {proposal.predicate}"
    for cited in proposal.evidence:
        yield f"    quote: [{one.conversation} {cited.turn}] {cited.quote}"


def _describe_block(block: BlockOutcome, person: Person) -> Iterator[str]:
    question = block.question
    yield f"BLOCK {question.id}: {question.text}"
    yield f"    {len(block.lines)} lines, {block.tokens} tokens"
    for row in block.missing:
        yield f"    MISSING {row}: {person.gold[row].content}"
    for line in block.lines:
        yield f"    {_name_line(block, line.text)}{_name_rows(line.states)} {line.text}"


def _name_line(block: BlockOutcome, text: str) -> str:
    if text in {one.text for one in block.stale_lines}:
        return "STALE"
    if text in {one.text for one in block.irrelevant_lines}:
        return "irrelevant"
    return "relevant" if text in {one.text for one in block.relevant_lines} else "instruction"


def _name_rows(rows: frozenset[str]) -> str:
    return f" [{', '.join(sorted(rows))}]" if rows else ""
