"""The server resolves words to a memory, so that the client need not read the listings."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import httpx
import pytest

from remembrancer import Memory, RemoteMemory
from remembrancer.clock import ManualClock
from remembrancer.errors import Ambiguous, InvalidInput, NotFound
from tests.client.conftest import Connect
from tests.client.unreliable import Way, unreliable
from tests.support.http_server import Served

pytestmark = pytest.mark.postgres_long


@pytest.fixture
def way(served: Served) -> Iterator[Way]:
    with unreliable(served.address) as found:
        yield found


@pytest.fixture
def remote(served: Served, connect: Connect, way: Way) -> RemoteMemory:
    return connect(served, address=way.address)


@pytest.fixture
def local(served: Served) -> Memory:
    return served.engine.for_user("ada")


@pytest.mark.feature("X2")
def test_words_are_looked_up_among_the_memories_of_then(
    remote: RemoteMemory, local: Memory, clock: ManualClock
) -> None:
    wanted = local.remember("Ada drinks tea.").memory
    then = clock.now()
    clock.advance(timedelta(hours=1))
    local.remember("Bo drinks tea.")
    assert remote.get("drinks tea", as_of=then) == local.get("drinks tea", as_of=then)
    assert [one.id for one in remote.history("drinks tea", as_of=then).versions] == [wanted.id]
    assert remote.links("drinks tea", as_of=then) == ()
    with pytest.raises(Ambiguous):
        remote.get("drinks tea")


def test_words_among_300_memories_take_two_requests(
    remote: RemoteMemory, local: Memory, way: Way
) -> None:
    for number in range(300):
        text = f"Shelf {number:03} holds {number * 7} bolts."
        local.remember(text, subject="shelf", predicate=f"{number}")
    wanted = local.get("Shelf 123")
    assert remote.get("Shelf 123") == wanted
    assert len(way.requests) == 1
    remote.confirm("Shelf 123")
    assert len(way.requests) == 3
    assert remote.delete("Shelf 123").memory.id == wanted.id
    assert len(way.requests) == 5
    remote.list(limit=1000)
    assert len(way.requests) == 6


@pytest.mark.parametrize(
    "words",
    [
        "facts",
        "stats",
        "lookup",
        "either/or",
        "../api",
        "two\nlines",
        "50% ?a=b#c",
        "日本語",
        "x" * 300,
    ],
)
def test_words_may_be_anything_that_a_memory_holds(
    remote: RemoteMemory, local: Memory, words: str
) -> None:
    kept = local.remember(f"It says {words} here.").memory
    local.remember("Something else altogether.")
    assert remote.get(words) == local.get(words)
    assert remote.get(words, as_of=kept.recorded_at).id == kept.id
    assert remote.history(words) == local.history(words)
    assert remote.update(words, "It says nothing.").memory.id != kept.id


def test_errors_are_those_of_a_local_memory(remote: RemoteMemory, local: Memory) -> None:
    local.remember("Tea is green")
    local.remember("Tea is black")
    for words, expected in (("Tea is", Ambiguous), ("coffee", NotFound), (" ", InvalidInput)):
        for memory in (remote, local):
            with pytest.raises(expected) as caught:
                memory.delete(words)
            assert type(caught.value) is expected
    with pytest.raises(Ambiguous) as several:
        remote.confirm("Tea is")
    assert {one.content for one in several.value.candidates} == {"Tea is green", "Tea is black"}


def test_only_memories_with_the_status_of_the_verb_are_meant(
    remote: RemoteMemory, local: Memory
) -> None:
    local.remember("Tea is green")
    black = local.remember("Tea is black").memory
    local.forget(black.id)
    with pytest.raises(NotFound):
        remote.delete("black")
    assert remote.update("Tea is", "Tea is white").memory.content == "Tea is white"
    assert remote.restore("black").memory.id == black.id


def test_a_path_takes_words_too(served: Served, local: Memory) -> None:
    kept = local.remember("Tea is green").memory
    local.remember("Tea is black")
    secret = served.engine.create_key("ada").secret
    headers = {"Authorization": f"Bearer {secret}"}
    with httpx.Client(base_url=served.address, headers=headers) as rest:
        assert rest.get("/api/memory/is%20green").json()["id"] == kept.id
        assert rest.post("/api/memory/is%20green/confirm").json()["memory"]["id"] == kept.id
        assert rest.get("/api/memory/is%20green/history").json()["versions"][0]["id"] == kept.id
        assert rest.get("/api/memory/coffee").status_code == 404
        unclear = rest.delete("/api/memory/Tea%20is")
        assert unclear.status_code == 409
        assert len(unclear.json()["candidates"]) == 2
        assert rest.delete("/api/memory/is%20green").json()["memory"]["id"] == kept.id


def test_words_find_nothing_of_another_user(served: Served, connect: Connect) -> None:
    served.engine.for_user("bob").remember("Bob drinks coffee")
    with pytest.raises(NotFound):
        connect(served).get("coffee")
