"""X2: what was known on a date, and what was true on a date.

The property test keeps a second set of books: for every memory the plain list of what was said
about it and when. Whatever is done, both must give the same answer about every pair of moments.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from remembrancer.clock import ManualClock
from remembrancer.config import Settings
from remembrancer.engine import Remembrancer
from remembrancer.errors import Ambiguous, Conflict, InvalidInput, NotFound, RemembrancerError
from remembrancer.memory import Memory
from remembrancer.store.sqlite import SqliteStore
from remembrancer.types import AsOf, Record, Stats
from tests.support.unconfirmed import learn_in_doubt

pytestmark = pytest.mark.feature("X2")

START = datetime(2026, 3, 2, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
FOREVER = datetime(9999, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Said:
    """What the books say about a memory from a moment on."""

    status: str
    end: datetime
    retired: datetime | None


@dataclass(eq=False)
class Entry:
    """One version of a memory in the books."""

    id: str
    content: str
    key: int | None
    begins: datetime
    recorded: datetime
    expires: datetime
    replaces: Entry | None
    log: list[tuple[datetime, Said]] = field(default_factory=list)

    @property
    def now(self) -> Said:
        return self.log[-1][1]

    @property
    def first(self) -> Entry:
        return self.replaces.first if self.replaces is not None else self

    def is_past(self, now: datetime) -> bool:
        """Whether it is neither active nor true until its successor begins."""
        holds = self.now.status == "superseded" and self.now.end > now
        return self.now.status != "active" and not holds

    def known(self, known: datetime, true: datetime | None) -> bool:
        """Whether it was known to be true at a moment; without one, then or later."""
        said = [what for at, what in self.log if at <= known]
        return (
            bool(said)
            and self.now.status != "trashed"
            and said[-1].status in ("active", "superseded")
            and known < self.expires
            and (true is None or self.begins <= true)
            and max(true or known, self.begins) < said[-1].end
        )


@dataclass(eq=False)
class Deed:
    """An event: what each entry was before (None if new) and after."""

    id: str
    changes: list[tuple[Entry, Said | None, Said]]
    undoes: Deed | None = None
    undone: bool = False


class Refused(Exception):
    """The books say that this cannot be done."""


class Books:
    """The reference: no database, no intervals, only lists."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.deeds: list[Deed] = []

    def answer(self, known: datetime, true: datetime | None, now: datetime) -> list[str]:
        trash = {one.first for one in self.entries if one.now.status == "trashed"}
        return sorted(
            one.content
            for one in self.entries
            if one.known(known, true) and not (one.first in trash and one.is_past(now))
        )

    def current(self, entry: Entry, now: datetime) -> Entry:
        """What the id of an entry stands for."""
        replaced = ("superseded", "retracted")
        if entry.now.status not in replaced or not entry.is_past(now):
            return entry
        same = [one for one in self.entries if one.first is entry.first]
        current = [one for one in same if one.now.status not in replaced]
        active = [one for one in current if one.now.status == "active"]
        return (active or current or [entry])[-1]

    def active(self, key: int | None) -> Entry | None:
        same = [one for one in self.entries if one.key == key and one.now.status == "active"]
        return same[0] if key is not None and same else None

    def in_force(self, entry: Entry) -> Entry:
        """What stands for an entry today."""
        while entry.now.status == "superseded":
            newer = [
                one
                for one in self.entries
                if one.replaces is entry and one.now.status != "retracted"
            ]
            if not newer:
                raise Refused
            entry = newer[-1]
        if entry.now.status != "active":
            raise Refused
        return entry

    def carry_out(
        self, at: datetime, changes: list[tuple[Entry, Said]], undoes: Deed | None = None
    ) -> Deed:
        """Put changes into the logs, unless two active entries would share a key."""
        deed = Deed("", [(one, one.now if one.log else None, to) for one, to in changes], undoes)
        for entry, to in changes:
            entry.log.append((at, to))
        keys = [
            one.key for one in self.entries if one.key is not None and one.now.status == "active"
        ]
        if len(keys) != len(set(keys)):
            for entry, _ in changes:
                entry.log.pop()
            raise Refused
        self.deeds.append(deed)
        return deed

    def add(self, at: datetime, new: Entry, old: Entry | None, end: datetime) -> None:
        changes = [(new, Said("active", end, None))]
        if old is not None:
            # What has not begun when it is replaced never will.
            end_of_old = new.begins if old.begins <= at else at
            ended = Said("superseded", min(old.now.end, end_of_old), at)
            changes.insert(0, (old, ended))
        self.entries.append(new)
        self.carry_out(at, changes)

    def retire(self, at: datetime, entry: Entry, status: str, allowed: tuple[str, ...]) -> None:
        if entry.now.status not in allowed:
            raise Refused
        self.carry_out(at, [(entry, Said(status, min(entry.now.end, at), at))])

    def restore(self, at: datetime, entry: Entry) -> None:
        if entry.now.status not in ("forgotten", "trashed"):
            raise Refused
        lived = [said.end for _, said in entry.log if said.status == "active"]
        self.carry_out(at, [(entry, Said("active", lived[-1], None))])

    def undo(self, at: datetime, deed: Deed | None) -> None:
        if deed is None:
            standing = [one for one in self.deeds if not one.undone and one.undoes is None]
            if not standing:
                raise Refused
            deed = standing[-1]
        if deed.undone:
            raise Refused
        changes = []
        for entry, before, after in reversed(deed.changes):
            untouched = entry.now == after if before else entry.now.status == after.status
            if not untouched:
                raise Refused
            changes.append((entry, before or Said("retracted", entry.now.end, at)))
        self.carry_out(at, changes, undoes=deed)
        deed.undone = True
        if deed.undoes is not None:
            deed.undoes.undone = False


hours = st.integers(-60, 60)
pick = st.integers(0, 1000)
steps = st.lists(
    st.one_of(
        st.tuples(
            st.just("remember"),
            st.one_of(st.none(), st.integers(0, 1)),
            st.one_of(st.none(), hours),
            st.one_of(st.none(), st.integers(1, 80)),
            st.one_of(st.none(), st.integers(1, 80)),
        ),
        st.tuples(st.just("update"), pick, st.one_of(st.none(), hours)),
        st.tuples(st.just("forget"), pick),
        st.tuples(st.just("restore"), pick),
        st.tuples(st.just("delete"), pick),
        st.tuples(st.just("undo"), st.one_of(st.none(), pick)),
        st.tuples(st.just("wait"), st.integers(1, 40)),
    ),
    min_size=3,
    max_size=22,
)


class Twins:
    """A memory and its books, led through the same story."""

    def __init__(self, me: Memory, clock: ManualClock) -> None:
        self.me = me
        self.clock = clock
        self.books = Books()
        self.number = 0

    def take(self, step: tuple[Any, ...]) -> None:
        verb, *arguments = step
        if verb == "wait":
            self.clock.advance(arguments[0] * HOUR)
        elif verb == "remember":
            self._remember(*arguments)
        elif verb == "undo":
            self._undo(*arguments)
        elif self.books.entries:
            entry = self.books.entries[arguments[0] % len(self.books.entries)]
            meant = self.books.current(entry, self.clock.now())
            if verb == "update":
                self._update(entry, arguments[1])
            elif verb == "delete" and meant.now.status in ("superseded", "retracted"):
                return  # what restoring an old version means is told in P7
            else:
                self._move(verb, entry)

    def _both(self, act: Callable[[], Any], keep: Callable[[], None]) -> Any:
        """Do it in both, or find that both refuse."""
        try:
            keep()
        except Refused:
            with pytest.raises((Conflict, NotFound)):
                act()
            return None
        written = act()
        self.books.deeds[-1].id = written.event.id
        return written

    def _entry(self, key: int | None, begins: datetime, expires: datetime) -> Entry:
        self.number += 1
        content = f"statement {self.number}"
        return Entry("", content, key, begins, self.clock.now(), expires, None)

    def _remember(
        self, key: int | None, begin: int | None, lasts: int | None, ttl: int | None
    ) -> None:
        now = self.clock.now()
        begins = now if begin is None else now + begin * HOUR
        details: dict[str, Any] = {"valid_from": begins} if begin is not None else {}
        if key is not None:
            details |= {"subject": f"key {key}", "predicate": "is"}
        if lasts is not None:
            details["valid_until"] = begins + lasts * HOUR
        if ttl is not None:
            details["ttl_days"] = ttl / 24
        new = self._entry(key, begins, now + ttl * HOUR if ttl is not None else FOREVER)
        new.replaces = self.books.active(key)
        end = begins + lasts * HOUR if lasts is not None else FOREVER
        written = self._both(
            lambda: self.me.remember(new.content, **details),
            lambda: self.books.add(now, new, new.replaces, end),
        )
        new.id = written.memory.id

    def _update(self, entry: Entry, begin: int | None) -> None:
        now = self.clock.now()
        begins = now if begin is None else now + begin * HOUR
        details: dict[str, Any] = {"valid_from": begins} if begin is not None else {}
        new = self._entry(entry.key, begins, FOREVER)

        def keep() -> None:
            new.replaces = self.books.in_force(self.books.current(entry, now))
            self.books.add(now, new, new.replaces, FOREVER)

        written = self._both(lambda: self.me.update(entry.id, new.content, **details), keep)
        if written is not None:
            new.id = written.memory.id

    def _move(self, verb: str, entry: Entry) -> None:
        now = self.clock.now()
        meant = self.books.current(entry, now)
        keep = {
            "forget": lambda: self.books.retire(now, meant, "forgotten", ("active",)),
            "delete": lambda: self.books.retire(now, meant, "trashed", ("active", "forgotten")),
            "restore": lambda: self.books.restore(now, meant),
        }[verb]
        self._both(lambda: getattr(self.me, verb)(entry.id), keep)

    def _undo(self, number: int | None) -> None:
        deeds = self.books.deeds
        deed = deeds[number % len(deeds)] if number is not None and deeds else None
        now = self.clock.now()
        self._both(
            lambda: self.me.undo(deed.id if deed else None), lambda: self.books.undo(now, deed)
        )


def listed(me: Memory, as_of: AsOf | None = None) -> list[str]:
    wanted: dict[str, Any] = {"as_of": as_of} if as_of else {}
    return sorted(one.content for one in me.list(limit=1000, **wanted).items)


def compare(me: Memory, clock: ManualClock, story: list[tuple[Any, ...]]) -> None:
    """Tell the story twice and ask both about every pair of some moments."""
    begin = clock.now()
    twins = Twins(me, clock)
    moments = {begin - HOUR, begin}
    for step in story:
        twins.take(step)
        moments.add(clock.now())
        assert listed(me) == twins.books.answer(clock.now(), None, clock.now())
    clock.advance(HOUR / 2)
    now = clock.now()
    knowns = sorted(moments)[-5:]
    trues = sorted({knowns[0], knowns[-1], begin - 30 * HOUR, begin + 7.5 * HOUR, now + 50 * HOUR})
    for known in knowns:
        for true in trues:
            assert listed(me, AsOf(known=known, true=true)) == twins.books.answer(known, true, now)
        assert listed(me, AsOf(known=known)) == twins.books.answer(known, None, now)
    for true in trues:
        assert listed(me, AsOf(true=true)) == twins.books.answer(now, true, now)
    clock.advance(100 * HOUR)


@pytest.fixture
def quick(fake_embedder: Any) -> Iterator[tuple[Remembrancer, ManualClock]]:
    """A store in this process's memory."""
    clock = ManualClock(START)
    with Remembrancer(Settings(), SqliteStore(None, clock=clock), fake_embedder, clock) as store:
        yield store, clock


unhurried = settings(
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@settings(unhurried, max_examples=40)
@given(story=steps)
def test_X2_every_story_is_told_alike_by_the_store_in_memory_and_by_plain_lists(
    quick: tuple[Remembrancer, ManualClock], story: list[tuple[Any, ...]]
) -> None:
    store, clock = quick
    compare(store.for_user(f"reader {clock.now().isoformat()}"), clock, story)


@pytest.fixture
def both(open_fake: Callable[..., Remembrancer]) -> Remembrancer:
    return open_fake()


@settings(unhurried, max_examples=12)
@given(story=steps)
def test_X2_every_story_is_told_alike_by_a_server_or_file_and_by_plain_lists(
    both: Remembrancer, clock: ManualClock, story: list[tuple[Any, ...]]
) -> None:
    compare(both.for_user(f"reader {clock.now().isoformat()}"), clock, story)


def contents(recalled: list[Any]) -> list[str]:
    return sorted(one.memory.content for one in recalled)


def test_X2_what_was_known_and_what_was_true_are_two_questions(
    me: Memory, clock: ManualClock
) -> None:
    january, february = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 2, 1, tzinfo=UTC)
    old = me.remember("Ada lives in Bern.", valid_from=january)
    before = clock.now()
    clock.advance(timedelta(days=1))
    me.update(old.memory.id, "Ada lives in Rome.", valid_from=february)

    def answer(**moments: datetime) -> list[str]:
        return contents(me.recall("where does Ada live?", as_of=AsOf(**moments)))

    assert answer(known=before) == ["Ada lives in Bern."]
    assert answer(true=january + HOUR) == ["Ada lives in Bern."]
    assert answer(true=february) == ["Ada lives in Rome."]
    assert answer(known=before, true=february) == ["Ada lives in Bern."]
    assert answer(true=january - HOUR) == []
    assert answer(known=before - HOUR) == []


def test_X2_a_plain_date_means_the_world_as_it_was_known_then(
    me: Memory, clock: ManualClock
) -> None:
    first = clock.now()
    me.remember("Ada has a cat.")
    clock.advance(HOUR)
    me.forget("cat")

    assert contents(me.recall("pets", as_of=first)) == ["Ada has a cat."]
    assert listed(me, AsOf(known=first)) == ["Ada has a cat."]
    assert me.recall("pets", as_of=clock.now()) == []


@pytest.mark.parametrize("mode", ["hybrid", "semantic", "keyword"])
def test_X2_every_mode_of_recall_looks_back(mode: str, me: Memory, clock: ManualClock) -> None:
    tea = me.remember("Ada drinks green tea.")
    then = clock.now()
    clock.advance(HOUR)
    me.update(tea.memory.id, "Ada drinks black coffee.")

    assert contents(me.recall("green tea drinks", mode=mode, as_of=then)) == [
        "Ada drinks green tea."
    ]
    assert contents(me.recall("green tea drinks", mode=mode)) == ["Ada drinks black coffee."]


def test_X2_what_was_taken_back_was_still_known_in_between(me: Memory, clock: ManualClock) -> None:
    me.remember("Ada is allergic to nuts.")
    then = clock.now()
    clock.advance(HOUR)
    me.undo()
    clock.advance(HOUR)

    assert listed(me) == []
    assert listed(me, AsOf(known=then)) == ["Ada is allergic to nuts."]
    assert listed(me, AsOf(true=then)) == []


def test_X2_something_that_will_be_true_is_known_now_but_not_true_now(
    me: Memory, clock: ManualClock
) -> None:
    moving = clock.now() + timedelta(days=30)
    me.remember("Ada lives in Lima.", valid_from=moving)

    assert listed(me) == ["Ada lives in Lima."]
    assert listed(me, AsOf(true=clock.now())) == []
    assert listed(me, AsOf(true=moving)) == ["Ada lives in Lima."]


def test_X2_the_record_that_looking_back_gives_is_the_one_that_was_known(
    me: Memory, clock: ManualClock
) -> None:
    tea = me.remember("Ada drinks green tea.").memory
    then = clock.now()
    clock.advance(HOUR)
    me.forget(tea.id)

    (seen,) = me.list(as_of=then).items

    assert (seen.status, seen.valid_until, seen.retired_at) == ("active", None, None)


def test_X2_looking_back_sees_the_confidence_of_then_not_of_now(
    me: Memory, clock: ManualClock
) -> None:
    rain = me.remember("It is raining at Ada's place.", permanence="ephemeral")
    clock.advance(timedelta(days=20))
    then = clock.now()
    faded = me.recall("rain")
    clock.advance(timedelta(days=1))
    me.confirm(rain.memory.id)

    assert faded == []
    assert me.recall("rain", as_of=then) == []
    assert contents(me.recall("rain")) == ["It is raining at Ada's place."]


def test_X2_deleting_hides_a_memory_from_the_past_too_until_it_is_restored(
    me: Memory, clock: ManualClock
) -> None:
    tin = me.remember("The key is under the mat.")
    then = clock.now()
    clock.advance(HOUR)
    me.delete(tin.memory.id)
    assert listed(me, AsOf(known=then)) == []

    me.restore(tin.memory.id)
    assert listed(me, AsOf(known=then)) == ["The key is under the mat."]


def test_X2_a_memory_that_came_and_went_was_known_only_while_it_was_there(
    me: Memory, clock: ManualClock
) -> None:
    tea = me.remember("Ada drinks green tea.").memory
    seen: list[tuple[datetime, bool]] = [(clock.now(), True)]
    for act, known in (
        (me.forget, False),
        (me.restore, True),
        (me.forget, False),
        (me.restore, True),
    ):
        clock.advance(HOUR)
        act(tea.id)
        seen.append((clock.now(), known))
    clock.advance(HOUR)

    answers = [(then, bool(listed(me, AsOf(known=then)))) for then, _ in seen]

    assert answers == seen


KEYS = (("ada", "home"), ("ada", "drink"))
deeds = st.lists(
    st.one_of(
        st.tuples(st.just("remember"), st.integers(0, 1)),
        st.tuples(st.just("update"), pick),
        st.tuples(st.just("forget"), pick),
        st.tuples(st.just("restore"), pick),
        st.tuples(st.just("link"), pick),
        st.tuples(st.just("unlink"), pick),
        st.tuples(st.just("helpful"), pick),
        st.tuples(st.just("undo"), pick),
        st.tuples(st.just("say"), pick),
    ),
    min_size=4,
    max_size=10,
)


def act(me: Memory, verb: str, number: int, ids: list[str]) -> None:
    """Do something to the memories; what is refused changes nothing."""
    one, other = ids[number % len(ids)], ids[0]
    match verb:
        case "remember":
            subject, predicate = KEYS[number]
            content = f"Statement {len(ids)}."
            ids.append(me.remember(content, subject=subject, predicate=predicate).memory.id)
        case "update":
            ids.append(me.update(one, f"Statement {len(ids)}.").memory.id)
        case "link" | "unlink":
            getattr(me, verb)(one, other)
        case "undo":
            me.undo()
        case "say":
            me.append([{"role": "user", "content": f"Words {number}."}], "talk")
        case _:
            getattr(me, verb)(one)


def read_all(me: Memory, ids: list[str], as_of: datetime | None) -> dict[str, Any]:
    """What every reading verb gives, without counting as a use."""
    then: Any = {} if as_of is None else {"as_of": as_of}
    return {
        "list": me.list(limit=1000, **then).items,
        "recall": contents(me.recall("statement", mode="keyword", limit=50, used=False, **then)),
        "get": [me.get(one, **then) for one in ids],
        "fact": [me.fact(*key, **then) for key in KEYS],
        "links": [me.links(one, **then) for one in ids],
        "history": [me.history(one, **then) for one in ids],
        "stats": me.stats(**then),
        "turns": me.turns("talk", **then),
        "context": me.context(**then).text,
    }


EVERY_DEED = [
    *[("remember", 0), ("remember", 1), ("link", 1), ("link", 2), ("helpful", 0), ("undo", 0)],
    *[("unlink", 1), ("say", 1), ("update", 1), ("forget", 2), ("restore", 2), ("say", 2)],
]


@settings(unhurried, max_examples=8)
@example(story=EVERY_DEED)
@given(story=deeds)
def test_X2_every_reading_verb_gives_what_it_gave_then(
    both: Remembrancer, clock: ManualClock, story: list[tuple[str, int]]
) -> None:
    me = both.for_user(f"reader {clock.now().isoformat()}")
    ids = [me.remember("Confirm before sending.", kind="rule").memory.id]
    seen = []
    for verb, number in story:
        with suppress(RemembrancerError):
            act(me, verb, number, ids)
        seen.append((clock.now(), list(ids), read_all(me, ids, None)))
        clock.advance(30 * HOUR)

    for moment, known, expected in seen:
        found = read_all(me, known, moment)
        for verb, value in expected.items():
            assert found[verb] == value, verb


def test_X2_a_moment_before_everything_is_empty_and_no_error(
    both: Remembrancer, clock: ManualClock
) -> None:
    me, before = both.for_user("ada"), clock.now() - HOUR
    kept = me.remember("Statement.", subject="ada", predicate="home").memory
    me.append([{"role": "user", "content": "Words."}], "talk")

    for then in (AsOf(known=before), AsOf(true=before)):
        assert me.list(as_of=then).items == ()
        assert me.recall("statement", as_of=then) == []
        assert me.fact("ada", "home", as_of=then) is None
        assert me.links(kept.id, as_of=then) == ()
        history = me.history(kept.id, as_of=then)
        assert (history.versions, history.events, history.links) == ((), (), ())
        assert me.stats(as_of=then).by_kind == {}
        assert me.turns("talk", as_of=then) == ()
        assert me.context("Statement", as_of=then).text == ""
        with pytest.raises(NotFound):
            me.get(kept.id, as_of=then)


def test_X2_of_several_versions_the_one_that_was_true_then_is_read(
    both: Remembrancer, clock: ManualClock
) -> None:
    me = both.for_user("ada")
    january, february = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 2, 1, tzinfo=UTC)
    key = {"subject": "ada", "predicate": "home"}
    me.remember("Lives in Bern.", valid_from=january, **key)
    clock.advance(HOUR)
    rome = me.remember("Lives in Rome.", valid_from=february, **key).memory

    for moment, content in ((january + HOUR, "Lives in Bern."), (february, "Lives in Rome.")):
        then = AsOf(true=moment)
        assert me.get(rome.id, as_of=then).content == content
        found = me.fact(*key.values(), as_of=then)
        assert found is not None
        assert found.content == content
        assert [one.content for one in me.history(rome.id, as_of=then).versions] == [content]
        assert me.stats(as_of=then).by_kind == {"fact": {"active": 1}}


def test_X2_the_team_tells_what_was_approved_by_then(
    open_fake: Callable[..., Remembrancer], clock: ManualClock
) -> None:
    store = open_fake("assistant")
    me, before = store.for_user("ada"), clock.now()
    clock.advance(HOUR)
    proposed = me.propose("The proxy pool uses ports 9000 to 9999.")
    clock.advance(HOUR)
    pending = clock.now()
    clock.advance(HOUR)
    store.review("root").approve(str(proposed.fact_id))
    approved = clock.now()
    clock.advance(HOUR)

    for moment, number in ((before, 0), (pending, 0), (approved, 1)):
        assert len(me.team("The proxy pool uses ports 9000 to 9999.", as_of=moment)) == number
        assert len(me.list_team(as_of=moment).items) == number


def test_X2_filters_apply_to_the_state_of_then(both: Remembrancer, clock: ManualClock) -> None:
    me = both.for_user("ada")
    rule = me.remember("Answer in one sentence first.", kind="rule", tags=["short"]).memory
    me.remember("Ask before sending a message.", kind="rule")
    before = clock.now()
    clock.advance(HOUR)
    me.promote(rule.id)

    def listed(as_of: datetime | None = None, **filters: Any) -> list[str]:
        return [one.id for one in me.list(kinds=["rule"], as_of=as_of, **filters).items]

    def recalled(as_of: datetime | None = None, **filters: Any) -> list[str]:
        found = me.recall("Answer in one sentence", kinds=["rule"], as_of=as_of, **filters)
        return [one.memory.id for one in found]

    for ask in (listed, recalled):
        assert rule.id in ask(before, maturities=["candidate"])
        assert ask(before, maturities=["established"]) == []
        assert ask(maturities=["established"]) == [rule.id]
        assert ask(before, tags=["short"]) == [rule.id]
    assert len(listed(before, maturities=["candidate"])) == 2
    clock.advance(timedelta(days=200))
    assert rule.id in listed(before, minimum_confidence=0.4)
    assert rule.id not in listed(minimum_confidence=0.4)


def test_X2_pages_of_the_past_are_full(both: Remembrancer, clock: ManualClock) -> None:
    me = both.for_user("ada")
    rules = [me.remember(f"Rule number {number}", kind="rule").memory for number in range(9)]
    before = clock.now()
    clock.advance(HOUR)
    for one in rules[::2]:
        me.promote(one.id)

    found: list[str] = []
    cursor = None
    while True:
        page = me.list(maturities=["candidate"], as_of=before, limit=4, cursor=cursor)
        found += [one.id for one in page.items]
        if (cursor := page.cursor) is None:
            break
        assert len(page.items) == 4
    assert sorted(found) == sorted(one.id for one in rules)


def test_X2_a_status_of_today_selects_nothing_in_the_past(me: Memory) -> None:
    kept = me.remember("Statement.").memory
    assert [one.id for one in me.list(status="active", as_of=kept.recorded_at).items] == [kept.id]
    for then in (AsOf(known=kept.recorded_at), AsOf(true=kept.recorded_at)):
        with pytest.raises(InvalidInput, match="omit as_of or status"):
            me.list(status="forgotten", as_of=then)


def test_X2_the_team_tells_the_wording_and_the_decision_of_then(
    open_memory: Callable[..., Remembrancer], clock: ManualClock
) -> None:
    store = open_memory("assistant")
    me, review = store.for_user("ada"), store.review("root")
    first = "The proxy pool uses ports 9000 to 9999."
    later = "The proxy pool uses ports 7000 to 7999."
    fact_id = str(me.propose(first).fact_id)
    steps: list[tuple[Callable[[], object], list[tuple[str, float]]]] = [
        (lambda: None, []),
        (lambda: review.approve(fact_id), [(first, 3)]),
        (lambda: review.edit(fact_id, later), [(later, 3)]),
        (lambda: review.set_importance(fact_id, 5), [(later, 5)]),
        (lambda: review.approve(fact_id), [(later, 5)]),
        (lambda: review.reject(fact_id), []),
        (lambda: review.edit(fact_id, first), []),
        (lambda: review.reopen(fact_id), []),
        (lambda: review.approve(fact_id), [(first, 5)]),
    ]
    moments: list[datetime] = []
    for step, _ in steps:
        clock.advance(HOUR)
        step()
        moments.append(clock.now())

    for moment, (_, expected) in zip(moments, steps, strict=True):
        for then in (moment, moment + HOUR / 2):
            listed = me.list_team(as_of=then).items
            assert [(one.content, one.importance) for one in listed] == expected
            for words in (first, later):
                recalled = me.team(words, as_of=AsOf(known=then))
                assert [(one.content, one.importance) for one in recalled] == expected

    review.delete(fact_id)
    assert me.list_team(as_of=moments[2]).items == ()


def test_X2_a_team_fact_is_found_by_its_wording_of_then(
    open_memory: Callable[..., Remembrancer], clock: ManualClock
) -> None:
    store = open_memory("assistant")
    me, review = store.for_user("ada"), store.review("root")
    fact_id = str(me.propose("Releases are cut from the main branch.").fact_id)
    review.approve(fact_id)
    before = clock.now()
    clock.advance(HOUR)
    review.edit(fact_id, "The coffee machine is cleaned every Friday.")

    (found,) = me.team("How is a release made?", as_of=before)
    assert found.content == "Releases are cut from the main branch."
    assert me.team("When is the coffee machine cleaned?", as_of=before) == []
    assert me.team("How is a release made?") == []


def test_X2_what_had_expired_then_is_decided_by_the_expiry_of_then(
    both: Remembrancer, clock: ManualClock
) -> None:
    me = both.for_user("ada")
    code = me.remember("The gate code is 12.", ttl_days=3).memory
    answers: list[tuple[datetime, int]] = []

    def look() -> None:
        answers.append((clock.now(), len(me.list().items)))
        clock.advance(24 * HOUR)

    def look_back(then: datetime) -> int:
        (listed,) = {
            len(me.list(as_of=then).items),
            len(me.list(as_of=AsOf(known=then, true=then)).items),
            len(me.recall("gate code", as_of=then, mode="keyword")),
            me.stats(as_of=then).by_kind["fact"].get("active", 0),
        }
        return listed

    for _ in range(5):
        look()
    confirmed = me.confirm(code.id).event
    assert confirmed is not None
    look()
    assert [number for _, number in answers] == [1, 1, 1, 0, 0, 1]
    assert [(then, look_back(then)) for then, _ in answers] == answers

    me.undo(confirmed.id)
    look()
    assert answers[-1][1] == 0
    assert [(then, look_back(then)) for then, _ in answers] == answers


@pytest.mark.parametrize("key", [("Ada", "home"), ("ada", "city"), ("ada", "lives in")])
def test_X2_the_fact_of_then_is_found_under_any_name_of_its_attribute(
    both: Remembrancer, clock: ManualClock, key: tuple[str, str]
) -> None:
    me = both.for_user("ada")
    me.remember("Ada lives in Bern.", subject="ada", predicate="home")
    then = clock.now()
    clock.advance(HOUR)
    me.remember("Ada lives in Rome.", subject="ada", predicate="home")
    me.remember("Ada drinks tea.", subject="ada", predicate="drink")

    for as_of, content in (
        (None, "Ada lives in Rome."),
        (AsOf(known=then), "Ada lives in Bern."),
        (AsOf(true=then), "Ada lives in Bern."),
        (clock.now(), "Ada lives in Rome."),
    ):
        found = me.fact(*key, as_of=as_of)
        assert found is not None
        assert found.content == content
    assert me.fact("bo", key[1], as_of=then) is None


def test_X2_the_fact_of_then_is_the_one_that_an_announced_change_had_made_the_value(
    both: Remembrancer, clock: ManualClock
) -> None:
    me = both.for_user("ada")
    key = {"subject": "ada", "predicate": "home"}
    me.remember("Ada lives in Bern.", **key)
    rome = me.remember("Ada lives in Rome.", valid_from=clock.now() + 48 * HOUR, **key).memory
    moments = [clock.now()]
    answers = [me.fact(*key.values())]
    clock.advance(HOUR)
    me.forget(rome.id)
    moments.append(clock.now())
    answers.append(me.fact(*key.values()))
    clock.advance(HOUR)

    assert [one and one.content for one in answers] == ["Ada lives in Rome.", None]
    assert [me.fact(*key.values(), as_of=one) for one in moments] == answers


def test_X2_a_session_shows_what_it_showed_then(both: Remembrancer, clock: ManualClock) -> None:
    me = both.for_user("ada")
    seen: list[tuple[datetime, tuple[Record, ...]]] = []

    def look() -> None:
        clock.advance(HOUR)
        seen.append((clock.now(), me.session_memories("talk")))
        clock.advance(HOUR)

    look()
    trip = me.remember("Went swimming.", kind="episode", session_id="talk").memory
    look()
    doubtful = learn_in_doubt(me, "Grows olives.", "ironic", session_id="talk")
    look()
    fond = me.remember("Likes the sea.", session_id="elsewhere").memory
    me.link(fond.id, trip.id, "derived_from")
    me.remember("Has a pass.", session_id="talk", valid_until=clock.now() + 5 * HOUR)
    look()
    me.update(fond.id, "Likes the lake.")
    look()
    clock.advance(8 * 24 * HOUR)
    look()
    me.confirm(doubtful.id)
    look()
    me.forget(trip.id)
    look()

    assert [len(found) for _, found in seen] == [0, 1, 2, 4, 3, 2, 2, 1]
    assert {one.status for one in seen[5][1]} == {"active", "unconfirmed"}
    for moment, found in seen:
        assert me.session_memories("talk", as_of=moment) == found


def test_X2_lists_and_counts_agree_on_what_is_in_force(
    both: Remembrancer, clock: ManualClock
) -> None:
    me = both.for_user("ada")
    day = 24 * HOUR
    me.remember("Has a gym pass.", valid_until=clock.now() + day)
    me.remember("The gate code is 12.", ttl_days=2)
    me.remember("It is raining.", permanence="ephemeral")
    me.remember("Lives in Lima.", permanence="permanent")
    counts: list[tuple[datetime, int, Stats]] = []
    for _ in range(4):
        stats, listed = me.stats(), me.list(kinds=["fact"], status="active").items
        counts.append((clock.now(), len(listed), stats))
        assert me.survey().scopes == {"global": {"fact": len(listed)}}
        assert me.scopes() == {"global": len(listed)}
        clock.advance(clock.now() - counts[0][0] + day)
    clock.advance(300 * day)

    assert [number for _, number, _ in counts] == [4, 3, 2, 2]
    counts.append((clock.now(), 1, me.stats()))
    for moment, number, stats in counts:
        assert stats.by_kind["fact"]["active"] == number
        assert sum(stats.by_category.values()) == sum(stats.by_scope.values()) == number
        assert sum(stats.by_confidence.values()) == number
        assert sum(stats.by_permanence["fact"].values()) == number
        assert me.stats(as_of=moment) == stats
        assert len(me.list(as_of=moment).items) == number


@pytest.mark.parametrize("style", ["sections", "note", "hot_set"])
def test_X2_a_prompt_gets_the_memories_and_the_team_facts_that_it_got_then(
    open_memory: Callable[..., Remembrancer], clock: ManualClock, style: str
) -> None:
    store = open_memory("assistant")
    me, review = store.for_user("ada"), store.review("root")
    prompts = [
        "Where does Ada live?",
        "Which ports does the proxy pool use?",
        "Thanks, good night!",
    ]
    home: list[str] = []
    proposed: list[str] = []
    steps: list[Callable[[], object]] = [
        lambda: me.remember("Ada is allergic to nuts"),
        lambda: home.append(me.remember("Ada lives in Oslo").memory.id),
        lambda: proposed.append(str(me.propose("The proxy pool uses ports 9000 to 9999.").fact_id)),
        lambda: review.approve(proposed[0]),
        lambda: me.update(home[0], "Ada lives in Lima"),
        lambda: review.edit(proposed[0], "The proxy pool uses ports 7000 to 7999."),
    ]
    seen: list[tuple[datetime, list[str]]] = []
    for step in steps:
        step()
        seen.append((clock.now(), [me.context(one, style=style).text for one in prompts]))
        clock.advance(HOUR)

    assert len({texts[0] for _, texts in seen}) > 2
    assert len({texts[1] for _, texts in seen}) > 2
    for moment, texts in seen:
        assert [me.context(one, style=style, as_of=moment).text for one in prompts] == texts


def test_X2_words_name_a_memory_among_those_of_then(both: Remembrancer, clock: ManualClock) -> None:
    me = both.for_user("ada")
    first = me.remember("Ada drinks tea.").memory
    then = clock.now()
    clock.advance(HOUR)
    me.remember("Bo drinks tea.")
    learn_in_doubt(me, "Cy drinks coffee.")
    doubted = clock.now()
    clock.advance(HOUR)
    me.remember("Di drinks coffee.")

    assert me.get("drinks tea", as_of=then).id == first.id
    assert [one.id for one in me.history("drinks tea", as_of=then).versions] == [first.id]
    assert me.links("drinks tea", as_of=then) == ()
    assert me.get("coffee", as_of=doubted).content == "Cy drinks coffee."
    with pytest.raises(Ambiguous):
        me.get("drinks tea", as_of=doubted)
    with pytest.raises(NotFound):
        me.get("coffee", as_of=then)


def test_X2_links_of_then_name_no_memory_in_the_trash(
    both: Remembrancer, clock: ManualClock
) -> None:
    me = both.for_user("ada")
    cup, tea = (me.remember(one).memory for one in ("The red cup is hers.", "Ada drinks tea."))
    me.link(tea.id, cup.id)
    moments = [AsOf(known=clock.now()), AsOf(true=clock.now())]
    clock.advance(HOUR)
    newer = me.update(cup.id, "The blue cup is hers.").memory
    moments.append(AsOf(known=clock.now()))
    assert [len(me.links(tea.id, as_of=then)) for then in moments] == [1, 0, 1]
    clock.advance(HOUR)

    me.delete(newer.id)

    for then in moments:
        assert me.links(tea.id, as_of=then) == ()
        assert me.history(tea.id, as_of=then).links == ()


def test_X2_an_undo_that_was_undone_later_stood_then(
    both: Remembrancer, clock: ManualClock
) -> None:
    me = both.for_user("ada")
    tea = me.remember("Ada drinks tea.").memory
    seen = []
    for _ in range(4):
        last = me.history(tea.id).events[-1]
        clock.advance(HOUR)
        (me.undo(last.id) if seen else me.forget(tea.id))
        seen.append((clock.now(), me.history(tea.id).events))
    for moment, events in seen:
        assert me.history(tea.id, as_of=moment).events == events
