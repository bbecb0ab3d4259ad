"""One person's memory in plain lists and dicts: what the engine must do, said simply.

It shares nothing with the engine but the names of things. Ids are taken from the engine.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from remembrancer.errors import (
    Conflict,
    InvalidInput,
    NotFound,
    NotUndoable,
    RemembrancerError,
)
from remembrancer.types import (
    Action,
    ConfidenceBand,
    Kind,
    Maturity,
    Permanence,
    Relation,
    Source,
    Status,
    Verdict,
)

FADES = {"permanent": 0.0, "stable": 0.002, "standard": 0.008, "volatile": 0.03, "ephemeral": 0.1}
RECALLED_FROM, EXPIRED_BELOW = 0.2, 0.05
TRASH = timedelta(days=30)
IDLE = timedelta(minutes=30)
EPISODE_DAYS = 7.0
LADDER = [Maturity.CANDIDATE, Maturity.ESTABLISHED, Maturity.PROVEN]
HELD = (Status.ACTIVE, Status.SUPERSEDED)
TRUST = ("applied_count", "success_count", "harmful_count", "applied_at")
REMOVED = (Status.FORGOTTEN, Status.TRASHED, Status.RETRACTED)
STAYING = (Status.ACTIVE, Status.EXPIRED, Status.DISABLED)
GONE = (Status.FORGOTTEN, Status.TRASHED, Status.EXPIRED, Status.DISABLED)
FINAL = (Action.DELETED, Action.PURGED, Action.CLOSED, Action.FADED)

LinkKey = tuple[str, str, Relation]


class Refused(Exception):
    """The engine must raise this kind of error."""

    def __init__(self, error: type[RemembrancerError]) -> None:
        super().__init__(error.__name__)
        self.error = error


@dataclass(frozen=True)
class Choices:
    """What differs between profiles."""

    hard: bool = False
    fades: str = "all"
    renewed_by_use: bool = False
    use_extends: bool = False


@dataclass
class Life:
    """One memory."""

    id: str
    kind: Kind
    content: str
    scope: str
    recorded_at: datetime
    valid_from: datetime
    confirmed_at: datetime
    status: Status = Status.ACTIVE
    confidence: float = 1.0
    permanence: str = "standard"
    source: str = "explicit"
    category: str | None = None
    key: tuple[str, str] | None = None
    supersedes: str | None = None
    lineage: str = ""
    valid_until: datetime | None = None
    retired_at: datetime | None = None
    ttl_days: float | None = None
    expires_at: datetime | None = None
    recalled_at: datetime | None = None
    recall_count: int = 0
    maturity: Maturity = Maturity.CANDIDATE
    applied_count: int = 0
    success_count: int = 0
    harmful_count: int = 0
    applied_at: datetime | None = None
    session: str | None = None
    past: list[tuple[Status, datetime | None, datetime | None]] = field(default_factory=list)
    """The states in which it was held true: status, valid_until and retired_at."""


@dataclass
class Happening:
    """One event: what it did, in order, as ("row" | "link" | "use", id or key, before, after)."""

    id: str
    action: Action
    jobs: bool
    changes: list[tuple[str, Any, Any, Any]]
    agent: str | None = None
    undoes: str | None = None
    undone_by: str | None = None
    at: datetime | None = None

    def ids(self) -> set[str]:
        return {key[0] if sort in ("link", "use") else key for sort, key, _, _ in self.changes}


@dataclass
class Use:
    id: str
    rule: str
    verdict: Verdict
    reason: str | None
    counts: bool = True


class Model:
    """All verbs of one person; `agent` is who acts for them, None for themselves."""

    def __init__(self, choices: Choices) -> None:
        self.choices = choices
        self.lives: dict[str, Life] = {}
        self.links: dict[LinkKey, datetime] = {}
        self.uses: list[Use] = []
        self.events: list[Happening] = []
        self.sessions: dict[str, tuple[str, datetime, bool]] = {}
        self.acting: str | None = None

    # What can be seen.

    def confidence(self, life: Life, now: datetime) -> float:
        since = max(life.confirmed_at, life.valid_from, life.valid_until or life.valid_from)
        if self.choices.renewed_by_use and life.recalled_at:
            since = max(since, life.recalled_at)
        spared = self.choices.fades == "extracted" and life.source == "explicit"
        rate = 0.0 if self.choices.fades == "none" or spared else FADES[life.permanence]
        days = max(0.0, (now - since).total_seconds() / 86_400)
        return life.confidence * math.exp(-rate * days)

    def standing(self, life: Life, now: datetime) -> ConfidenceBand:
        if self.is_late(life, now) or self.confidence(life, now) < EXPIRED_BELOW:
            return ConfidenceBand.EXPIRED
        fading = self.confidence(life, now) < RECALLED_FROM
        return ConfidenceBand.FADING if fading else ConfidenceBand.RECALLED

    def is_late(self, life: Life, now: datetime) -> bool:
        return life.expires_at is not None and life.expires_at <= now

    def has_run_out(self, life: Life, now: datetime) -> bool:
        """Whether a memory counts as expired although nobody has said so yet."""
        ended = life.valid_until is not None and life.valid_until <= now
        return ended or self.standing(life, now) is ConfidenceBand.EXPIRED

    def status(self, life: Life, now: datetime) -> Status:
        over = life.status is Status.ACTIVE and self.has_run_out(life, now)
        return Status.EXPIRED if over else life.status

    def in_force(self, life: Life, now: datetime) -> bool:
        return (
            life.status in HELD
            and (life.valid_until is None or life.valid_until > max(now, life.valid_from))
            and self.standing(life, now) is not ConfidenceBand.EXPIRED
        )

    def sees(self, agent: str | None, life: Life, now: datetime) -> bool:
        if life.status is Status.TRASHED and now >= life.retired_at + TRASH:
            return False
        scopes = (agent,) if life.kind is Kind.EPISODE else ("global", agent)
        return agent is None or life.scope in scopes

    def listed(self, agent: str | None, now: datetime, status: Status | None = None) -> list[Life]:
        passing = [
            one
            for one in self.lives.values()
            if self.sees(agent, one, now)
            and (self.in_force(one, now) if status is None else self.status(one, now) is status)
            and (status is None or not self._is_in_trash(one, now))
        ]
        return sorted(passing, key=lambda one: (one.recorded_at, one.id), reverse=True)

    def recalled(self, agent: str | None, now: datetime) -> set[str]:
        return {
            one.id
            for one in self.listed(agent, now)
            if self.standing(one, now) is ConfidenceBand.RECALLED
        }

    def links_of(self, agent: str | None, memory_id: str, now: datetime) -> set[LinkKey]:
        return {
            one
            for one in self.links
            if memory_id in one[:2]
            and all(self.sees(agent, self.lives[end], now) for end in one[:2])
        }

    def versions(self, life: Life) -> list[str]:
        same = [one for one in self.lives.values() if one.lineage == life.lineage]
        return [one.id for one in sorted(same, key=lambda one: (one.recorded_at, one.id))]

    def stats(self, now: datetime) -> dict[str, Any]:
        rows = list(self.lives.values())
        active = [one for one in rows if self.status(one, now) is Status.ACTIVE]
        alive = [one for one in self.listed(None, now, Status.ACTIVE) if one.kind is not Kind.TURN]
        week = now + timedelta(days=7)
        by_kind: dict[str, Counter[str]] = {}
        for one in rows:
            by_kind.setdefault(one.kind, Counter())[self.status(one, now)] += 1
        return {
            "by_kind": {kind: dict(counts) for kind, counts in by_kind.items()},
            "by_category": dict(Counter(one.category for one in active if one.category)),
            "by_permanence": {
                kind: dict(Counter(one.permanence for one in active if one.kind is kind))
                for kind in {one.kind for one in active}
            },
            "by_scope": dict(Counter(one.scope for one in active)),
            "fading": sum(self.standing(one, now) is ConfidenceBand.FADING for one in alive),
            "expiring": sum(one.expires_at is not None and one.expires_at <= week for one in alive),
            "backlog": sum(one.kind is Kind.EPISODE for one in alive),
            "events": len(self.events),
        }

    # What can be done.

    def remember(
        self, agent: str | None, now: datetime, said: dict[str, Any], new_id: str, event_id: str
    ) -> tuple[str, bool]:
        """The id of the memory that stands for it, and whether anything happened."""
        scope = said.get("scope") or agent or "global"
        old, known = self._meant(said, scope, now)
        if known:
            return old.id, False
        objection = self._objection(agent, said["content"], scope, now)
        if old is None and said["kind"] is Kind.RULE and objection:
            return objection.id, False
        if old is None:
            new = self._born(said, scope, now, new_id)
            rivals = self._rivals(new)
            inserted = self._insert(new)
            flags = [self._add((new.id, one, Relation.CONTRADICTS), now) for one in rivals]
            self._log(event_id, Action.REMEMBERED, [inserted, *flags])
            return new.id, True
        self._supersede(old, self._version(old, said, now, new_id), now, event_id, Action.REPLACED)
        return new_id, True

    def _meant(self, said: dict[str, Any], scope: str, now: datetime) -> tuple[Any, bool]:
        """The memory that something said is about, and whether it says nothing else."""
        if said["kind"] is Kind.EPISODE:
            return None, False
        here = [
            one for one in self.lives.values() if one.kind is said["kind"] and one.scope == scope
        ]
        here.sort(key=lambda one: (one.recorded_at, one.id), reverse=True)
        for one in here:
            same = one.content == said["content"] and said.get("key") in (None, one.key)
            if same and self._is_about_same(said, one) and self._stands(one, now):
                vouched = said.get("source") != "extracted" and one.source == "extracted"
                return one, not vouched
        if said.get("key"):
            keyed = [one for one in here if one.key == said["key"]]
            for wanted in (Status.ACTIVE, Status.EXPIRED):
                for one in keyed:
                    if one.status is wanted:
                        return one, False
        return None, False

    def _is_about_same(self, said: dict[str, Any], life: Life) -> bool:
        """Whether both have one subject, which one of them may name only in its words."""
        subjects = [key[0] if key else None for key in (said.get("key"), life.key)]
        named = [one for one in subjects if one]
        words = said["content"].casefold().split()
        return len(named) != 1 or named[0] in ("user", *words)

    def _rivals(self, new: Life, known: Collection[str] = ()) -> list[str]:
        """Other values of the same key in other scopes that the actor sees."""
        return [
            one.id
            for one in self.lives.values()
            if new.key is not None
            and (one.key, one.status) == (new.key, Status.ACTIVE)
            and one.scope != new.scope
            and one.content != new.content
            and one.id not in known
            and self.sees(self.acting, one, new.recorded_at)
        ]

    def _agree(self, one: Life, other: Life) -> bool:
        """Whether two facts hold the same value of one key in two scopes."""
        same = one.key is not None and (one.key, one.content) == (other.key, other.content)
        return same and one.scope != other.scope

    def _objection(
        self,
        agent: str | None,
        words: str,
        scope: str,
        now: datetime,
        without: Collection[str] = (),
    ) -> Life | None:
        """The newest disabled rule in these words, or else the warning that one has become."""
        found = [
            one
            for one in self.lives.values()
            if one.kind is Kind.RULE
            and self._is_refused(one)
            and one.id not in without
            and self.sees(agent, one, now)
            and (scope == "global" or one.scope in ("global", scope))
            and (one.content.startswith(self._warn(words)) or self._rule_of(one) == words)
        ]
        newest = sorted(found, key=lambda one: (one.recorded_at, one.id), reverse=True)
        disabled = [one for one in newest if one.status is Status.DISABLED]
        return next(iter(disabled or newest), None)

    def _refuse_revival(
        self, agent: str | None, values: dict[str, dict[str, Any]], now: datetime
    ) -> None:
        """A rule that would not be stored again is not made active again."""
        for memory_id, given in values.items():
            life = self.lives[memory_id]
            if life.kind is not Kind.RULE or life.maturity is Maturity.ANTI_PATTERN:
                continue
            if given.get("status") is not Status.ACTIVE:
                continue
            without = {one for one, each in values.items() if "status" in each} | {
                one.id
                for one in self.lives.values()
                if one.lineage == life.lineage or one.status is life.status is Status.DISABLED
            }
            if self._objection(agent, life.content, life.scope, now, without):
                raise Refused(Conflict)

    def _is_refused(self, life: Life) -> bool:
        """True for a disabled rule, and for a warning in force."""
        refused_as = Status.ACTIVE if life.maturity is Maturity.ANTI_PATTERN else Status.DISABLED
        return life.status is refused_as

    def _rule_of(self, warning: Life) -> str:
        """The words of the rule before it became a warning, whose own words may be edited."""
        life = warning
        while life.maturity is Maturity.ANTI_PATTERN and life.supersedes in self.lives:
            life = self.lives[life.supersedes]
        return life.content

    def _stands(self, life: Life, now: datetime) -> bool:
        return self.status(life, now) is Status.ACTIVE

    def _born(self, said: dict[str, Any], scope: str, now: datetime, new_id: str) -> Life:
        kind = said["kind"]
        days = said.get("ttl_days") or (EPISODE_DAYS if kind is Kind.EPISODE else None)
        return Life(
            id=new_id,
            kind=kind,
            content=said["content"],
            scope=scope,
            recorded_at=now,
            valid_from=said.get("valid_from") or now,
            valid_until=said.get("valid_until"),
            confirmed_at=now,
            confidence=said.get("confidence", 0.5 if kind is Kind.RULE else 1.0),
            permanence=said.get("permanence", "standard"),
            source=said.get("source", "explicit"),
            category="fact" if kind is Kind.FACT else None,
            key=said.get("key"),
            lineage=new_id,
            ttl_days=days,
            expires_at=now + timedelta(days=days) if days else None,
        )

    def _version(self, old: Life, said: dict[str, Any], now: datetime, new_id: str) -> Life:
        """What was not said about its topic and how it fades is as it was."""
        new = self._born({**said, "kind": old.kind}, old.scope, now, new_id)
        new.permanence = said.get("permanence", old.permanence)
        new.key = said.get("key") or old.key
        new.supersedes, new.lineage = old.id, old.lineage
        if old.maturity is Maturity.ANTI_PATTERN:
            kept = ("maturity", "permanence", "confidence", *TRUST)
            for name in kept:
                setattr(new, name, getattr(old, name))
            new.ttl_days = new.expires_at = new.valid_until = None
        elif old.kind is Kind.RULE and new.content == old.content:
            for name in ("maturity", *TRUST):
                setattr(new, name, getattr(old, name))
            new.confidence = said.get("confidence", max(old.confidence, new.confidence))
        return new

    def _supersede(
        self,
        old: Life,
        new: Life,
        now: datetime,
        event_id: str,
        action: Action,
        first: tuple[tuple[str, Any, Any, Any], ...] = (),
        **also: Any,
    ) -> None:
        moved = [one for one in self.links if old.id in one[:2] and one[2] != "supersedes"]
        values = {**self._retirement(old, Status.SUPERSEDED, now, new.valid_from), **also}
        changes = [*first, self._patch(old.id, values), self._insert(new)]
        changes.append(self._add((new.id, old.id, Relation.SUPERSEDES), now))
        known = {end for one in moved if one[2] == "contradicts" for end in one[:2]}
        rivals = self._rivals(new, known)
        for source, target, relation in moved:
            since = self.links[source, target, relation]
            changes.append(self._drop((source, target, relation)))
            other = self.lives[target if source == old.id else source]
            if relation is Relation.CONTRADICTS and self._agree(new, other):
                continue
            ends = (new.id if end == old.id else end for end in (source, target))
            changes.append(self._add((*ends, relation), since))
        changes += [self._add((new.id, one, Relation.CONTRADICTS), now) for one in rivals]
        self._log(event_id, action, changes)

    def update(
        self,
        agent: str | None,
        now: datetime,
        memory_id: str,
        said: dict[str, Any],
        new_id: str,
        event_id: str,
    ) -> tuple[str, bool]:
        old = self._current(agent, memory_id, now)
        if old.kind is Kind.TURN:
            raise Refused(InvalidInput)
        if old.status is Status.SUPERSEDED:
            later = [self.lives[one] for one in reversed(self.versions(old))]
            standing = [one for one in later if self._is_current(one, now)]
            old = standing[0] if standing else old
        if old.status is not Status.ACTIVE:
            raise Refused(Conflict)
        if said.keys() == {"content"} and said["content"] == old.content:
            return old.id, False
        if old.maturity is Maturity.ANTI_PATTERN and said.keys() & {"ttl_days", "valid_until"}:
            raise Refused(InvalidInput)
        trusts = old.kind is Kind.RULE and old.maturity is not Maturity.ANTI_PATTERN
        if trusts and self._objection(agent, said["content"], old.scope, now):
            raise Refused(Conflict)
        self._supersede(old, self._version(old, said, now, new_id), now, event_id, Action.UPDATED)
        return new_id, True

    def _is_current(self, life: Life, now: datetime) -> bool:
        return life.status is Status.ACTIVE

    def confirm(self, agent: str | None, now: datetime, memory_id: str, event_id: str) -> None:
        life = self._current(agent, memory_id, now)
        if life.status not in (Status.ACTIVE, Status.EXPIRED):
            raise Refused(Conflict)
        self._revive(event_id, Action.CONFIRMED, life, self._renewal(life, now), now)

    def forget(self, agent: str | None, now: datetime, memory_id: str, event_id: str) -> None:
        life = self._current(agent, memory_id, now)
        if life.status is not Status.ACTIVE:
            raise Refused(Conflict)
        values = self._retirement(life, Status.FORGOTTEN, now)
        self._change(event_id, Action.FORGOTTEN, {life.id: values})

    def delete(
        self, agent: str | None, now: datetime, memory_ids: list[str], event_id: str
    ) -> set[str]:
        lives = [self._current(agent, one, now) for one in memory_ids]
        if not self.choices.hard and any(one.status is Status.TRASHED for one in lives):
            raise Refused(Conflict)
        return self._retire_all(lives, Status.TRASHED, now, event_id)

    def retire_all(
        self, agent: str | None, now: datetime, status: Status, kinds: list[Kind], event_id: str
    ) -> set[str]:
        ends: tuple[Status, ...] = (Status.ACTIVE, Status.EXPIRED)
        if status is Status.TRASHED:
            ends = (*ends, Status.FORGOTTEN, Status.DISABLED)
        lives = [
            one
            for one in self.lives.values()
            if one.status in ends and self.sees(agent, one, now) and one.kind in kinds
        ]
        return self._retire_all(lives, status, now, event_id)

    def _retire_all(
        self, lives: list[Life], status: Status, now: datetime, event_id: str
    ) -> set[str]:
        ids = {one.id for one in lives}
        if not ids:
            return ids
        if status is Status.TRASHED and self.choices.hard:
            self._destroy(self._doomed(ids, now), event_id, Action.DELETED)
        else:
            action = Action.TRASHED if status is Status.TRASHED else Action.FORGOTTEN
            values = {one.id: self._retirement(one, status, now) for one in lives}
            self._change(event_id, action, values)
        return ids

    def restore(self, agent: str | None, now: datetime, memory_id: str, event_id: str) -> None:
        life = self._current(agent, memory_id, now)
        if life.status not in GONE:
            raise Refused(Conflict)
        if life.status is Status.EXPIRED:
            values = self._renewal(life, now)
        else:
            status, valid_until, retired_at = life.past[-1]
            values = {"status": status, "retired_at": retired_at, "valid_until": valid_until}
        self._revive(event_id, Action.RESTORED, life, values, now)

    def link(
        self, agent: str | None, now: datetime, key: LinkKey, event_id: str
    ) -> tuple[str, bool]:
        source, target = (self._own(agent, end, now) for end in key[:2])
        if source is target or key[2] is Relation.SUPERSEDES:
            raise Refused(InvalidInput)
        if key in self.links:
            return source.id, False
        self._log(event_id, Action.LINKED, [self._add(key, now)])
        return source.id, True

    def unlink(self, agent: str | None, now: datetime, key: LinkKey, event_id: str) -> None:
        for end in key[:2]:
            self._own(agent, end, now)
        if key not in self.links:
            raise Refused(NotFound)
        self._log(event_id, Action.UNLINKED, [self._drop(key)])

    def report(
        self,
        agent: str | None,
        now: datetime,
        rule_id: str,
        verdict: Verdict,
        reason: str | None,
        use_id: str,
        new_id: str,
        event_id: str,
    ) -> str:
        """The id of the rule as it stands: another one, if it has become a warning."""
        rule = self._rule(agent, rule_id, now)
        use = Use(use_id, rule.id, verdict, reason)
        helped = verdict is Verdict.HELPFUL
        wins, harms = rule.success_count + helped, rule.harmful_count + (not helped)
        score = wins / (wins + 4 * harms + 0.01)
        counts = {
            "applied_count": rule.applied_count + 1,
            "success_count": wins,
            "harmful_count": harms,
            "applied_at": now,
        }
        if helped:
            counts |= self._renewal(rule, now)
        self.uses.append(use)
        used = ("use", (rule.id, use.id), False, True)
        action = Action.HELPED if helped else Action.HARMED
        warned = rule.maturity is Maturity.ANTI_PATTERN
        if not warned and harms >= 3 and score < 0.3:
            new = Life(**{**vars(rule), **counts, "past": []})
            new.id, new.supersedes, new.maturity = new_id, rule.id, Maturity.ANTI_PATTERN
            new.content = self._warning(rule)
            new.valid_from = new.recorded_at = new.confirmed_at = now
            new.permanence, new.confidence = "permanent", 1.0
            new.ttl_days = new.expires_at = new.valid_until = None
            counts = {name: value for name, value in counts.items() if name in TRUST}
            self._supersede(rule, new, now, event_id, Action.INVERTED, (used,), **counts)
            return new.id
        if not warned:
            place, earned = LADDER.index(rule.maturity), self._earned(rule, wins, score, now)
            counts["maturity"] = LADDER[max(place, earned) if helped else min(place, earned)]
            if counts["maturity"] is not rule.maturity:
                action = Action.PROMOTED if helped else Action.DEMOTED
        self._log(event_id, action, [used, self._patch(rule.id, counts)])
        return rule.id

    def _earned(self, rule: Life, wins: int, score: float, now: datetime) -> int:
        if wins >= 15 and score >= 0.8 and now - rule.recorded_at >= timedelta(days=30):
            return 2
        return 1 if wins >= 5 and score >= 0.6 else 0

    def _warning(self, rule: Life) -> str:
        same, life = {rule.id}, rule
        while life.supersedes and self.lives[life.supersedes].content == rule.content:
            life = self.lives[life.supersedes]
            same.add(life.id)
        reasons = [
            one.reason for one in self.uses if one.rule in same and one.counts and one.reason
        ]
        said = "; ".join(dict.fromkeys(reasons))
        return self._warn(rule.content) + (
            f" This caused problems because: {said}." if said else ""
        )

    def _warn(self, words: str) -> str:
        return f"ANTI-PATTERN: Do NOT {words[0].lower()}{words[1:]}."

    def promote(
        self, agent: str | None, now: datetime, rule_id: str, steps: int, event_id: str
    ) -> None:
        rule = self._rule(agent, rule_id, now)
        if rule.maturity is Maturity.ANTI_PATTERN:
            raise Refused(Conflict)
        place = LADDER.index(rule.maturity) + steps
        if place not in (0, 1, 2):
            raise Refused(Conflict)
        action = Action.PROMOTED if steps > 0 else Action.DEMOTED
        self._change(event_id, action, {rule_id: {"maturity": LADDER[place]}})

    def disable(self, agent: str | None, now: datetime, rule_id: str, event_id: str) -> None:
        self._rule(agent, rule_id, now)
        values = {"status": Status.DISABLED, "retired_at": now}
        self._change(event_id, Action.DISABLED, {rule_id: values})

    def append(
        self,
        agent: str | None,
        now: datetime,
        session: str,
        turns: list[tuple[str, str]],
        event_id: str,
    ) -> None:
        """Turns are given as id and words."""
        scope = agent or "global"
        if self.sessions.get(session, (scope,))[0] != scope:
            raise Refused(InvalidInput)
        self.sessions[session] = (scope, now, True)
        changes = []
        for memory_id, words in turns:
            said = {"kind": Kind.TURN, "content": words, "permanence": Permanence.PERMANENT}
            turn = self._born({**said, "source": Source.EXPLICIT}, scope, now, memory_id)
            turn.session = session
            changes.append(self._insert(turn))
        self._log(event_id, Action.HEARD, changes)

    def use(self, memory_ids: list[str], now: datetime) -> None:
        """They were recalled."""
        for one in memory_ids:
            life = self.lives[one]
            life.recall_count += 1
            life.recalled_at = now
            lasting = life.ttl_days and life.expires_at and life.expires_at > now
            if self.choices.use_extends and lasting:
                life.expires_at = max(life.expires_at, now + timedelta(days=life.ttl_days))

    # What is taken back.

    def latest(self, agent: str | None, now: datetime) -> Happening:
        for event in reversed(self.events):
            if event.action is Action.DELETED and self.touches_own(agent, event, now):
                raise Refused(NotUndoable)
            final = event.jobs or event.undone_by or event.action in (*FINAL, Action.UNDONE)
            if not final and self.touches_own(agent, event, now):
                return event
        raise Refused(NotFound)

    def undo(self, agent: str | None, now: datetime, wanted: str | None, event_id: str) -> None:
        if wanted is None:
            event = self.latest(agent, now)
        else:
            found = [one for one in self.events if one.id == wanted]
            if not found or not self.touches_own(agent, found[0], now):
                raise Refused(NotFound)
            event = found[0]
        if event.action in FINAL or event.undone_by:
            raise Refused(NotUndoable)
        targets = {key[1] for sort, key, _, _ in event.changes if sort == "link"}
        if not event.ids() | targets <= self.lives.keys():
            raise Refused(NotUndoable)
        inverse = [self._taken_back(event, one, now) for one in reversed(event.changes)]
        rows = {key: values for sort, key, values in inverse if sort == "row"}
        self._refuse_two_in_one_place(rows)
        self._refuse_revival(agent, rows, now)
        self._log(event_id, Action.UNDONE, [self._carried_out(*one) for one in inverse])
        self.events[-1].undoes = event.id
        event.undone_by = event_id
        for one in self.events:
            if one.id == event.undoes:
                one.undone_by = None

    def touches_own(self, agent: str | None, event: Happening, now: datetime) -> bool:
        known = [self.lives[one] for one in event.ids() if one in self.lives]
        told = len(known) == len(event.ids()) or agent in (None, event.agent)
        return told and all(self.sees(agent, one, now) for one in known)

    def _taken_back(self, event: Happening, change: Any, now: datetime) -> tuple[str, Any, Any]:
        sort, key, before, after = change
        if sort == "link":
            if self.links.get(key) != after:
                raise Refused(Conflict)
            return sort, key, before
        if sort == "use":
            return sort, key, before
        life = self.lives[key]
        if any(getattr(life, name) != value for name, value in after.items()):
            raise Refused(Conflict)
        if before is None:
            return sort, key, {"status": Status.RETRACTED, "retired_at": now}
        if event.action is Action.EXPIRED:
            return sort, key, {**before, **self._renewal(life, now)}
        return sort, key, dict(before)

    def _carried_out(self, sort: str, key: Any, to: Any) -> tuple[str, Any, Any, Any]:
        if sort == "row":
            return self._patch(key, to)
        if sort == "link":
            return self._drop(key) if to is None else self._add(key, to)
        for one in self.uses:
            if one.id == key[1]:
                one.counts = to
        return sort, key, not to, to

    # What happens by itself.

    def overdue(self, kinds: tuple[Kind, ...], now: datetime) -> list[str]:
        """What has had its time or lost all belief, and is active by its row."""
        return [
            one.id
            for one in self.lives.values()
            if one.kind in kinds
            and one.status is Status.ACTIVE
            and self.standing(one, now) is ConfidenceBand.EXPIRED
        ]

    def expire(self, ids: Collection[str], now: datetime, event_id: str) -> None:
        values = {"status": Status.EXPIRED, "retired_at": now}
        self._change(event_id, Action.EXPIRED, dict.fromkeys(ids, values), jobs=True)

    def fading(self, now: datetime) -> list[str]:
        """What has fallen below the threshold since the last event of this kind."""
        noted = [one.at for one in self.events if one.action is Action.FADED]
        last = noted[-1] if noted else datetime.min.replace(tzinfo=UTC)
        return [
            one.id
            for one in self.listed(None, now, Status.ACTIVE)
            if one.kind in (Kind.FACT, Kind.RULE)
            and self.standing(one, now) is ConfidenceBand.FADING
            and self.confidence(one, last) >= RECALLED_FROM
        ]

    def fade(self, ids: Collection[str], now: datetime, event_id: str) -> None:
        self._change(event_id, Action.FADED, {one: {} for one in ids}, jobs=True)
        self.events[-1].at = now

    def purgeable(self, now: datetime) -> list[tuple[set[str], set[str]]]:
        """What was removed long enough ago, and episodes that ended as long ago; each batch with
        the past versions that go with it.
        """
        old = [
            one for one in self.lives.values() if one.retired_at and one.retired_at <= now - TRASH
        ]
        removed = {one.id for one in old if one.status in REMOVED}
        gone = self._doomed(removed, now)
        ended = {one.id for one in old if (one.kind, one.status) == (Kind.EPISODE, Status.EXPIRED)}
        ended -= gone
        batches = [(removed, gone), (ended, self._doomed(ended, now) - gone)]
        return [one for one in batches if one[0]]

    def _doomed(self, ids: set[str], now: datetime) -> set[str]:
        """These with their past versions, but not those of a memory that stays."""
        staying = {
            one.lineage
            for one in self.lives.values()
            if one.status in STAYING and one.id not in ids
        }
        whole = {
            one
            for one in ids
            if self.lives[one].status not in REMOVED or self.lives[one].lineage not in staying
        }
        return ids | self._past_of(whole, now)

    def purge(self, ids: set[str], event_id: str) -> None:
        self._destroy(ids, event_id, Action.PURGED, jobs=True)

    def idle(self, now: datetime) -> list[str]:
        return [
            name for name, (_, at, awake) in self.sessions.items() if awake and at <= now - IDLE
        ]

    def close(self, now: datetime, event_id: str) -> None:
        for name in self.idle(now):
            self.sessions[name] = (*self.sessions[name][:2], False)
        self._log(event_id, Action.CLOSED, [], jobs=True)

    # How a change is made.

    def _current(self, agent: str | None, memory_id: str, now: datetime) -> Life:
        """What stands for a version that was replaced."""
        life = self._own(agent, memory_id, now)
        replaced = (Status.SUPERSEDED, Status.RETRACTED)
        if life.status not in replaced or self._still_holds(life, now):
            return life
        versions = [self.lives[one] for one in self.versions(life)]
        current = [
            one for one in versions if one.status not in replaced and self.sees(agent, one, now)
        ]
        active = [one for one in current if one.status is Status.ACTIVE]
        return (active or current or [life])[-1]

    def _still_holds(self, life: Life, now: datetime) -> bool:
        until = life.valid_until
        return life.status is Status.SUPERSEDED and until is not None and until > now

    def _is_past(self, life: Life, now: datetime) -> bool:
        return life.status is not Status.ACTIVE and not self._still_holds(life, now)

    def _past_of(self, ids: set[str], now: datetime) -> set[str]:
        """The versions that are destroyed with these memories."""
        lineages = {self.lives[one].lineage for one in ids}
        return {
            one.id
            for one in self.lives.values()
            if one.lineage in lineages and self._is_past(one, now)
        }

    def _is_in_trash(self, life: Life, now: datetime) -> bool:
        """Whether a version is hidden by one of its lineage that is in the trash."""
        if life.status is Status.TRASHED or not self._is_past(life, now):
            return False
        return any(self.lives[one].status is Status.TRASHED for one in self.versions(life))

    def _own(self, agent: str | None, memory_id: str, now: datetime) -> Life:
        life = self.lives.get(memory_id)
        if life is None or not self.sees(agent, life, now):
            raise Refused(NotFound)
        return life

    def _rule(self, agent: str | None, rule_id: str, now: datetime) -> Life:
        rule = self._own(agent, rule_id, now)
        if rule.kind is not Kind.RULE:
            raise Refused(InvalidInput)
        if rule.status is not Status.ACTIVE:
            raise Refused(Conflict)
        return rule

    def _renewal(self, life: Life, now: datetime) -> dict[str, Any]:
        values: dict[str, Any] = {"confirmed_at": now}
        if life.expires_at:
            values["expires_at"] = max(life.expires_at, now + timedelta(days=life.ttl_days))
        if life.status is Status.EXPIRED:
            values |= {"status": Status.ACTIVE, "retired_at": None}
        return values

    def _retirement(
        self, life: Life, status: Status, now: datetime, until: datetime | None = None
    ) -> dict[str, Any]:
        end = now if life.valid_from > now else max(life.valid_from, until or now)
        if life.valid_until:
            end = min(end, life.valid_until)
        return {"status": status, "retired_at": now, "valid_until": end}

    def _change(
        self, event_id: str, action: Action, values: dict[str, dict[str, Any]], jobs: bool = False
    ) -> None:
        self._refuse_two_in_one_place(values)
        self._log(event_id, action, [self._patch(one, new) for one, new in values.items()], jobs)

    def _revive(
        self, event_id: str, action: Action, life: Life, values: dict[str, Any], now: datetime
    ) -> None:
        """Patch a memory; what it contradicts is flagged if that makes it active."""
        self._refuse_two_in_one_place({life.id: values})
        self._refuse_revival(self.acting, {life.id: values}, now)
        changes = [self._patch(life.id, values)]
        if values.get("status") is Status.ACTIVE:
            known = {
                end
                for one in self.links
                if one[2] is Relation.CONTRADICTS and life.id in one[:2]
                for end in one[:2]
            }
            rivals = self._rivals(life, known)
            changes += [self._add((life.id, one, Relation.CONTRADICTS), now) for one in rivals]
        self._log(event_id, action, changes)

    def _refuse_two_in_one_place(self, values: dict[str, dict[str, Any]]) -> None:
        """Of a scope, subject and predicate at most one fact is active."""
        places = Counter(
            (one.scope, one.key)
            for one in self.lives.values()
            if one.key and values.get(one.id, {}).get("status", one.status) is Status.ACTIVE
        )
        if any(count > 1 for count in places.values()):
            raise Refused(Conflict)

    def _log(self, event_id: str, action: Action, changes: list[Any], jobs: bool = False) -> None:
        agent = None if jobs else self.acting
        self.events.append(Happening(event_id, action, jobs, changes, agent))

    def _insert(self, life: Life) -> tuple[str, str, None, dict[str, Any]]:
        self.lives[life.id] = life
        return "row", life.id, None, {"status": life.status}

    def _patch(self, memory_id: str, values: dict[str, Any]) -> tuple[str, str, Any, Any]:
        life = self.lives[memory_id]
        before = {name: getattr(life, name) for name in values}
        if life.status in HELD and ("status" in values or "valid_until" in values):
            life.past.append((life.status, life.valid_until, life.retired_at))
        for name, value in values.items():
            setattr(life, name, value)
        return "row", memory_id, before, dict(values)

    def _add(self, key: LinkKey, at: datetime) -> tuple[str, LinkKey, None, datetime]:
        self.links[key] = at
        return "link", key, None, at

    def _drop(self, key: LinkKey) -> tuple[str, LinkKey, datetime, None]:
        return "link", key, self.links.pop(key), None

    def _destroy(self, ids: set[str], event_id: str, action: Action, jobs: bool = False) -> None:
        self._log(event_id, action, [("row", one, None, None) for one in ids], jobs)
        touched = {self.lives.pop(one).session for one in ids}
        for one in self.lives.values():
            if one.supersedes in ids:
                one.supersedes = None
        self.links = {
            key: at for key, at in self.links.items() if key[0] not in ids and key[1] not in ids
        }
        self.uses = [one for one in self.uses if one.rule not in ids]
        for name in touched - {one.session for one in self.lives.values()}:
            self.sessions.pop(name, None)
