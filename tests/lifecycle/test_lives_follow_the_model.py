"""Whatever two people do with their memories, in whatever order, a model of plain dicts agrees.

`REM_LONG=1` makes it 500 lives of 50 steps on each engine.
"""

from __future__ import annotations

import os
import secrets
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)
from sqlalchemy import create_engine, text
from sqlalchemy.pool import NullPool

from remembrancer.clock import ManualClock
from remembrancer.config import Settings
from remembrancer.engine import Remembrancer
from remembrancer.errors import RemembrancerError
from remembrancer.memory import Memory
from remembrancer.store.open import open_store
from remembrancer.testing import FakeEmbedder
from remembrancer.types import Action, Event, Kind, Record, Relation, Status, Verdict
from tests.lifecycle.model import Choices, Life, Model, Refused

LONG = bool(os.environ.get("REM_LONG"))
START = datetime(2026, 3, 2, 12, tzinfo=UTC)
PEOPLE = ("ada", "bob")
ACTORS = [("ada", None), ("ada", "coder"), ("ada", "writer"), ("bob", None), ("bob", "coder")]
MOSTLY = [*ACTORS, *3 * [("ada", None)]]
FACTS = ["The kettle is blue", "Tea is at four", "The cat is called Ink", "Rain is likely"]
RULES = ["Use tabs", "Answer in French", "Ask before deleting"]
KEYS = [None, None, ("kettle", "colour"), ("cat", "name")]
FIRST = [
    (FACTS[0], Kind.FACT, {"key": KEYS[2]}),
    (FACTS[1], Kind.FACT, {"ttl_days": 30.0}),
    (RULES[0], Kind.RULE, {}),
    (RULES[1], Kind.RULE, {"source": "extracted"}),
]
"""What everybody begins with."""

REASONS = [None, "it broke the build", "nobody understood it"]
STATUSES = [one for one in Status if one is not Status.QUARANTINED]
JOBS = ("decay_sweep", "episode_cleanup", "trash_purge", "close_sessions", "tidy")
SEEN = (
    "content scope confidence permanence source supersedes lineage valid_from valid_until "
    "recorded_at retired_at expires_at ttl_days confirmed_at recalled_at recall_count"
).split()
TRUST = "maturity applied_count success_count harmful_count applied_at".split()
NEVER = "fact_" + 26 * "0"


actors = st.sampled_from(MOSTLY)
numbers = st.integers(0, 999)
details = st.fixed_dictionaries(
    {},
    optional={
        "ttl_days": st.sampled_from([0.5, 1.0, 7.0, 30.0]),
        "permanence": st.sampled_from(["permanent", "stable", "volatile", "ephemeral"]),
        "confidence": st.sampled_from([1.0, 0.9, 0.5, 0.2, 0.19, 0.05, 0.04, 0.0]),
        "source": st.sampled_from(["explicit", "extracted"]),
    },
)
spans = st.fixed_dictionaries(
    {},
    optional={
        "valid_from": st.sampled_from([-20, 3]),
        "valid_until": st.sampled_from([4, 40]),
    },
)
waits = st.one_of(
    st.sampled_from([0.5, 1.0, 7.0, 30.0, 30.0, 60.0]).map(lambda days: timedelta(days=days)),
    st.integers(1, 48).map(lambda hours: timedelta(hours=hours)),
    st.integers(1, 300).map(lambda days: timedelta(days=days)),
)


class Lives(RuleBasedStateMachine):
    """Two people, each with a model beside the engine."""

    open_place: Callable[[], Any]

    def __init__(self) -> None:
        super().__init__()
        self.clock = ManualClock(START)
        self.opening = self.open_place()
        self.where = self.opening.__enter__()
        self.handles: dict[tuple[str, str | None], Memory] = {}
        self.acted: set[str] = set()
        self.touched: set[str] = set()
        self.step = 0

    @initialize(
        hard=st.booleans(),
        fades=st.sampled_from(["all", "all", "extracted", "none"]),
        by_use=st.booleans(),
        extends=st.booleans(),
    )
    def begin(self, hard: bool, fades: str, by_use: bool, extends: bool) -> None:
        adjust = {
            "deletion": {"mode": "hard" if hard else "trash"},
            "decay": {"applies_to": fades, "reset_by": "use" if by_use else "confirmation"},
            "ttl": {"extend_on_use": extends},
            "sessions": {"archive_days": None},
        }
        chosen = Settings.model_validate(
            {
                "tenant": f"tenant-{secrets.token_hex(8)}",
                "store": self.where,
                "profile_overrides": adjust,
            }
        )
        self.store = Remembrancer(
            chosen, open_store(chosen, self.clock), FakeEmbedder(), self.clock
        )
        self.models = {one: Model(Choices(hard, fades, by_use, extends)) for one in PEOPLE}
        for person in PEOPLE:
            for words, kind, more in FIRST:
                self.remember((person, None), {"content": words, "kind": kind, **more})

    def teardown(self) -> None:
        try:
            if hasattr(self, "store") and not self.acted:
                for person in PEOPLE:
                    self.check_all(person)
        finally:
            if hasattr(self, "store"):
                self.store.close()
            self.opening.__exit__(None, None, None)

    # Verbs.

    @rule(
        who=actors,
        words=st.sampled_from(FACTS),
        key=st.sampled_from(KEYS),
        more=details,
        span=spans,
        shared=st.booleans(),
    )
    def remember_fact(
        self, who: Any, words: str, key: Any, more: Any, span: Any, shared: bool
    ) -> None:
        said = {"content": words, "kind": Kind.FACT, "key": key, **more, **self.moments(span)}
        self.remember(who, said | ({"scope": "global"} if shared else {}))

    @rule(who=actors, words=st.sampled_from(RULES), more=details)
    def remember_rule(self, who: Any, words: str, more: Any) -> None:
        self.remember(who, {"content": words, "kind": Kind.RULE, **more})

    @rule(who=actors, words=st.sampled_from(FACTS), more=details)
    def remember_episode(self, who: Any, words: str, more: Any) -> None:
        self.remember(who, {"content": words, "kind": Kind.EPISODE, **more})

    def remember(self, who: Any, said: dict[str, Any]) -> None:
        topic = dict(zip(("subject", "predicate"), said.get("key") or (), strict=False))
        given = {name: value for name, value in said.items() if name not in ("content", "key")}
        self.do(
            who,
            lambda me: me.remember(said["content"], **given, **topic),
            lambda model, done: model.remember(
                who[1], self.now, said, done.memory.id, id_of(done.event)
            ),
            lambda done, meant: (done.memory.id, done.event is not None) == meant,
        )

    @rule(who=actors, at=numbers, words=st.sampled_from(FACTS + RULES), more=details, span=spans)
    def update(self, who: Any, at: int, words: str, more: Any, span: Any) -> None:
        target = self.some(who, at)
        more = more if at % 2 else {}
        span = self.moments(span) if target.startswith("fact") and at % 2 else {}
        said = {"content": words, **more, **span}
        self.do(
            who,
            lambda me: me.update(target, words, **more, **span),
            lambda model, done: model.update(
                who[1], self.now, target, said, done.memory.id, id_of(done.event)
            ),
            lambda done, meant: (done.memory.id, done.event is not None) == meant,
        )

    @rule(who=actors, at=numbers, verb=st.sampled_from(["confirm", "forget", "restore", "revive"]))
    def change(self, who: Any, at: int, verb: str) -> None:
        gone = [one.id for one in self.lives(who) if one.status in ("forgotten", "trashed")]
        target = gone[at % len(gone)] if gone and verb == "revive" else self.some(who, at)
        verb = "restore" if verb == "revive" else verb
        self.do(
            who,
            lambda me: getattr(me, verb)(target),
            lambda model, done: getattr(model, verb)(who[1], self.now, target, done.event.id),
        )

    @rule(
        who=actors,
        at=numbers,
        more=st.lists(numbers, max_size=2),
        how=st.sampled_from(["one", "one", "several", "all", "all of a kind"]),
        verb=st.sampled_from(["forget_all", "delete_all"]),
    )
    def remove(self, who: Any, at: int, more: list[int], how: str, verb: str) -> None:
        match how:
            case "one":
                self.delete(who, at)
            case "several":
                self.delete_many(who, [at, *more] if at else [])
            case "all":
                self.retire_all(who, None, verb)
            case _:
                self.retire_all(who, [[Kind.FACT], [Kind.RULE, Kind.EPISODE]][at % 2], verb)

    def delete(self, who: Any, at: int) -> None:
        target = self.some(who, at)
        self.do(
            who,
            lambda me: me.delete(target),
            lambda model, done: model.delete(who[1], self.now, [target], done.event.id),
        )

    def delete_many(self, who: Any, places: list[int]) -> None:
        targets = [self.some(who, at) for at in places]
        self.do(
            who,
            lambda me: me.delete_many(targets),
            lambda model, done: model.delete(who[1], self.now, targets, id_of(done.event)),
            lambda done, meant: set(done.ids) == meant and (done.event is not None) == bool(meant),
        )

    def retire_all(self, who: Any, chosen: Any, verb: str) -> None:
        status = Status.FORGOTTEN if verb == "forget_all" else Status.TRASHED
        self.do(
            who,
            lambda me: getattr(me, verb)(**({"kinds": chosen} if chosen else {})),
            lambda model, done: model.retire_all(
                who[1], self.now, status, chosen or list(Kind), id_of(done.event)
            ),
            lambda done, meant: set(done.ids) == meant and (done.event is not None) == bool(meant),
        )

    @rule(who=actors, a=numbers, b=numbers, how=st.sampled_from([*Relation, "unlink", "unlink"]))
    def relate(self, who: Any, a: int, b: int, how: str) -> None:
        if how == "unlink":
            self.unlink(who, a)
        else:
            self.link(who, a, b, Relation(how))

    def link(self, who: Any, a: int, b: int, relation: Relation) -> None:
        key = (self.some(who, a), self.some(who, b), relation)
        self.do(
            who,
            lambda me: me.link(*key),
            lambda model, done: model.link(who[1], self.now, key, id_of(done.event)),
            lambda done, meant: (done.memory.id, done.event is not None) == meant,
        )

    def unlink(self, who: Any, at: int) -> None:
        links = sorted(self.models[who[0]].links)
        key = links[at % len(links)] if links else (NEVER, NEVER, Relation.SUPPORTS)
        self.do(
            who,
            lambda me: me.unlink(*key),
            lambda model, done: model.unlink(who[1], self.now, key, done.event.id),
        )

    @rule(
        who=actors,
        at=numbers,
        times=st.integers(1, 8),
        how=st.sampled_from(["help", "help", "harm", "harm", "promote", "demote", "disable"]),
    )
    def judge(self, who: Any, at: int, times: int, how: str) -> None:
        if how in ("help", "harm"):
            self.apply_rule(who, at, times, how == "help")
        else:
            self.trust(who, at, how)

    def apply_rule(self, who: Any, at: int, times: int, helps: bool) -> None:
        target = self.some_rule(who, at)
        for turn in range(times if helps else (times + 1) // 2):
            reason = None if helps else REASONS[(at + turn) % len(REASONS)]
            verdict = Verdict.HELPFUL if helps else Verdict.HARMFUL
            act = self.helpful(target) if helps else self.harmful(target, reason)
            done = self.do(
                who,
                act,
                partial(self.reported, who, target, verdict, reason),
                lambda done, meant: done.memory.id == meant,
            )
            target = done.memory.id if done else target

    def helpful(self, target: str) -> Callable[[Memory], Any]:
        return lambda me: me.helpful(target)

    def harmful(self, target: str, reason: str | None) -> Callable[[Memory], Any]:
        return lambda me: me.harmful(target, reason)

    def reported(
        self, who: Any, target: str, verdict: Verdict, reason: str | None, model: Model, done: Any
    ) -> str:
        made = done.event.changes[0].after["application"] if done.event else "?"
        return model.report(
            who[1], self.now, target, verdict, reason, made, done.memory.id, id_of(done.event)
        )

    def trust(self, who: Any, at: int, verb: str) -> None:
        target = self.some_rule(who, at)
        more = {"promote": (1,), "demote": (-1,), "disable": ()}[verb]
        meant = "disable" if verb == "disable" else "promote"
        self.do(
            who,
            lambda me: getattr(me, verb)(target),
            lambda model, done: getattr(model, meant)(
                who[1], self.now, target, *more, done.event.id
            ),
        )

    @rule(who=actors, at=numbers, what=st.sampled_from(["latest", "any", "any", "many", "undone"]))
    def undo(self, who: Any, at: int, what: str) -> None:
        events = self.models[who[0]].events
        fit = {
            "latest": [],
            "any": events[-12:],
            "many": [one for one in events if len(one.changes) > 2],
            "undone": [one for one in events if one.undoes],
        }[what]
        wanted = fit[-1 - at % min(len(fit), 12)].id if fit else None
        self.do(
            who,
            lambda me: me.undo(wanted),
            lambda model, done: model.undo(who[1], self.now, wanted, done.event.id),
        )

    @rule(who=actors, name=st.sampled_from(["one", "two"]), count=st.integers(1, 3))
    def append(self, who: Any, name: str, count: int) -> None:
        words = [f"Greeting {n} to {name}" for n in range(count)]

        def act(me: Memory) -> Any:
            turns = me.append([{"role": "user", "content": one} for one in words], name)
            return turns, me.activity(limit=1).items[0]

        self.do(
            who,
            act,
            lambda model, done: model.append(
                who[1],
                self.now,
                name,
                list(zip((one.id for one in done[0]), words, strict=False)),
                done[1].id,
            ),
        )

    @rule(
        who=actors,
        words=st.sampled_from(FACTS + RULES),
        mode=st.sampled_from(["hybrid", "keyword"]),
    )
    def recall_and_use(self, who: Any, words: str, mode: str) -> None:
        model = self.models[who[0]]
        found = [one.memory.id for one in self.me(who).recall(words, limit=1000, mode=mode)]
        meant = model.recalled(who[1], self.now)
        assert len(found) == len(set(found))
        assert set(found) <= meant, f"recalled although not in force: {set(found) - meant}"
        if mode == "hybrid":
            assert set(found) == meant, f"in force but not recalled: {meant - set(found)}"
        self.store.flush()
        model.use(found, self.now)
        self.acted.add(who[0])

    # Time.

    @rule(by=waits)
    def wait(self, by: timedelta) -> None:
        self.clock.advance(by)
        self.acted |= set(PEOPLE)

    @rule(names=st.one_of(st.just(JOBS), st.sampled_from(JOBS).map(lambda one: (one,))))
    def run_jobs(self, names: tuple[str, ...]) -> None:
        for name in names:
            self.run_job(name)

    def run_job(self, name: str) -> None:
        outcome = self.store.run_job(name)
        assert outcome.failures == ()
        changed = sum(self.job_done(name, person) for person in PEOPLE)
        assert name == "tidy" or outcome.changed == changed
        self.acted |= set(PEOPLE)

    def job_done(self, name: str, person: str) -> int:
        """Do in the model what the job did, with the ids of its events; how much it was."""
        model, now = self.models[person], self.now
        match name:
            case "decay_sweep" | "episode_cleanup":
                sweep = name == "decay_sweep"
                ended = (Kind.FACT, Kind.RULE) if sweep else (Kind.EPISODE,)
                over = model.overdue(ended, now)
                faded = model.fading(now) if sweep else []
                scopes = [{model.lives[one].scope for one in ids} for ids in (over, faded)]
                events = self.newest_events(person, sum(map(len, scopes)))
                seen: dict[Action, set[str]] = {Action.EXPIRED: set(), Action.FADED: set()}
                for event in reversed(events):
                    ids = {one.memory_id for one in event.changes}
                    assert len({model.lives[one].scope for one in ids}) == 1
                    act = model.fade if event.action is Action.FADED else model.expire
                    act(ids, now, event.id)
                    seen[event.action] |= ids
                assert seen == {Action.EXPIRED: set(over), Action.FADED: set(faded)}
                return len(over)
            case "trash_purge":
                batches = model.purgeable(now)
                events = self.newest_events(person, len(batches))
                for (_, ids), event in zip(batches, reversed(events), strict=True):
                    assert {one.memory_id for one in event.changes} == ids
                    model.purge(ids, event.id)
                return sum(len(found) for found, _ in batches)
            case "close_sessions":
                idle = len(model.idle(now))
                if idle:
                    model.close(now, self.newest_events(person, 1)[0].id)
                return idle
        return 0

    def newest_events(self, person: str, count: int) -> list[Event]:
        if not count:
            return []
        return list(self.me((person, None)).activity(limit=count).items)

    # Comparing.

    @invariant()
    def the_model_agrees(self) -> None:
        """What was touched is compared as a whole, and of the rest one part at a time."""
        self.step += 1
        for person in sorted(self.acted):
            known = self.models[person].lives
            touched = [one for one in self.touched if one in known]
            some = {known[one].status for one in touched} | {STATUSES[self.step % len(STATUSES)]}
            self.check_lists(person, [None, *some])
            if self.step % 3 == 0:
                self.check_stats(person)
            actors = [one for one in ACTORS if one[0] == person]
            for memory_id in touched:
                self.check_life((person, None), known[memory_id])
                self.check_life(actors[self.step % len(actors)], known[memory_id])
        self.acted.clear()
        self.touched.clear()

    def check_all(self, person: str) -> None:
        model = self.models[person]
        self.check_lists(person, [None, *Status], kinds=list(Kind))
        self.check_stats(person)
        self.check_activity(person)
        for who in (one for one in ACTORS if one[0] == person):
            listed = self.me(who).list(limit=1000, kinds=list(Kind)).items
            assert [one.id for one in listed] == [one.id for one in model.listed(who[1], self.now)]
            for life in list(model.lives.values())[:: 1 if who[1] is None else 3]:
                self.check_life(who, life)

    def check_lists(
        self,
        person: str,
        statuses: list[Status | None],
        kinds: Sequence[Kind] = (Kind.FACT, Kind.RULE, Kind.EPISODE),
    ) -> None:
        model, me = self.models[person], self.me((person, None))
        for status in statuses:
            found = me.list(status=status, kinds=kinds, limit=1000).items
            meant = [one for one in model.listed(None, self.now, status) if one.kind in kinds]
            assert [one.id for one in found] == [one.id for one in meant], f"listed as {status}"
            for record, life in zip(found, meant, strict=True):
                assert shown(record) == shown(life)

    def check_stats(self, person: str) -> None:
        stats, meant = self.me((person, None)).stats(), self.models[person].stats(self.now)
        assert {name: getattr(stats, name) for name in meant} == meant

    def check_life(self, who: Any, life: Life) -> None:
        model, me = self.models[who[0]], self.me(who)
        if not model.sees(who[1], life, self.now):
            with pytest.raises(RemembrancerError) as refused:
                me.get(life.id)
            assert refused.value.code == "not_found"
            return
        record = me.get(life.id)
        assert shown(record) == shown(life)
        links = {(one.source, one.target, one.relation) for one in me.links(life.id)}
        assert links == model.links_of(who[1], life.id, self.now)
        if who[1] is not None:
            return
        assert me.confidence(record) == pytest.approx(model.confidence(life, self.now), rel=1e-12)
        assert me.standing(record) is model.standing(life, self.now)
        history = me.history(life.id)
        # What was in the trash for long enough counts as purged before the job destroys it.
        versions = [
            one for one in model.versions(life) if model.sees(None, model.lives[one], self.now)
        ]
        assert [one.id for one in history.versions] == versions
        touching = [
            one.id
            for one in model.events
            if one.ids() & set(versions) and model.touches_own(None, one, self.now)
        ]
        assert [one.id for one in history.events] == touching
        assert [one.id for one in history.applications] == [
            one.id for one in model.uses if one.rule in versions and one.counts
        ]

    def check_activity(self, person: str) -> None:
        """All events that can be seen, page by page, and which of them were taken back."""
        model, me = self.models[person], self.me((person, None))
        found: list[Event] = []
        page = me.activity(limit=20)
        found += page.items
        while page.cursor:
            page = me.activity(limit=20, cursor=page.cursor)
            found += page.items
        meant = [one for one in model.events if model.touches_own(None, one, self.now)]
        assert [(one.id, one.action, one.undoes, one.undone_by) for one in reversed(found)] == [
            (one.id, one.action, one.undoes, one.undone_by) for one in meant
        ]

    # The rest.

    @property
    def now(self) -> datetime:
        return self.clock.now()

    def me(self, who: tuple[str, str | None]) -> Memory:
        if who not in self.handles:
            self.handles[who] = self.store.for_user(who[0], agent=who[1])
        return self.handles[who]

    def lives(self, who: Any) -> list[Life]:
        """What an actor can see, newest first, and at times what they cannot."""
        mine = self.models[who[0]].lives.values()
        seen = [one for one in mine if self.models[who[0]].sees(who[1], one, self.now)]
        return sorted(seen, key=lambda one: (one.recorded_at, one.id), reverse=True)

    def some(self, who: Any, at: int) -> str:
        """A memory of theirs; one time in twelve somebody's, or none at all."""
        if at % 12 == 11:
            others = [one for model in self.models.values() for one in model.lives]
            return others[at % len(others)] if others else NEVER
        mine = self.lives(who)
        return mine[at % len(mine)].id if mine else NEVER

    def some_rule(self, who: Any, at: int) -> str:
        rules = [one for one in self.lives(who) if one.kind is Kind.RULE]
        if not rules or at % 12 == 11:
            return self.some(who, at)
        active = [one for one in rules if one.status is Status.ACTIVE]
        rules = active if active and at % 4 else rules
        return rules[at % len(rules)].id

    def moments(self, span: dict[str, int]) -> dict[str, datetime]:
        return {name: self.now + timedelta(days=days) for name, days in span.items()}

    def do(
        self,
        who: Any,
        act: Callable[[Memory], Any],
        mean: Callable[[Model, Any], Any],
        agree: Callable[[Any, Any], bool] = lambda done, meant: True,
    ) -> Any:
        """Do something in the engine and in the model: both do the same or refuse alike."""
        self.acted.add(who[0])
        problem: RemembrancerError | None = None
        done: Any = NOTHING
        try:
            done = act(self.me(who))
        except RemembrancerError as error:
            problem = error
        self.models[who[0]].acting = who[1]
        try:
            meant = mean(self.models[who[0]], done)
        except Refused as error:
            refused = error.error
        else:
            refused = None
        if refused is not None:
            assert problem is not None, f"done, but must be refused as {refused.__name__}"
            assert isinstance(problem, refused), f"{problem!r} must be {refused.__name__}"
            return None
        assert problem is None, f"{problem!r}, but must be done"
        assert agree(done, meant), f"{done} must be {meant}"
        self.touched |= ids_in(done)
        return done


class Nothing:
    """Stands for the result of what was refused."""

    id = "?"

    def __getattr__(self, name: str) -> Any:
        return None if name == "changes" else self

    def __getitem__(self, at: int) -> Any:
        return self

    def __iter__(self) -> Iterator[Any]:
        return iter(())

    def __bool__(self) -> bool:
        return False


NOTHING = Nothing()


def id_of(event: Event | None) -> str:
    return event.id if event else "?"


def ids_in(done: Any) -> set[str]:
    """The memories that a result names."""
    event = getattr(done, "event", None)
    changed = {one.memory_id for one in event.changes} if event else set()
    named = getattr(done, "memory", None)
    return changed | ({named.id} if named is not None else set())


def shown(one: Record | Life) -> dict[str, Any]:
    """What a user sees of a memory."""
    names = SEEN + (TRUST if one.kind is Kind.RULE else [])
    seen = {name: getattr(one, name) for name in names}
    if one.kind is Kind.FACT:
        key = one.key if isinstance(one, Life) else one.subject and (one.subject, one.predicate)
        seen |= {"category": one.category, "key": key}
    return {"id": one.id, "kind": one.kind, "status": one.status, **seen}


@contextmanager
def sqlite_place() -> Iterator[dict[str, Any]]:
    path = tempfile.mkdtemp(
        prefix="rem-lives-", dir="/dev/shm" if Path("/dev/shm").exists() else None
    )
    yield {"path": path}
    shutil.rmtree(path)


@contextmanager
def postgres_place(address: str) -> Iterator[dict[str, Any]]:
    yield {"url": address, "pool_size": 4}
    # Jobs are for everyone: those of the next life need not look after the people of this one.
    engine = create_engine(
        address.replace("postgresql://", "postgresql+psycopg://"), poolclass=NullPool
    )
    with engine.begin() as connection:
        connection.execute(text("DELETE FROM users"))
    engine.dispose()


@pytest.mark.parametrize("engine", ["sqlite", "postgres"])
def test_lives_follow_the_model(engine: str, request: pytest.FixtureRequest) -> None:
    open_place: Callable[[], Any] = sqlite_place
    if engine == "postgres":
        address = request.getfixturevalue("postgres_server")("lives")
        open_place = partial(postgres_place, address)
    machine = type("Lives", (Lives,), {"open_place": staticmethod(open_place)})
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=500 if LONG else 3,
            stateful_step_count=50 if LONG else 25,
            derandomize=not LONG,
            phases=[Phase.generate, Phase.shrink] if LONG else [Phase.generate],
            database=None,
            deadline=None,
            print_blob=True,
            suppress_health_check=list(HealthCheck),
        ),
    )
