"""X5: remove the application's filter, and the database still returns nothing of others."""

from __future__ import annotations

import pytest
from sqlalchemy import Table, true

from remembrancer.clock import ManualClock
from remembrancer.engine import Remembrancer
from remembrancer.errors import NotFound
from remembrancer.memory import Memory
from remembrancer.store.reader import SqlReader
from remembrancer.store.team import SqlTeamReader
from remembrancer.store.transaction import SqlTransaction
from remembrancer.types import Owner, Tenant
from tests.support.full_memory import fill
from tests.support.opening import Open

pytestmark = pytest.mark.feature("X5")

OWN = "Bob likes chess."
PORTS = "The proxy pool uses ports 9000 to 9999."


@pytest.fixture
def store(open_memory: Open) -> Remembrancer:
    return open_memory("assistant")


@pytest.fixture
def unfiltered(monkeypatch: pytest.MonkeyPatch) -> None:
    """No statement names an owner or a tenant any more."""

    def everyone(self: object, table: Table) -> object:
        return true()

    for kind in (SqlReader, SqlTransaction, SqlTeamReader):
        monkeypatch.setattr(kind, "_own", everyone)


def test_X5_reading_without_the_filter_shows_ones_own_and_nothing_else(
    store: Remembrancer, clock: ManualClock, request: pytest.FixtureRequest
) -> None:
    ada, bob = store.for_user("ada"), store.for_user("bob")
    fill(ada, clock)
    own = bob.remember(OWN).memory
    theirs = ada.list().items[0].id

    request.getfixturevalue("unfiltered")

    assert [one.id for one in bob.list(limit=1000).items] == [own.id]
    for mode in ("semantic", "keyword", "hybrid"):
        found = bob.recall("Where does Ada live? chess", mode=mode, limit=100)
        assert {one.memory.id for one in found} <= {own.id}
    assert bob.sessions().items == bob.rejected().items == bob.turns("chat/1") == ()
    assert bob.stats().by_kind == {"fact": {"active": 1}}
    assert len(bob.activity().items) == 1
    assert "Ada" not in bob.context("Where does Ada live?").text
    for verb in (bob.get, bob.history, bob.links, bob.restore):
        with pytest.raises(NotFound):
            verb(theirs)


def test_X5_writing_without_the_filter_changes_nothing_of_others(
    store: Remembrancer, clock: ManualClock, request: pytest.FixtureRequest
) -> None:
    ada, bob = store.for_user("ada"), store.for_user("bob")
    fill(ada, clock)
    store.flush()
    bob.remember(OWN)
    before = stored(ada)

    request.getfixturevalue("unfiltered")
    bob.forget_all()
    bob.undo()
    bob.delete_all()
    bob.append([{"role": "user", "content": "Where is the kettle?"}], "chat/1")
    bob.delete_session("chat/1")

    assert stored(ada) == before


def test_X5_whoever_has_stored_nothing_finds_nothing(
    store: Remembrancer, clock: ManualClock, unfiltered: None
) -> None:
    fill(store.for_user("ada"), clock)

    eve = store.for_user("eve")
    assert eve.list().items == ()
    assert eve.recall("tea") == []
    assert eve.stats().events == 0


def test_X5_a_team_without_the_filter_is_still_one_tenants(
    store: Remembrancer, tenant: str, unfiltered: None
) -> None:
    for name in ("ada", "bob"):
        store.for_user(name).propose(PORTS)
    other = f"{tenant}-other"

    assert store.for_user("ada").team("proxy ports")
    assert store.for_user("ada", tenant=other).team("proxy ports") == []
    assert store.review(tenant=other).list().items == ()
    with store._store.open_team_reader(Tenant(other)) as reader:
        assert reader.read_version() == 0


def stored(me: Memory) -> list[object]:
    owner = Owner(me.principal.owner.tenant, me.principal.owner.user)
    with me._call.store.dump(owner) as rows:
        return [repr(row) for row in rows]
