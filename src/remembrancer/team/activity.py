"""Counts what becomes of proposals to the team, by origin and outcome, without their content."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from remembrancer.types import TeamOrigin

if TYPE_CHECKING:
    from remembrancer.store.team_contract import TeamWriter

RUN = "run"
"""Counted once for each set of conversation turns that a model reads for the team."""

REFUSED = "refused"
MERGED = ("corroborated", "approved")
"""The outcomes of a proposal that another person had made before."""

ADDED = ("pending", *MERGED)

RULE_PREFIX = "rule:"


@dataclass(frozen=True, slots=True)
class TeamActivity:
    """What proposals of one origin led to; `by_outcome` has the outcomes of `ProposalOutcome`.

    `by_rule` counts the rules that refused them; a proposal can break several.
    """

    runs: int = 0
    by_outcome: Mapping[str, int] = field(default_factory=dict)
    by_rule: Mapping[str, int] = field(default_factory=dict)

    @property
    def proposed(self) -> int:
        return sum(self.by_outcome.values())

    @property
    def refused(self) -> int:
        return self.by_outcome.get(REFUSED, 0)

    @property
    def merge_rate(self) -> float:
        """The share of accepted proposals that another person had made before."""
        added = sum(self.by_outcome.get(one, 0) for one in ADDED)
        return sum(self.by_outcome.get(one, 0) for one in MERGED) / added if added else 0.0


def record_outcome(
    writer: TeamWriter, at: datetime, origin: TeamOrigin, outcome: str, rules: Iterable[str] = ()
) -> None:
    """Count a run of the extractor, or a proposal with the rules that refused it."""
    for one in (outcome, *(RULE_PREFIX + rule for rule in rules)):
        writer.count_activity(at.date().isoformat(), origin, one)


def build_activity(counts: Mapping[tuple[TeamOrigin, str], int]) -> dict[TeamOrigin, TeamActivity]:
    """The activity of each origin, and of none that proposed nothing."""
    found: dict[TeamOrigin, TeamActivity] = {}
    for origin in TeamOrigin:
        own = {outcome: number for (one, outcome), number in counts.items() if one is origin}
        if own:
            runs = own.pop(RUN, 0)
            rules = {one: number for one, number in own.items() if one.startswith(RULE_PREFIX)}
            found[origin] = TeamActivity(
                runs,
                {one: number for one, number in own.items() if one not in rules},
                {one.removeprefix(RULE_PREFIX): number for one, number in rules.items()},
            )
    return found
