"""What is done to a memory on a server comes out as it does here, ids apart."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from datetime import timedelta
from difflib import unified_diff
from enum import Enum
from pprint import pformat
from typing import Any

import pytest

from remembrancer import AsOf, Kind, Memory, RemembrancerError, Status
from remembrancer.clock import ManualClock
from remembrancer.errors import Ambiguous
from remembrancer.types import Owner, Principal, Recollection
from tests.client.conftest import Connect
from tests.support.http_server import Served

Scenario = Callable[[Any, ManualClock], Iterator[object]]
ID = re.compile(r"\b[a-z]+_[0-9a-hjkmnp-tv-z]{26}\b")
COUNTED = ("recall_count", "recalled_at")
"""Written when there is time, so that it may or may not be there."""


def facts(me: Memory, clock: ManualClock) -> Iterator[object]:
    yield me.remember("Ada lives in Oslo", subject="eve", predicate="city", tags=["home"])
    clock.advance(timedelta(hours=1))
    before = clock.now()
    clock.advance(timedelta(hours=1))
    yield me.remember("Ada lives in Lima", subject="eve", predicate="city", importance=8)
    yield me.remember("ada lives in lima", subject="eve", predicate="city")
    yield me.remember(
        "My wifi password is hunter2, the router is in the hall",
        category="profile",
        metadata={"floor": 2, "none": None, "rooms": ["hall", {"light": 1.5}]},
        valid_from=clock.now() - timedelta(days=3),
        ttl_days=90,
        summary="router",
        body="It is grey.",
    )
    yield me.recall("where does she live?", limit=2, as_of=AsOf(known=before))
    yield me.recall("where does she live?", mode="keyword", tags=["home"])
    yield me.recall("router", kinds=[Kind.FACT], categories=["profile"], now=clock.now())
    yield me.context("Where is the router?", budget=300)
    yield me.context("Where did she live?", now=before)
    yield me.context(session="monday", style="hot_set")
    yield me.get("Lima")
    yield me.fact("eve", "city"), me.fact("eve", "city", scope="health"), me.fact("eve", "name")
    yield me.get(me.get("Lima").id, as_of=clock.now())
    yield me.history("Lima")
    yield me.update("router", "The router is in the cellar", tags=("cellar",))
    yield me.confirm("cellar")
    yield me.link("Lima", "cellar", "supports")
    yield me.links("cellar")
    yield me.unlink("Lima", "cellar", "supports")
    yield me.links("cellar")
    gone = me.forget("where the router stands in the cellar")
    yield gone
    yield me.restore("cellar")
    yield me.delete("cellar")
    yield me.list(status=Status.TRASHED)
    yield me.undo()
    yield me.undo(me.activity(limit=1).items[0].id)
    yield me.delete_many(["Lima"])
    yield me.undo()
    yield me.forget_all(kinds=[Kind.FACT], tags=["home"])
    yield me.delete_all(kinds=[Kind.RULE])
    me.forget(me.remember("The keel is long").memory.id)
    yield me.delete("keel is long", for_good=True)
    yield me.delete_many([me.remember("The mast is short").memory.id], for_good=True)
    yield me.stats()
    yield me.stats(scope="health")
    yield me.simulate(30)
    yield me.standing(me.get("Lima")), round(me.confidence(me.get("Lima")), 4)


def rules_and_episodes(me: Memory, clock: ManualClock) -> Iterator[object]:
    rule = me.remember("Confirm before sending messages", kind=Kind.RULE).memory
    yield rule
    yield me.helpful("before sending", session="monday")
    yield me.harmful(rule.id, "It was in a hurry.")
    yield me.promote("before sending")
    yield me.demote("before sending")
    yield me.history(rule.id)
    yield round(me.effectiveness(me.get(rule.id)), 4)  # type: ignore[arg-type]
    yield me.disable("before sending")
    yield me.restore("before sending")
    for day in range(3):
        yield me.remember(f"Ada went for a run, day {day}", kind="episode")
        clock.advance(timedelta(days=1))
    since = clock.now() - timedelta(days=2, hours=1)
    yield me.list(kinds=["episode"], recorded_from=since)
    yield me.list(kinds=["rule"], maturities=["candidate"])
    yield me.list(subject="eve")
    yield me.list(categories=["profile"], maturities=["candidate"])
    yield me.audit()
    yield me.repair(["stale", "orphan"])
    yield me.plan_consolidation()
    yield me.consolidate()


def tidying(me: Memory, clock: ManualClock) -> Iterator[object]:
    me.remember("The boat lies in Porto", scope="health")
    clock.advance(timedelta(days=1))
    me.remember("The boat lies in Porto", scope="global")
    plans = me.plan_consolidation()
    yield plans, [one.diff() for one in plans]
    for one in plans:
        yield me.consolidate(one)
    yield me.list(minimum_importance=0)
    yield me.audit(["duplicate"])


def conversations(me: Memory, clock: ManualClock) -> Iterator[object]:
    said: list[Any] = [
        {"role": "user", "content": "We sail to Porto.", "said_at": clock.now(), "speaker": "Ada"},
        {"role": "assistant", "content": "When?", "metadata": {"a": 1}},
    ]
    yield me.append(said, "trip: ..%2F?#", title="Porto")
    yield me.append(said, "..")
    yield me.append(said)
    clock.advance(timedelta(minutes=1))
    yield me.learn(said, "other")
    yield me.turns("trip: ..%2F?#"), me.turns(".."), me.turns("nothing")
    yield me.session("other"), me.count_turns("other"), me.count_turns("nothing")
    yield me.rename("other", "The other one")
    yield me.archive("other")
    yield me.sessions(status="archived")
    yield me.archive("other", back=True)
    yield me.close("other")
    yield me.delete_session("other")
    yield me.sessions(trashed=True)
    yield me.restore_session("other")
    yield me.rejected()
    yield me.view("other"), me.view("other", budget=1)
    yield me.delete_session("other", for_good=True)
    yield len(me.delete_all(for_good=True).ids)


def mistakes(me: Memory, clock: ManualClock) -> Iterator[object]:
    me.remember("Tea is green")
    me.remember("Tea is black")
    fact = me.get("green").id
    gone = me.delete("black").event
    for wrong in (
        lambda: me.get("fact_" + "0" * 26),
        lambda: me.get("nothing like it"),
        lambda: me.get("  "),
        lambda: me.undo("event_" + "0" * 26),
        lambda: me.undo(gone.id if gone else None) and me.undo(gone.id if gone else None),
        lambda: me.confirm("nothing"),
        lambda: me.restore(fact),
        lambda: me.remember("Tea", category="no such"),
        lambda: me.remember(" "),
        lambda: me.remember("Tea", kind="potato"),
        lambda: me.remember("half \ud800"),
        lambda: me.remember("Tea", metadata={"a": object()}),  # type: ignore[dict-item]
        lambda: me.recall("tea", limit=0),
        lambda: me.recall(""),
        lambda: me.list(limit=1001),
        lambda: me.list(cursor="?"),
        lambda: me.list(kinds=["potato"]),
        lambda: me.list(status="\ud800"),
        lambda: me.session("nothing"),
        lambda: me.session(" "),
        lambda: me.rename("nothing", "x"),
        lambda: me.turns("\n"),
        lambda: me.append([{"role": "king", "content": "x"}], "a"),
        lambda: me.simulate(0),
        lambda: me.link(fact, fact),
        lambda: me.link(fact, "green", "potato"),
    ):
        with pytest.raises(RemembrancerError) as caught:
            wrong()
        yield type(caught.value)
    for unclear in (me.forget, me.confirm, me.helpful):
        with pytest.raises(Ambiguous) as several:
            unclear("Tea is")
        yield str(several.value), several.value.candidates


SCENARIOS = [facts, rules_and_episodes, tidying, conversations, mistakes]


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda one: one.__name__)
def test_a_server_gives_what_the_library_gives(
    served: Served, connect: Connect, clock: ManualClock, tenant: str, scenario: Scenario
) -> None:
    start = clock.now()
    here = served.engine.for_principal(Principal(Owner(tenant, "ada"), surface="rest"))
    expected = [*compared(scenario(here, clock), served)]
    clock.advance(start - clock.now())
    found = [*compared(scenario(connect(served, "bob"), clock), served)]
    assert len(found) == len(expected)
    for there, local in zip(found, expected, strict=True):
        assert there == local, "\n".join(unified_diff(local, there, lineterm=""))


def compared(results: Iterator[object], served: Served) -> Iterator[list[str]]:
    """Results in plain words, each id by when it was first seen."""
    known: dict[str, str] = {}

    def number(found: re.Match[str]) -> str:
        return known.setdefault(found[0], f"id {len(known)}")

    for one in results:
        yield pformat(plain(one, number)).splitlines()
        served.engine.flush()


def plain(value: Any, number: Callable[[re.Match[str]], str]) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        names = [one.name for one in fields(value) if one.name not in COUNTED]
        return type(value), [(name, plain(getattr(value, name), number)) for name in names]
    if isinstance(value, Recollection):
        return plain((list(value), value.sure, value.late), number)
    if isinstance(value, Mapping):  # of JSON, where the name of a status is as good as a status
        told = {name: str(one) if isinstance(one, Enum) else one for name, one in value.items()}
        return {str(name): plain(one, number) for name, one in told.items()}
    if isinstance(value, list | tuple):
        return type(value)(plain(one, number) for one in value)
    if type(value) is str:
        return ID.sub(number, value)
    return float(value) if type(value) is int else value
