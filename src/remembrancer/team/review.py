"""The desk at which a team's memory is looked after: numbers, the queue, and what was decided.

Whoever sits here sees how many said something, never who. Looking needs the capability
`users:view`, changing anything `users:edit`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from remembrancer.errors import Conflict, InvalidInput, NotAllowed, NotFound
from remembrancer.guard.reasons import reasons
from remembrancer.guard.redaction import checked_text
from remembrancer.paging import checked_limit, place_of, position_of
from remembrancer.store.contract import Embedding
from remembrancer.store.team_contract import TeamDesk, TeamFilter
from remembrancer.team.confidence import confidence_of, contradict
from remembrancer.team.service import LONGEST, broken_rules, contest, settle
from remembrancer.team.settings import Switches
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
    checked_name,
    member,
)

if TYPE_CHECKING:
    from remembrancer.call import Parts

VIEW, EDIT = "users:view", "users:edit"
WEEKS = 12
MOST = 5


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
    switches: Switches

    @property
    def merged(self) -> float:
        """Which share of all that was said confirmed what someone else had said."""
        return 1 - sum(self.by_status.values()) / self.said if self.said else 0.0


@dataclass(frozen=True, slots=True)
class Person:
    """How much there is of someone: rows by table, and keys."""

    user: str
    rows: Mapping[str, int]
    keys: int


class Review:
    """A team's memory for whoever may look after it."""

    def __init__(self, parts: Parts, principal: Principal) -> None:
        if not {VIEW, EDIT} & principal.capabilities:
            raise NotAllowed(f"Looking after the team's memory needs the capability {VIEW}.")
        self._parts = parts
        self._principal = principal
        self._tenant = Tenant(principal.owner.tenant)

    def stats(self) -> TeamStats:
        """Counts by status, kind and origin; no count leads to a person."""
        sums: list[dict[str, int]] = [{}, {}, {}]
        with self._parts.store.reviewing(self._tenant) as desk:
            counts = desk.count()
            contested = desk.count_contested()
            said = desk.count_said()
            weeks = desk.said_by_week(self._parts.clock.now(), WEEKS)
            most_recalled = desk.most_recalled(MOST)
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
            switches=self.switches(),
        )

    def get(self, fact_id: str) -> TeamEntry:
        """One fact, whatever became of it."""
        with self._parts.store.reviewing(self._tenant) as desk:
            fact = _found(desk, fact_id)
            return TeamEntry(fact, desk.contributors(fact.id), tuple(desk.contested(fact.id)))

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
        limit = checked_limit(limit)
        wanted = TeamFilter(
            statuses=(member(TeamStatus, status, "status"),) if status else (),
            kinds=(member(TeamKind, kind, "kind"),) if kind else (),
            origins=(member(TeamOrigin, origin, "origin"),) if origin else (),
            words=checked_text(words, "The words", LONGEST) if words else None,
            single=single,
            contested=contested,
        )
        with self._parts.store.reviewing(self._tenant) as desk:
            found = desk.entries(wanted, limit + 1, position_of(cursor))
        last = found[limit - 1].fact if len(found) > limit else None
        return Page(tuple(found[:limit]), place_of(last.recorded_at, last.id) if last else None)

    def queue(self, *, single: bool = False, limit: int = 50) -> Page[TeamEntry]:
        """What waits for a decision."""
        return self.list(status=TeamStatus.PENDING, single=single, limit=limit)

    def approve(self, *fact_ids: str) -> tuple[TeamFact, ...]:
        """Let the team be told; all of them, or none if one is not there."""
        return self._decided(fact_ids, TeamStatus.APPROVED)

    def reject(self, *fact_ids: str) -> tuple[TeamFact, ...]:
        """Never tell it; it stays, so that it is not proposed again."""
        return self._decided(fact_ids, TeamStatus.REJECTED)

    def reopen(self, *fact_ids: str) -> tuple[TeamFact, ...]:
        """Put a decision back into the queue."""
        return self._decided(fact_ids, TeamStatus.PENDING)

    def edit(self, fact_id: str, content: str) -> TeamFact:
        """Give a fact other words, which must pass the gate as any."""
        self.require_edit()
        content = " ".join(checked_text(content, "The fact", LONGEST).split())
        if rules := broken_rules(content):
            raise InvalidInput(f"It must not be shared. {' '.join(reasons(rules))}")
        vector = self._parts.embedder.embed([content])[0]
        embedding = Embedding(self._parts.embedder.model, vector)
        switches = self.switches()
        with self._parts.store.reviewing(self._tenant) as desk:
            old = _found(desk, fact_id)
            _refuse_double(desk, old, content, embedding, switches.dedup_threshold)
            before = desk.contested(fact_id)
            desk.reword(fact_id, content, embedding)
            desk.uncontest(fact_id)
            contest(desk, _found(desk, fact_id), embedding)
            self._settle(desk, [fact_id, *before], switches)
            return _found(desk, fact_id)

    def _settle(self, desk: TeamDesk, fact_ids: Sequence[str], switches: Switches) -> None:
        now = self._parts.clock.now()
        for one in dict.fromkeys(fact_ids):
            if desk.fact(one) is not None:
                settle(desk, one, now, switches)

    def set_importance(self, fact_id: str, importance: float) -> TeamFact:
        """Say how much a fact matters, from 1 to 5."""
        self.require_edit()
        if not 1 <= importance <= 5:
            raise InvalidInput("The importance of a team fact is from 1 to 5.")
        with self._parts.store.reviewing(self._tenant) as desk:
            _found(desk, fact_id)
            desk.change(fact_id, {"importance": float(importance)})
            return _found(desk, fact_id)

    def delete(self, *fact_ids: str) -> int:
        """Destroy facts, with everything that was known about them."""
        self.require_edit()
        ids, switches = list(dict.fromkeys(fact_ids)), self.switches()
        with self._parts.store.reviewing(self._tenant) as desk:
            rivals = [rival for one in ids for rival in desk.contested(_found(desk, one).id)]
            desk.remove(ids)
            self._settle(desk, rivals, switches)
        return len(ids)

    def people(self) -> tuple[str, ...]:
        """Who of this tenant has a memory here, by name."""
        everyone = self._parts.store.owners()
        return tuple(one.user for one in everyone if one.tenant == self._tenant.name)

    def person(self, user: str) -> Person:
        """How much there is of someone, in numbers alone; they see in their activity who looked.

        Not what they told the team: with few facts, a number is a name.
        """
        from remembrancer.store.row_counts import count_keys, count_rows

        owner = Owner(self._tenant.name, user)
        looking = replace(self._principal, owner=owner, agent=None)
        call = self._parts.call(looking)
        note = f"by {self._principal.owner.user}, in numbers"
        with self._parts.store.writing(owner, newcomer=False) as writer:
            writer.apply(call.event(Action.VIEWED, call.now(), note=note), [])
        parts = self._parts
        return Person(user, count_rows(parts.store, owner), count_keys(parts.store, owner))

    def switches(self) -> Switches:
        """The live settings."""
        profile = self._parts.profile_of()
        return self._parts.switches.of(self._tenant, profile)

    def switch(self, **changes: Json) -> Switches:
        """Change live settings; every process goes by them within a second."""
        self.require_edit()
        profile = self._parts.profile_of()
        return self._parts.switches.change(self._tenant, profile, changes)

    def reset_switch(self, *names: str) -> Switches:
        """Put switches back to what the profile says; `team_recall.web` is one surface alone."""
        self.require_edit()
        profile = self._parts.profile_of()
        return self._parts.switches.reset(self._tenant, profile, names)

    def _decided(self, fact_ids: Sequence[str], status: TeamStatus) -> tuple[TeamFact, ...]:
        self.require_edit()
        now, switches = self._parts.clock.now(), self.switches()
        with self._parts.store.reviewing(self._tenant) as desk:
            for one in fact_ids:
                _found(desk, one)
            rivals = [rival for one in fact_ids for rival in desk.contested(one)]
            for one in fact_ids:
                decided = None if status is TeamStatus.PENDING else now
                desk.change(one, {"status": status, "decided_at": decided})
                voices, against = desk.contributors(one), len(desk.contested(one))
                approved = status is TeamStatus.APPROVED
                confidence = confidence_of(voices, against, approved=approved)
                desk.change(one, {"confidence": confidence})
            self._settle(desk, [one for one in rivals if one not in fact_ids], switches)
            return tuple(_found(desk, one) for one in fact_ids)

    def require_edit(self) -> None:
        """Refuse who may only look."""
        if EDIT not in self._principal.capabilities:
            raise NotAllowed(f"Changing the team's memory needs the capability {EDIT}.")


def _refuse_double(
    desk: TeamDesk, old: TeamFact, content: str, embedding: Embedding, threshold: float
) -> None:
    for one in desk.known(embedding.model, (TeamStatus.PENDING, TeamStatus.APPROVED)):
        alike = float(one.vector @ embedding.vector) >= threshold
        if one.fact.id != old.id and alike and not contradict(one.fact.content, content):
            raise Conflict(f"The team knows that already: {one.fact.id}.")


def _found(desk: TeamDesk, fact_id: str) -> TeamFact:
    fact = desk.fact(checked_name(fact_id, "team fact"))
    if fact is None:
        raise NotFound(f"There is no team fact {fact_id}.")
    return fact
