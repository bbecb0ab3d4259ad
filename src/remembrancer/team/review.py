"""Team administration: statistics, the review queue, decisions and live settings.

It shows how many users have contributed to a fact, never who. Reading needs the capability
`users:view`, changing anything `users:edit`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING

from remembrancer.errors import Conflict, InvalidInput, NotAllowed, NotFound
from remembrancer.guard.reasons import explain_rules
from remembrancer.guard.redaction import validate_text
from remembrancer.paging import decode_cursor, encode_cursor, validate_limit
from remembrancer.store.contract import Embedding
from remembrancer.store.row_counts import count_keys, count_rows
from remembrancer.store.team_contract import TeamFilter, TeamWriter
from remembrancer.team.activity import TeamActivity, build_activity
from remembrancer.team.confidence import team_confidence
from remembrancer.team.past import keep_approved
from remembrancer.team.service import (
    MAX_TEAM_FACT_CHARS,
    find_broken_rules,
    find_same_fact,
    mark_contradictions,
    read_team_fact,
    reassess_fact,
)
from remembrancer.team.settings import TeamSettings
from remembrancer.types import (
    Action,
    Json,
    Kind,
    Owner,
    Page,
    Principal,
    Status,
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
MAX_COUNTED_USERS = 1000


@dataclass(frozen=True, slots=True)
class TeamStats:
    """Statistics of a team's memory, and its settings.

    `said` counts contributions, of which a fact can have several; `weeks` counts them for each of
    the last weeks, oldest first. `activity` says by origin what became of the proposals of those
    weeks. `personal` is the number of active memories of all users together, or None for more
    users than can be counted while someone waits.
    """

    by_status: dict[str, int]
    by_kind: dict[str, int]
    by_origin: dict[str, int]
    contested: int
    said: int
    weeks: tuple[int, ...]
    most_recalled: tuple[TeamFact, ...]
    activity: Mapping[TeamOrigin, TeamActivity]
    personal: int | None
    switches: TeamSettings

    @property
    def merged(self) -> float:
        """The share of contributions that confirmed an existing fact."""
        return 1 - sum(self.by_status.values()) / self.said if self.said else 0.0


@dataclass(frozen=True, slots=True)
class PersonCounts:
    """The number of a user's rows by table, and of their keys."""

    user: str
    rows: Mapping[str, int]
    keys: int


class Review:
    """A team's memory for its administrators."""

    def __init__(self, services: Services, principal: Principal) -> None:
        if not {VIEW_CAPABILITY, EDIT_CAPABILITY} & principal.capabilities:
            raise NotAllowed(f"Reviewing the team's memory needs the capability {VIEW_CAPABILITY}.")
        self._services = services
        self._principal = principal
        self._tenant = Tenant(principal.owner.tenant)

    def stats(self) -> TeamStats:
        """Counts by status, kind and origin, none of them by user."""
        totals: list[dict[str, int]] = [{}, {}, {}]
        with self._services.store.open_team_writer(self._tenant) as writer:
            counts = writer.count()
            contested = writer.count_contested()
            said = writer.count_contributions()
            weeks = writer.count_contributions_by_week(self._services.clock.now(), STATS_WEEKS)
            most_recalled = writer.list_most_recalled(MAX_MOST_RECALLED)
            first_day = self._services.clock.now() - timedelta(weeks=STATS_WEEKS)
            activity = build_activity(writer.sum_activity(first_day.date().isoformat()))
        for names, count in counts.items():
            for total, name in zip(totals, names, strict=True):
                total[name] = total.get(name, 0) + count
        return TeamStats(
            by_status=totals[0],
            by_kind=totals[1],
            by_origin=totals[2],
            contested=contested,
            said=said,
            weeks=tuple(weeks),
            most_recalled=tuple(most_recalled),
            activity=activity,
            personal=self._count_personal(),
            switches=self.settings(),
        )

    def _count_personal(self) -> int | None:
        """How many memories all users have together, so that no number is a person's."""
        owners = [Owner(self._tenant.name, user) for user in self.people()]
        if len(owners) > MAX_COUNTED_USERS:
            return None
        total, now = 0, self._services.clock.now()
        for owner in owners:
            with self._services.store.open_reader(owner) as reader:
                total += sum(
                    one.count
                    for one in reader.tally(now)
                    if one.status is Status.ACTIVE and one.kind is not Kind.TURN
                )
        return total

    def get(self, fact_id: str) -> TeamEntry:
        """A fact of any status, with its number of contributors and its conflicts."""
        with self._services.store.open_team_writer(self._tenant) as writer:
            fact = _get_fact(writer, fact_id)
            return TeamEntry(
                fact, writer.count_contributors(fact.id), tuple(writer.list_conflicts(fact.id))
            )

    def rivals(self, entries: Iterable[TeamEntry]) -> dict[str, TeamFact]:
        """The facts that contradict any of these entries, by id."""
        ids = sorted({one for entry in entries for one in entry.conflicts})
        if not ids:
            return {}
        with self._services.store.open_team_writer(self._tenant) as writer:
            return {one: fact for one in ids if (fact := writer.get_fact(one)) is not None}

    def list(
        self,
        *,
        status: TeamStatus | str | None = None,
        kind: TeamKind | str | None = None,
        origin: TeamOrigin | str | Sequence[TeamOrigin | str] | None = None,
        words: str | None = None,
        single: bool = False,
        contested: bool = False,
        limit: int = 50,
        cursor: str | None = None,
    ) -> Page[TeamEntry]:
        """List team facts by page, newest first; `origin` is one or several, `single` means with
        only one contributor.
        """
        limit = validate_limit(limit)
        origins = [origin] if isinstance(origin, str) else origin or ()
        matching = TeamFilter(
            statuses=(parse_enum(TeamStatus, status, "status"),) if status else (),
            kinds=(parse_enum(TeamKind, kind, "kind"),) if kind else (),
            origins=tuple(parse_enum(TeamOrigin, one, "origin") for one in origins if one),
            words=validate_text(words, "The words", MAX_TEAM_FACT_CHARS) if words else None,
            single=single,
            contested=contested,
        )
        with self._services.store.open_team_writer(self._tenant) as writer:
            found = writer.list_entries(matching, limit + 1, decode_cursor(cursor))
        last = found[limit - 1].fact if len(found) > limit else None
        return Page(
            tuple(found[:limit]), encode_cursor(last.recorded_at, last.id) if last else None
        )

    def queue(self, *, single: bool = False, limit: int = 50) -> Page[TeamEntry]:
        """The pending facts."""
        return self.list(status=TeamStatus.PENDING, single=single, limit=limit)

    def approve(self, *fact_ids: str) -> tuple[TeamFact, ...]:
        """Approve facts, so that the team can recall them; all or, if one is missing, none."""
        return self._decide(fact_ids, TeamStatus.APPROVED)

    def reject(self, *fact_ids: str) -> tuple[TeamFact, ...]:
        """Reject facts; they are kept, so that the same proposal is rejected again."""
        return self._decide(fact_ids, TeamStatus.REJECTED)

    def reopen(self, *fact_ids: str) -> tuple[TeamFact, ...]:
        """Put facts that were decided back into the queue."""
        return self._decide(fact_ids, TeamStatus.PENDING)

    def edit(self, fact_id: str, content: str) -> TeamFact:
        """Change the content of a fact; the same rules apply as for a proposal."""
        self.require_edit()
        content = read_team_fact(content, "The fact")
        if rules := find_broken_rules(content):
            raise InvalidInput(f"This text cannot be shared. {' '.join(explain_rules(rules))}")
        vector = self._services.embedder.embed([content])[0]
        embedding = Embedding(self._services.embedder.model, vector)
        settings = self.settings()
        with self._services.store.open_team_writer(self._tenant) as writer:
            old = _get_fact(writer, fact_id)
            edited = replace(old, content=content)
            _refuse_duplicate(writer, edited, embedding, settings.dedup_threshold)
            before = writer.list_conflicts(fact_id)
            keep_approved(writer, old, self._services.clock.now())
            writer.reword(fact_id, content, embedding)
            writer.drop_conflicts(fact_id)
            mark_contradictions(writer, _get_fact(writer, fact_id), embedding)
            self._reassess(writer, [fact_id, *before], settings)
            return _get_fact(writer, fact_id)

    def _reassess(
        self, writer: TeamWriter, fact_ids: Sequence[str], settings: TeamSettings
    ) -> None:
        now = self._services.clock.now()
        for one in dict.fromkeys(fact_ids):
            if writer.get_fact(one) is not None:
                reassess_fact(writer, one, now, settings)

    def set_importance(self, fact_id: str, importance: float) -> TeamFact:
        """Set the importance of a fact, from 1 to 5."""
        self.require_edit()
        if not 1 <= importance <= 5:
            raise InvalidInput("The importance of a team fact is from 1 to 5.")
        with self._services.store.open_team_writer(self._tenant) as writer:
            keep_approved(writer, _get_fact(writer, fact_id), self._services.clock.now())
            writer.change(fact_id, {"importance": float(importance)})
            return _get_fact(writer, fact_id)

    def delete(self, *fact_ids: str) -> int:
        """Delete facts and their contributions for good; returns how many."""
        self.require_edit()
        ids, settings = list(dict.fromkeys(fact_ids)), self.settings()
        with self._services.store.open_team_writer(self._tenant) as writer:
            conflicting = [
                other for one in ids for other in writer.list_conflicts(_get_fact(writer, one).id)
            ]
            writer.remove(ids)
            self._reassess(writer, conflicting, settings)
        return len(ids)

    def people(self) -> tuple[str, ...]:
        """The names of the tenant's users who have a memory in this store."""
        owners = self._services.store.system.list_owners()
        people = (one for one in owners if one.instance is None)
        return tuple(one.user for one in people if one.tenant == self._tenant.name)

    def person(self, user: str) -> PersonCounts:
        """The size of a user's memory, in numbers only; the user's activity log shows the access.

        It does not count contributions to the team, because in a small team a number identifies.
        """
        owner = Owner.of_person(self._tenant.name, user)
        call = self._services.build_call(replace(self._principal, owner=owner, agent=None))
        note = f"by {self._principal.owner.user}, in numbers"
        with self._services.store.open_writer(owner, create=False) as writer:
            writer.apply(call.new_event(Action.VIEWED, call.now(), note=note), [])
        store = self._services.store
        return PersonCounts(user, count_rows(store, owner), count_keys(store, owner))

    def settings(self) -> TeamSettings:
        """The live settings."""
        profile = self._services.profile_of()
        return self._services.live_settings.get(self._tenant, profile)

    def change_settings(self, **changes: Json) -> TeamSettings:
        """Change live settings; every process uses them within a second."""
        self.require_edit()
        profile = self._services.profile_of()
        return self._services.live_settings.change(self._tenant, profile, changes)

    def reset_settings(self, *names: str) -> TeamSettings:
        """Reset settings to the profile's; `team_recall.web` names a single surface."""
        self.require_edit()
        profile = self._services.profile_of()
        return self._services.live_settings.reset(self._tenant, profile, names)

    def _decide(self, fact_ids: Sequence[str], status: TeamStatus) -> tuple[TeamFact, ...]:
        self.require_edit()
        now, settings = self._services.clock.now(), self.settings()
        with self._services.store.open_team_writer(self._tenant) as writer:
            for one in fact_ids:
                keep_approved(writer, _get_fact(writer, one), now)
            conflicting = [other for one in fact_ids for other in writer.list_conflicts(one)]
            for one in fact_ids:
                decided = None if status is TeamStatus.PENDING else now
                writer.change(one, {"status": status, "decided_at": decided})
                contributors = writer.count_contributors(one)
                conflicts = len(writer.list_conflicts(one))
                approved = status is TeamStatus.APPROVED
                confidence = team_confidence(contributors, conflicts, approved=approved)
                writer.change(one, {"confidence": confidence})
            self._reassess(writer, [one for one in conflicting if one not in fact_ids], settings)
            return tuple(_get_fact(writer, one) for one in fact_ids)

    def require_edit(self) -> None:
        """Raises NotAllowed without the capability to edit."""
        if EDIT_CAPABILITY not in self._principal.capabilities:
            raise NotAllowed(f"Changing the team's memory needs the capability {EDIT_CAPABILITY}.")


def _refuse_duplicate(
    writer: TeamWriter, edited: TeamFact, embedding: Embedding, threshold: float
) -> None:
    statuses = (TeamStatus.PENDING, TeamStatus.APPROVED)
    same = find_same_fact(writer, edited, embedding, threshold, statuses)
    if same is not None:
        raise Conflict(f"The team already has this fact: {same.id}.")


def _get_fact(writer: TeamWriter, fact_id: str) -> TeamFact:
    fact = writer.get_fact(validate_name(fact_id, "team fact"))
    if fact is None:
        raise NotFound(f"There is no team fact {fact_id}.")
    return fact
