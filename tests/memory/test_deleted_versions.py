"""P7, X2: a deleted memory is in the trash with its past versions, and is destroyed with them."""

from __future__ import annotations

from datetime import timedelta

import pytest

from remembrancer.clock import ManualClock
from remembrancer.engine import Remembrancer
from remembrancer.errors import NotFound
from remembrancer.memory import Memory
from remembrancer.types import AsOf, Status
from tests.support.files import bytes_of

pytestmark = pytest.mark.feature("P7", "X2")

HOUR = timedelta(hours=1)
TOPIC = {"subject": "aardvark", "predicate": "home"}


@pytest.fixture
def versions(me: Memory, clock: ManualClock) -> list[str]:
    """Three versions of a memory, an hour apart."""
    ids = []
    for place in ("in the shed", "in the barn", "at the zoo"):
        ids.append(me.remember(f"The pangolin lives {place}.", **TOPIC).memory.id)
        clock.advance(HOUR)
    return ids


def read(me: Memory, clock: ManualClock) -> set[str]:
    """What listing, recall and context tell of it, in any way but by its id."""
    then = clock.now() - 2 * HOUR - HOUR / 2
    pages = [me.list(status=one, limit=100) for one in Status if one is not Status.TRASHED]
    pages += [me.list(as_of=one) for one in (AsOf(known=then), AsOf(true=then), AsOf(then, then))]
    found = {one.content for page in pages for one in page.items}
    found |= {one.memory.content for one in me.recall("where does the pangolin live?", as_of=then)}
    told = me.context("Where did the pangolin live earlier, before the zoo?").text
    told += me.context("Where does the pangolin live?", as_of=then).text
    return {one for one in found if "pangolin" in one} | ({told} if "pangolin" in told else set())


def test_the_trash_hides_past_versions_and_restoring_brings_them_back(
    me: Memory, versions: list[str], clock: ManualClock
) -> None:
    before = read(me, clock)
    assert any("shed" in one for one in before)

    me.delete(versions[0])

    assert read(me, clock) == set()
    assert [one.id for one in me.list(status="trashed").items] == versions[-1:]
    with pytest.raises(NotFound):
        me.get(versions[0], as_of=clock.now() - 2 * HOUR)
    assert [one.id for one in me.history(versions[-1]).versions] == versions, "its owner may see it"
    me.restore(versions[1])
    assert read(me, clock) == before


def test_what_leaves_the_trash_leaves_no_version_and_no_byte(
    store: Remembrancer, me: Memory, versions: list[str], clock: ManualClock, place: str
) -> None:
    me.remember("The tapir stays.")
    me.delete(versions[1])
    clock.advance(timedelta(days=31))

    store.run_job("trash_purge")

    assert set(me.several(versions)) == set()
    assert read(me, clock) == set()
    assert [one.content for one in me.list().items] == ["The tapir stays."]
    assert not [one for one in me.activity(limit=100).items if "pangolin" in str(one)]
    if not place.startswith("postgresql"):  # there, rows go; their bytes with the next vacuum
        assert b"pangolin" not in bytes_of(place)
