"""Pages, words, agents, teams, many callers at once, and strings that come back as they went."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest

from remembrancer import AsyncMemory, Kind, RemoteMemory
from remembrancer.clock import ManualClock
from remembrancer.errors import InvalidInput, NotAllowed
from remembrancer.types import Owner, Principal, Record
from tests.client.conftest import Connect
from tests.support.http_server import Served

pytestmark = pytest.mark.postgres_long

HOSTILE = [
    "'; DROP TABLE facts; --",
    '<script>alert(1)</script> & "quotes" \\ back\\nslash',
    "\u202eright to left\u202c, zero\u200bwidth, a\u0301 combined, \ufeff",
    "👩‍👩‍👧‍👦 𝒯𝑒𝒶 日本語 עברית العربية \U0010fffd",
    "line\r\nfeed\ttab\x0bvertical\x1b[31m\x7f\u2028\u2029end",
    "%00%2e%2e%2f ../../etc ?a=b&c=d#e {{7*7}} ${x}",
    "ŉ ﬁ ſ K Å İ ı ß ẞ",
]


def test_hostile_strings_come_back_byte_by_byte(served: Served, remote: RemoteMemory) -> None:
    local = served.engine.for_user("ada")
    for number, text in enumerate(HOSTILE):
        kept = remote.remember(
            f"{number}: {text}.", tags=[f"x{number}"], metadata={text: [text]}, body=text
        ).memory
        assert local.get(kept.id) == remote.get(kept.id)
        assert kept.content == f"{number}: {text}."
        assert kept.metadata == {text: [text]}
        turns = remote.append([{"role": "user", "content": f"said {text}."}], f"s{number}")
        assert turns == remote.turns(f"s{number}") == local.turns(f"s{number}")
        assert turns[0].content == f"said {text}."


def test_a_conversation_may_have_any_name(remote: RemoteMemory) -> None:
    plain = ("..", ".", "%2e", "?", "#a", "a b", "日本", "a\\b", "a&b=c", ";")
    slashed = ("a/b c?d#e", "/", "a/turns", "a%2Fb", "../a")
    for name in (*plain, *slashed):
        remote.append([{"role": "user", "content": "Hello"}], name)
        assert remote.session(name).id == name
        assert len(remote.turns(name)) == 1
        assert remote.rename(name, "Called").title == "Called"
    assert {one.id for one in remote.sessions().items} == {*plain, *slashed}


def test_an_agent_with_a_slash_cannot_be_named(served: Served, connect: Connect) -> None:
    with pytest.raises(InvalidInput, match="slash"):
        connect(served, agent="health/diet")


def test_pages_of_all_kinds_are_as_here(
    served: Served, connect: Connect, clock: ManualClock
) -> None:
    remote, local = connect(served), served.engine.for_user("ada")
    for number in range(9):
        kind = (Kind.FACT, Kind.RULE, Kind.EPISODE)[number % 3]
        local.remember(f"Number {number} is {number * 7}", kind=kind)
        if number % 2:
            clock.advance(timedelta(seconds=1))
    for limit in (1, 2, 4, 9, 10):
        for kinds in ([], ["fact"], ["rule", "episode"]):
            wanted = {"kinds": kinds, "limit": limit}
            assert all_pages(remote, **wanted) == all_pages(local, **wanted)
    since = clock.now() - timedelta(seconds=2)
    assert remote.list(recorded_from=since) == local.list(recorded_from=since)


def all_pages(me: Any, **wanted: Any) -> list[tuple[Record, ...]]:
    page = me.list(**wanted)
    pages = [page.items]
    while page.cursor:
        page = me.list(**wanted, cursor=page.cursor)
        pages.append(page.items)
    return pages


def test_more_turns_than_a_page_has_come_all(remote: RemoteMemory) -> None:
    remote.append([{"role": "user", "content": f"Turn {n}"} for n in range(1100)], "long")
    assert [one.position for one in remote.turns("long")] == [*range(1100)]


def test_an_agent_has_its_own_scope(served: Served, connect: Connect, tenant: str) -> None:
    health = connect(served, agent="health")
    local = served.engine.for_user("ada", agent="health")
    health.remember("Ada sleeps badly", kind="episode")
    assert health.principal == Principal(Owner(tenant, "ada"), "health", "rest")
    assert health.list() == local.list()
    assert health.stats() == local.stats() == connect(served).stats(scope="health")
    assert not connect(served, agent="travel").list().items


def test_a_key_for_an_agent_is_for_no_other(served: Served) -> None:
    import remembrancer

    secret = served.engine.create_key("ada", agent="health").secret
    with remembrancer.connect(served.address, secret, agent="travel") as travel:
        with pytest.raises(NotAllowed):
            travel.recall("sleep")


def test_a_team_is_told_and_tells(serve: Callable[..., Served], connect: Connect) -> None:
    served = serve("assistant")
    ports = "The proxy pool uses ports 9000 to 9999."
    verdicts = [connect(served, name).propose(ports, importance=4).verdict for name in ("a", "b")]
    assert verdicts == ["pending", "approved"]
    local, remote = served.engine.for_user("eve"), connect(served, "eve", agent="health")
    assert remote.team("Which ports?") == local.team("Which ports?") != []
    assert remote.team("Which ports?", limit=1) == local.team("Which ports?", limit=1)


def test_what_is_learned_is_there(served: Served, remote: RemoteMemory) -> None:
    remote.learn([{"role": "user", "content": "Remember that I am allergic to peanuts."}])
    served.engine.flush()
    (fact,) = remote.list(kinds=["fact"]).items
    assert "peanuts" in fact.content
    (evidence,) = fact.evidence
    assert evidence.quote in remote.turns(evidence.session_id)[0].content


def test_many_threads_share_one_memory(remote: RemoteMemory) -> None:
    with ThreadPoolExecutor(8) as pool:
        written = [*pool.map(lambda n: remote.remember(f"Box {n} holds {n * 13}"), range(40))]
    assert {one.id for one in remote.list(limit=100).items} == {one.memory.id for one in written}


def test_its_verbs_can_be_awaited(remote: RemoteMemory) -> None:
    async def main() -> str:
        memory = AsyncMemory(remote)
        await memory.remember("Ada plays the cello")
        return (await memory.recall("music"))[0].memory.content

    assert asyncio.run(main()) == "Ada plays the cello"


def test_what_a_server_does_not_offer_is_refused(remote: RemoteMemory) -> None:
    fact = remote.remember("Ada drinks tea").memory
    for refused in (
        lambda: remote.get(fact.id, used=True),
        lambda: remote.list(kinds=["turn"]),
        lambda: remote.recall("tea", subject="ada"),
        lambda: remote.remember("Tea", source="imported"),
        lambda: remote.update(fact.id, "Ada drinks mate", confidence=0.5),
        lambda: remote.append([{"role": "user", "content": "x"}], "a", scope="health"),
        lambda: remote.propose("x", origin="assistant"),
    ):
        with pytest.raises(InvalidInput):
            refused()
    assert remote.get(fact.id) == fact
