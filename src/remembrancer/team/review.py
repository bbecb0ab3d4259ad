"""The desk at which a team's memory is looked after: numbers, the queue, and what was decided.

Whoever sits here sees how many said something, never who. Looking needs the capability
`users:view`, changing anything `users:edit`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from remembrancer.errors import Conflict, InvalidInput, NotAllowed, NotFound
from remembrancer.guard.reasons import explain_rules
from remembrancer.guard.redaction import validate_text
from remembrancer.paging import decode_cursor, encode_cursor, validate_limit
from remembrancer.store.contract import Embedding
from remembrancer.store.team_contract import TeamFilter, TeamWriter
from remembrancer.team.confidence import is_contradiction, team_confidence
from remembrancer.team.service import (
    MAX_TEAM_FACT_CHARS,
    find_broken_rules,
    mark_contradictions,
    reassess_fact,
)
from remembrancer.team.settings import TeamSettings
from remembrancer.types import (
    Action,
    Json,
    Owner,
    Page,
    Principal,
    TeamEntry,
    TeamFact,
    TeamKind,
    TeamOrigin,
    TeamStatus,
    Tenant,
    parse_enum,
    validate_name,
)

if TYPE_CHECKING:
    from remembrancer.call import Services

VIEW_CAPABILITY, EDIT_CAPABILITY = "users:view", "users:edit"
STATS_WEEKS = 12
MAX_MOST_RECALLED = 5


@dataclass(frozen=True, slots=True)
class TeamStats:
    """How a team's memory is doing, and by which settings.

    `said` counts what people said, which is more than there are facts when they said the same;
    `weeks` counts it for each of the last weeks, oldest first.
    """

    by_status: dict[str, int]
    by_kind: dict[str, int]
    by_origin: dict[str, int]
    contested: int
    said: int
    weeks: tuple[int, ...]
    most_recalled: tuple[TeamFact, ...]
    switches: TeamSettings

    @property
    def merged(self) -> float:
        """Which share of all that was said confirmed what someone else had said."""
        return 1 - sum(self.by_status.values()) / self.said if self.said else 0.0


@dataclass(frozen=True, slots=True)
class PersonCounts:
    """How much there is of someone: rows by table, and keys."""

    user: str
    rows: Mapping[str, int]
    keys: int


class Review:
    """A team's memory for whoever may look after it."""

    def __init__(self, services: Services, principal: Principal) -> None:
        if not {VIEW_CAPABILITY, EDIT_CAPABILITY} & principal.capabilities:
            raise NotAllowed(
                f"Looking after the team's memory needs the capability {VIEW_CAPABILITY}."
            )
        self._services = services
        self._principal = principal
        self._tenant = Tenant(principal.owner.tenant)

    def stats(self) -> TeamStats:
        """Counts by status, kind and origin; no count leads to a person."""
        sums: list[dict[str, int]] = [{}, {}, {}]
        with self._services.store.open_team_writer(self._tenant) as desk:
            counts = desk.count()
            contested = desk.count_contested()
            said = desk.count_contributions()
            weeks = desk.count_contributions_by_week(self._services.clock.now(), STATS_WEEKS)
            most_recalled = desk.list_most_recalled(MAX_MOST_RECALLED)
        for sort, count in counts.items():
            for kind, name in zip(sums, sort, strict=True):
                kind[name] = kind.get(name, 0) + count
        return TeamStats(
            by_status=sums[0],
            by_kind=sums[1],
            by_origin=sums[2],
            contested=contested,
            said=said,
            weeks=tuple(weeks),
            most_recalled=tuple(most_recalled),
            switches=self.settings(),
        )

    def get(self, fact_id: str) -> TeamEntry:
        """One fact, whatever became of it."""
        with self._services.store.open_team_writer(self._tenant) as desk:
            fact = _get_fact(desk, fact_id)
            return TeamEntry(
                fact, desk.count_contributors(fact.id), tuple(desk.list_conflicts(fact.id))
            )

    def list(
        self,
        *,
        status: TeamStatus | str | None = None,
        kind: TeamKind | str | None = None,
        origin: TeamOrigin | str | None = None,
        words: str | None = None,
        single: bool = False,
        contested: bool = False,
        limit: int = 50,
        cursor: str | None = None,
    ) -> Page[TeamEntry]:
        """Team facts, newest first; `single` are those that one person alone has said."""
        limit = validate_limit(limit)
        wanted = TeamFilter(
            statuses=(parse_enum(TeamStatus, status, "status"),) if status else (),
            kinds=(parse_enum(TeamKind, kind, "kind"),) if kind else (),
            origins=(parse_enum(TeamOrigin, origin, "origin"),) if origin else (),
            words=validate_text(words, "The words", MAX_TEAM_FACT_CHARS) if words else None,
            single=single,
            contested=contested,
        )
        with self._services.store.open_team_writer(self._tenant) as desk:
            found = desk.list_entries(wanted, limit + 1, decode_cursor(cursor))
        last = found[limit - 1].fact if len(found) > limit else None
        return Page(
            tuple(found[:limit]), encode_cursor(last.recorded_at, last.id) if last else None
        )

    def queue(self, *, single: bool = False, limit: int = 50) -> Page[TeamEntry]:
        """What waits for a decision."""
        return self.list(status=TeamStatus.PENDING, single=single, limit=limit)

    def approve(self, *fact_ids: str) -> tuple[TeamFact, ...]:
        """Let the team be told; all of them, or none if one is not there."""
        return self._decide(fact_ids, TeamStatus.APPROVED)

    def reject(self, *fact_ids: str) -> tuple[TeamFact, ...]:
        """Never tell it; it stays, so that it is not proposed again."""
        return self._decide(fact_ids, TeamStatus.REJECTED)

    def reopen(self, *fact_ids: str) -> tuple[TeamFact, ...]:
        """Put a decision back into the queue."""
        return self._decide(fact_ids, TeamStatus.PENDING)

    def edit(self, fact_id: str, content: str) -> TeamFact:
        """Give a fact other words, which must pass the gate as any."""
        self.require_edit()
        content = " ".join(validate_text(content, "The fact", MAX_TEAM_FACT_CHARS).split())
        if rules := find_broken_rules(content):
            raise InvalidInput(f"It must not be shared. {' '.join(explain_rules(rules))}")
        vector = self._services.embedder.embed([content])[0]
        embedding = Embedding(self._services.embedder.model, vector)
        switches = self.settings()
        with self._services.store.open_team_writer(self._tenant) as desk:
            old = _get_fact(desk, fact_id)
            _refuse_duplicate(desk, old, content, embedding, switches.dedup_threshold)
            before = desk.list_conflicts(fact_id)
            desk.reword(fact_id, content, embedding)
            desk.drop_conflicts(fact_id)
            mark_contradictions(desk, _get_fact(desk, fact_id), embedding)
            self._reassess(desk, [fact_id, *before], switches)
            return _get_fact(desk, fact_id)

    def _reassess(
        self, writer: TeamWriter, fact_ids: Sequence[str], settings: TeamSettings
    ) -> None:
        now = self._services.clock.now()
        for one in dict.fromkeys(fact_ids):
            if writer.get_fact(one) is not None:
                reassess_fact(writer, one, now, settings)

    def set_importance(self, fact_id: str, importance: float) -> TeamFact:
        """Say how much a fact matters, from 1 to 5."""
        self.require_edit()
        if not 1 <= importance <= 5:
            raise InvalidInput("The importance of a team fact is from 1 to 5.")
        with self._services.store.open_team_writer(self._tenant) as desk:
            _get_fact(desk, fact_id)
            desk.change(fact_id, {"importance": float(importance)})
            return _get_fact(desk, fact_id)

    def delete(self, *fact_ids: str) -> int:
        """Destroy facts, with everything that was known about them."""
        self.require_edit()
        ids, switches = list(dict.fromkeys(fact_ids)), self.settings()
        with self._services.store.open_team_writer(self._tenant) as desk:
            rivals = [
                rival for one in ids for rival in desk.list_conflicts(_get_fact(desk, one).id)
            ]
            desk.remove(ids)
            self._reassess(desk, rivals, switches)
        return len(ids)

    def people(self) -> tuple[str, ...]:
        """Who of this tenant has a memory here, by name."""
        everyone = self._services.store.system.list_owners()
        return tuple(one.user for one in everyone if one.tenant == self._tenant.name)

    def person(self, user: str) -> PersonCounts:
        """How much there is of someone, in numbers alone; they see in their activity who looked.

        Not what they told the team: with few facts, a number is a name.
        """
        from remembrancer.store.row_counts import count_keys, count_rows

        owner = Owner(self._tenant.name, user)
        looking = replace(self._principal, owner=owner, agent=None)
        call = self._services.build_call(looking)
        note = f"by {self._principal.owner.user}, in numbers"
        with self._services.store.open_writer(owner, create=False) as writer:
            writer.apply(call.new_event(Action.VIEWED, call.now(), note=note), [])
        parts = self._services
        return PersonCounts(user, count_rows(parts.store, owner), count_keys(parts.store, owner))

    def settings(self) -> TeamSettings:
        """The live settings."""
        profile = self._services.profile_of()
        return self._services.live_settings.get(self._tenant, profile)

    def change_settings(self, **changes: Json) -> TeamSettings:
        """Change live settings; every process goes by them within a second."""
        self.require_edit()
        profile = self._services.profile_of()
        return self._services.live_settings.change(self._tenant, profile, changes)

    def reset_settings(self, *names: str) -> TeamSettings:
        """Put switches back to what the profile says; `team_recall.web` is one surface alone."""
        self.require_edit()
        profile = self._services.profile_of()
        return self._services.live_settings.reset(self._tenant, profile, names)

    def _decide(self, fact_ids: Sequence[str], status: TeamStatus) -> tuple[TeamFact, ...]:
        self.require_edit()
        now, switches = self._services.clock.now(), self.settings()
        with self._services.store.open_team_writer(self._tenant) as desk:
            for one in fact_ids:
                _get_fact(desk, one)
            rivals = [rival for one in fact_ids for rival in desk.list_conflicts(one)]
            for one in fact_ids:
                decided = None if status is TeamStatus.PENDING else now
                desk.change(one, {"status": status, "decided_at": decided})
                voices, against = desk.count_contributors(one), len(desk.list_conflicts(one))
                approved = status is TeamStatus.APPROVED
                confidence = team_confidence(voices, against, approved=approved)
                desk.change(one, {"confidence": confidence})
            self._reassess(desk, [one for one in rivals if one not in fact_ids], switches)
            return tuple(_get_fact(desk, one) for one in fact_ids)

    def require_edit(self) -> None:
        """Refuse who may only look."""
        if EDIT_CAPABILITY not in self._principal.capabilities:
            raise NotAllowed(f"Changing the team's memory needs the capability {EDIT_CAPABILITY}.")


def _refuse_duplicate(
    writer: TeamWriter, old: TeamFact, content: str, embedding: Embedding, threshold: float
) -> None:
    for one in writer.load_embedded_facts(
        embedding.model, (TeamStatus.PENDING, TeamStatus.APPROVED)
    ):
        alike = float(one.vector @ embedding.vector) >= threshold
        if one.fact.id != old.id and alike and not is_contradiction(one.fact.content, content):
            raise Conflict(f"The team knows that already: {one.fact.id}.")


def _get_fact(writer: TeamWriter, fact_id: str) -> TeamFact:
    fact = writer.get_fact(validate_name(fact_id, "team fact"))
    if fact is None:
        raise NotFound(f"There is no team fact {fact_id}.")
    return fact
