"""What was learned in doubt is reviewed on a server as it is here."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

import pytest

from remembrancer import AsyncMemory, RemoteMemory, Status
from tests.support.http_server import Served
from tests.support.unconfirmed import learn_in_doubt

pytestmark = pytest.mark.postgres_long


def contents(remote: RemoteMemory, status: str | None = None) -> list[str]:
    return sorted(one.content for one in remote.list(status=status).items)


def test_it_is_listed_kept_corrected_and_forgotten(served: Served, remote: RemoteMemory) -> None:
    me = served.engine.for_user("ada")
    for words in ("Lives in Lisbon", "Owns a boat", "Owns a bike", "Has a dog"):
        learn_in_doubt(me, words)
    assert contents(remote) == []
    listed = remote.list(status="unconfirmed").items
    assert {one.metadata["doubt"] for one in listed} == {"hypothetical"}

    assert remote.confirm("in lisbon").memory.status is Status.ACTIVE
    remote.update("a bike", "Owns a tricycle")
    remote.forget("a boat")
    remote.delete("a dog")

    assert contents(remote) == ["Lives in Lisbon", "Owns a tricycle"]
    assert contents(remote, "unconfirmed") == []


def test_the_time_of_a_prompt_is_sent(served: Served, remote: RemoteMemory) -> None:
    served.engine.for_user("ada").remember("Lives in Bergen")
    before = datetime(2020, 5, 1, tzinfo=UTC)

    assert "Bergen" in remote.context("home").text
    assert "Bergen (from " in remote.context("home", now=before).text
    given = remote.context("home").memories
    assert remote.context("home", exclude=given).text == ""
    asked = asyncio.run(AsyncMemory(remote).context("home", now=before))
    assert "Bergen (from " in asked.text
