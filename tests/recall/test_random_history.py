"""X2: after a random sequence of changes, every reading verb gives what it gave after each step."""

from __future__ import annotations

import random
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any

import pytest

from remembrancer.clock import ManualClock
from remembrancer.engine import Remembrancer
from remembrancer.errors import RemembrancerError
from remembrancer.memory import Memory
from remembrancer.types import AsOf, Kind

pytestmark = pytest.mark.feature("X2")

DAY = timedelta(days=1)
STEP = timedelta(hours=7)
STEPS = 60
LOOK_EVERY = 6
SAMPLE = 1
KEYS = (("ada", "home"), ("ada", "drink"), ("bo", "job"))
SPELLINGS = (*KEYS, ("Ada", "city"), ("ada", "lives in"))
RELATIONS = ("related_to", "supports", "derived_from")
ON_ONE = ("forget", "restore", "confirm", "confirm", "helpful", "promote", "demote", "disable")
DEEDS = (
    *("plain", "keyed", "keyed", "earlier", "later", "until", "ttl", "ttl", "rule", "episode"),
    *("update", "update", "link", "link", "unlink", "undo", "undo any", "say", *ON_ONE),
)


class Story:
    """A memory to which random things happen; what is refused changes nothing."""

    def __init__(self, me: Memory, clock: ManualClock, seed: int) -> None:
        self.me = me
        self.clock = clock
        self.chance = random.Random(seed)
        self.ids = [me.remember("Statement 0.").memory.id]

    def take(self, number: int) -> None:
        deed, words = self.chance.choice(DEEDS), f"Statement {number}."
        with suppress(RemembrancerError):
            self._do(deed, words)
        listed = self.me.list(limit=1000).items
        self.ids = list(dict.fromkeys([*self.ids, *(one.id for one in listed)]))

    def _do(self, deed: str, words: str) -> None:
        me, one, other = self.me, self.chance.choice(self.ids), self.chance.choice(self.ids)
        relation = self.chance.choice(RELATIONS)
        match deed:
            case "link" | "unlink":
                getattr(me, deed)(one, other, relation)
            case "undo":
                me.undo()
            case "undo any":
                me.undo(self.chance.choice(me.activity(limit=20).items).id)
            case "say":
                me.append([{"role": "user", "content": words}], "talk")
            case "update":
                me.update(one, words)
            case _ if deed in ON_ONE:
                getattr(me, deed)(one)
            case _:
                me.remember(words, **self._describe(deed))

    def _describe(self, deed: str) -> dict[str, Any]:
        subject, predicate = self.chance.choice(KEYS)
        key, days = {"subject": subject, "predicate": predicate}, self.chance.randint(1, 9) * DAY
        match deed:
            case "keyed":
                return {**key, "tags": ["home"], "session_id": "talk"}
            case "earlier":
                return {**key, "valid_from": self.clock.now() - days}
            case "later":
                return {**key, "valid_from": self.clock.now() + days}
            case "until":
                return {"valid_until": self.clock.now() + days}
            case "ttl":
                return {"ttl_days": days / DAY}
            case "rule" | "episode":
                return {"kind": deed, "session_id": "talk"}
        return {}


def read(me: Memory, ids: list[str], as_of: datetime | None) -> dict[str, object]:
    then: Any = {} if as_of is None else {"as_of": as_of}
    found: dict[str, object] = {
        "list": me.list(limit=1000, **then).items,
        "list turns": me.list(limit=1000, kinds=[Kind.TURN], **then).items,
        "list tagged": me.list(limit=1000, tags=["home"], minimum_confidence=0.5, **then).items,
        "stats": me.stats(**then),
        "turns": me.turns("talk", **then),
        "session": me.session_memories("talk", **then),
    }
    for key in SPELLINGS:
        found[f"fact {key}"] = me.fact(*key, **then)
    for one in ids:
        found[f"get {one}"] = me.get(one, **then)
        found[f"links {one}"] = me.links(one, **then)
        found[f"history {one}"] = me.history(one, **then)
    return found


def test_X2_after_a_random_history_the_past_reads_as_it_did(
    open_fake: Callable[..., Remembrancer], clock: ManualClock
) -> None:
    me = open_fake().for_user("ada")
    story = Story(me, clock, seed=1)
    seen = []
    for number in range(1, STEPS + 1):
        story.take(number)
        if number % LOOK_EVERY == 0:
            ids = story.chance.sample(story.ids, min(SAMPLE, len(story.ids)))
            seen.append((clock.now(), ids, read(me, ids, None)))
        clock.advance(STEP)

    for moment, ids, answers in seen:
        then = read(me, ids, moment)
        for verb, answer in answers.items():
            assert then[verb] == answer, (verb, moment)
        assert me.list(limit=1000, as_of=AsOf(known=moment)).items == answers["list"]
