"""X2 from afar: a server answers about the past as the library does, at any moment."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from remembrancer import AsOf, Memory, RemoteMemory
from remembrancer.clock import ManualClock
from remembrancer.errors import RemembrancerError
from remembrancer.types import Owner, Principal
from tests.client.conftest import Connect
from tests.client.test_same_as_local import plain
from tests.support.http_server import Served

pytestmark = pytest.mark.feature("X2")

Ask = Callable[[Any, AsOf | None], object]
HOME = {"subject": "ada", "predicate": "home"}

ASKED: dict[str, Ask] = {
    "recall": lambda me, then: me.recall("where does Ada live?", as_of=then),
    "context": lambda me, then: me.context("Where does Ada live?", as_of=then),
    "list": lambda me, then: me.list(as_of=then),
    "list filtered": lambda me, then: me.list(tags=["home"], minimum_confidence=0.3, as_of=then),
    "list rules": lambda me, then: me.list(maturities=["candidate"], as_of=then),
    "get": lambda me, then: me.get("Lima", as_of=then),
    "fact": lambda me, then: me.fact(*HOME.values(), as_of=then),
    "links": lambda me, then: me.links("Lima", as_of=then),
    "history": lambda me, then: me.history("Lima", as_of=then),
    "stats": lambda me, then: me.stats(as_of=then),
    "turns": lambda me, then: me.turns("move", as_of=then),
    "count_turns": lambda me, then: me.count_turns("move", as_of=then),
    "session_memories": lambda me, then: me.session_memories("move", as_of=then),
    "team": lambda me, then: me.team("Which ports does the proxy use?", as_of=then),
    "list_team": lambda me, then: me.list_team(as_of=then),
}


@pytest.fixture
def served(serve: Callable[..., Served]) -> Served:
    return serve("assistant")


@pytest.fixture
def local(served: Served, tenant: str) -> Memory:
    return served.engine.for_principal(Principal(Owner(tenant, "ada"), surface="rest"))


@pytest.fixture
def moments(served: Served, local: Memory, clock: ManualClock) -> list[AsOf | None]:
    """A story, and a moment after each of its steps."""
    me, review = local, served.engine.review("root")
    ids: list[str] = []
    steps: list[Callable[[], object]] = [
        lambda: None,
        lambda: me.append([{"role": "user", "content": "We are moving."}], "move"),
        lambda: me.remember(
            "Ada lives in Oslo",
            tags=["home"],
            session_id="move",
            valid_from=datetime(2026, 1, 1, tzinfo=UTC),
            **HOME,
        ),
        lambda: ids.append(me.remember("Pack the books first", kind="rule").memory.id),
        lambda: ids.append(str(me.propose("The proxy pool uses ports 9000 to 9999.").fact_id)),
        lambda: review.approve(ids[1]),
        lambda: me.remember(
            "Ada lives in Lima", tags=["home"], valid_from=datetime(2026, 2, 1, tzinfo=UTC), **HOME
        ),
        lambda: me.link("Lima", ids[0]),
        lambda: me.append([{"role": "assistant", "content": "Where to?"}], "move"),
        lambda: review.edit(ids[1], "The proxy pool uses ports 7000 to 7999."),
        lambda: me.promote(ids[0]),
        lambda: me.unlink("Lima", ids[0]),
        lambda: me.confirm("Lima"),
        lambda: review.reject(ids[1]),
        lambda: me.forget("Lima"),
    ]
    after: list[datetime] = []
    for step in steps:
        clock.advance(timedelta(hours=1))
        step()
        after.append(clock.now())
    said = [datetime(2026, month, 15, tzinfo=UTC) for month in (1, 2)]
    served.engine.flush()
    return [
        None,
        *(AsOf(known=one) for one in after),
        *(AsOf(true=one) for one in (*said, after[2])),
        *(AsOf(known, true) for known in (after[5], after[7]) for true in said),
    ]


@pytest.mark.parametrize("name", ASKED)
def test_X2_a_server_answers_about_the_past_as_the_library_does(
    served: Served, local: Memory, connect: Connect, moments: list[AsOf | None], name: str
) -> None:
    remote = connect(served, "ada")
    answers = [answer(local, ASKED[name], then) for then in moments]
    assert [answer(remote, ASKED[name], then) for then in moments] == answers
    assert len({str(one) for one in answers}) > 1, "the story must matter"


def answer(me: Memory | RemoteMemory, ask: Ask, then: AsOf | None) -> object:
    try:
        return plain(ask(me, then), lambda found: found[0])
    except RemembrancerError as error:
        return type(error), str(error)
