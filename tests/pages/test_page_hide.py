"""P9: the beacon of a page that is left closes its chat, and what is new is learned from once."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from remembrancer.memory import Memory
from remembrancer.types import Action, SessionStatus
from tests.support.http_server import Served
from tests.support.visitor import Visitor

pytestmark = pytest.mark.feature("P9")

CLOSE = "/api/sessions/session_a/close"


@pytest.fixture
def served(serve: Callable[..., Served]) -> Served:
    return serve("advisor")


@pytest.fixture
def me(served: Served) -> Memory:
    return served.engine.for_user("ada")


@pytest.fixture
def ada(served: Served) -> Visitor:
    return Visitor(served, "ada")


def learned(me: Memory) -> int:
    return sum(one.action is Action.LEARNED for one in me.activity(limit=500).items)


def test_P9_the_beacon_closes_the_chat_and_learns_from_what_is_new(
    served: Served, ada: Visitor, me: Memory
) -> None:
    ada.send("/chat/session_a", text="I'm allergic to peanuts.")
    assert me.session("session_a").status is SessionStatus.ACTIVE
    for _ in range(2):
        assert ada.client.post(CLOSE).status_code == 202
        served.engine.flush()
    assert me.session("session_a").status is SessionStatus.IDLE
    assert [one.content for one in me.list().items] == ["Is allergic to peanuts"]
    assert learned(me) == 1

    ada.send("/chat/session_a", text="I live in Oslo.")
    assert me.session("session_a").status is SessionStatus.ACTIVE
    ada.client.post(CLOSE)
    served.engine.flush()
    assert learned(me) == 2


def test_P9_no_other_site_and_nobody_else_closes_it(
    served: Served, ada: Visitor, me: Memory
) -> None:
    ada.send("/chat/session_a", text="I'm allergic to peanuts.")
    foreign = ada.client.post(CLOSE, headers={"Origin": "https://evil.test"})
    assert foreign.status_code == 403
    assert Visitor(served, "bob").client.post(CLOSE).status_code == 404
    assert me.session("session_a").status is SessionStatus.ACTIVE


def test_P9_looking_at_a_chat_leaves_it_as_it_is(ada: Visitor, me: Memory) -> None:
    ada.send("/chat/session_a", text="I'm allergic to peanuts.")
    me.close("session_a")
    ada.get("/chat/session_a")
    assert me.session("session_a").status is SessionStatus.IDLE
