"""On a bad way: what is asked is asked again, what is changed is changed once, and errors help."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from remembrancer import RemembrancerError, RemoteMemory, connect
from remembrancer.errors import (
    Conflict,
    EmbeddingFailed,
    InvalidInput,
    NotAllowed,
    NotFound,
    StoreUnavailable,
    Unavailable,
)
from remembrancer.llm import ModelUnavailable
from tests.client.conftest import Connect
from tests.client.unreliable import Fault, Way, says, unreliable
from tests.support.http_server import Served

pytestmark = pytest.mark.postgres_long

LATER = says("503 Service Unavailable", "Retry-After: 0")
BUSY = says("429 Too Many Requests", "Retry-After: 1")
AT_WORK = says("409 Conflict", "Retry-After: 0")


@pytest.fixture
def place(tmp_path: Path) -> str:
    """One engine: the way to a server is the same for both."""
    return str(tmp_path / "memory")


@pytest.fixture
def way(served: Served) -> Iterator[Way]:
    with unreliable(served.address) as found:
        yield found


@pytest.fixture
def remote(served: Served, connect: Connect, way: Way) -> RemoteMemory:
    return connect(served, address=way.address)


@pytest.mark.parametrize(
    "faults",
    [[Fault.DROP, Fault.DROP], [Fault.LOSE, Fault.LOSE], [LATER, Fault.LOSE], [AT_WORK], [BUSY]],
    ids=["dropped", "lost", "later", "at work", "busy"],
)
def test_a_write_that_is_repeated_happens_once(
    remote: RemoteMemory, way: Way, faults: list[Fault | bytes]
) -> None:
    way.faults[:] = faults
    written = remote.remember("Ada drinks tea")
    assert written.event is not None
    assert len(way.requests) == len(faults) + 1
    assert len({*way.keys()}) == 1
    assert way.keys()[0]
    assert [one.id for one in remote.activity().items] == [written.event.id]


def test_turns_whose_answer_was_lost_are_there_once(remote: RemoteMemory, way: Way) -> None:
    way.faults[:] = [Fault.LOSE]
    remote.append([{"role": "user", "content": "Hello"}])
    (session,) = remote.sessions().items
    assert len(remote.turns(session.id)) == 1


def test_each_write_has_a_key_of_its_own_and_reading_has_none(
    remote: RemoteMemory, way: Way
) -> None:
    remote.remember("Ada drinks tea")
    remote.remember("Ada drinks tea")
    remote.recall("tea")
    remote.context("tea")
    remote.list()
    keys = way.keys()
    assert keys[0] != keys[1]
    assert {*keys[2:]} == {""}


def test_what_is_read_is_asked_for_again(remote: RemoteMemory, way: Way) -> None:
    way.faults[:] = [Fault.DROP, LATER]
    assert remote.list().items == ()
    way.faults[:] = [LATER, Fault.DROP]
    assert remote.recall("tea") == []


@pytest.mark.parametrize("fault", [Fault.DROP, Fault.HANG])
def test_after_the_last_try_the_error_says_what_to_do(
    served: Served, connect: Connect, way: Way, fault: Fault
) -> None:
    remote = connect(served, address=way.address, timeout=0.5, retries=1)
    way.faults[:] = [fault] * 4
    with pytest.raises(Unavailable, match="check the address, and that the server is running") as e:
        remote.list()
    assert "may have been made" not in str(e.value)
    with pytest.raises(Unavailable, match="may have been made"):
        remote.remember("Ada drinks tea")
    assert len(way.requests) == 4


def test_what_never_arrived_was_not_done() -> None:
    with connect("http://127.0.0.1:1", "rem_x", retries=0) as nowhere:
        with pytest.raises(Unavailable) as caught:
            nowhere.remember("Ada drinks tea")
    assert "may have been made" not in str(caught.value)


def test_nobody_waits_longer_than_they_said(served: Served, connect: Connect, way: Way) -> None:
    remote = connect(served, address=way.address, timeout=2)
    way.faults[:] = [says("503 Service Unavailable", "Retry-After: 3600")]
    started = time.monotonic()
    with pytest.raises(Unavailable):
        remote.list()
    assert time.monotonic() - started < 60
    assert len(way.requests) == 1


def test_a_server_that_says_no_is_not_asked_again(remote: RemoteMemory, way: Way) -> None:
    with pytest.raises(NotFound):
        remote.session("nothing")
    way.faults[:] = [says("503 Service Unavailable"), says("500 Internal Server Error")]
    with pytest.raises(Unavailable, match="503"):
        remote.list()
    with pytest.raises(RemembrancerError, match="look at its log"):
        remote.stats()
    assert len(way.requests) == 3


@pytest.mark.parametrize(
    ("status", "code", "expected"),
    [
        (400, "bad_input", InvalidInput),
        (409, "conflict", Conflict),
        (412, "precondition_failed", Conflict),
        (413, "too_large", InvalidInput),
        (422, "idempotency_mismatch", InvalidInput),
        (503, "embedding_failed", EmbeddingFailed),
        (503, "store_unavailable", StoreUnavailable),
        (503, "model_unavailable", ModelUnavailable),
        (404, "a_code_of_later_days", NotFound),
        (500, "a_code_of_later_days", RemembrancerError),
    ],
)
def test_a_problem_is_the_error_of_its_code(
    remote: RemoteMemory, way: Way, status: int, code: str, expected: type
) -> None:
    way.faults[:] = [says(f"{status} No", body=f'{{"code": "{code}", "detail": "Do this."}}')]
    with pytest.raises(RemembrancerError) as caught:
        remote.stats()
    assert type(caught.value) is expected
    assert (caught.value.code, caught.value.status) == (code, status)
    assert str(caught.value) == "Do this."


@pytest.mark.parametrize(
    "answer",
    ["", "<html>", "[]", "null", "{}", '{"items": [{}], "cursor": null}', '{"items": 5}'],
)
def test_an_answer_of_a_stranger_is_an_error(remote: RemoteMemory, way: Way, answer: str) -> None:
    for verb in (remote.list, remote.stats, remote.activity):
        way.faults[:] = [says("200 OK", body=answer)]
        with pytest.raises(RemembrancerError, match="check that the address"):
            verb()


def test_a_redirect_is_not_followed(remote: RemoteMemory, way: Way, served: Served) -> None:
    way.faults[:] = [says("307 Temporary Redirect", f"Location: {served.address}/api/remember")]
    with pytest.raises(RemembrancerError, match="give connect\\(\\) its new address"):
        remote.remember("Ada drinks tea")
    assert len(way.requests) == 1


def test_an_unknown_key_opens_nothing(served: Served) -> None:
    with connect(served.address, "rem_unknown") as stranger:
        with pytest.raises(NotAllowed, match="key-create") as caught:
            stranger.recall("tea")
    assert caught.value.code == "unauthenticated"


def test_after_disconnecting_the_error_says_so(remote: RemoteMemory) -> None:
    with remote:
        remote.stats()
    with pytest.raises(Unavailable, match="connect again"):
        remote.stats()
