"""A22, X4: after an erasure nothing of a person is left, and a receipt says where was searched."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from remembrancer.clock import ManualClock
from remembrancer.engine import Remembrancer
from remembrancer.erasure.receipts import parse_receipt
from remembrancer.errors import NotAllowed, NotFound, UnknownPerson
from remembrancer.testing import ModelEndpoint, says
from tests.support.files import bytes_below, bytes_of
from tests.support.opening import Open
from tests.support.unconfirmed import learn_in_doubt
from tests.support.waiting import soon

pytestmark = pytest.mark.feature("A22", "X4")

CANARY = "quetzalcoatlus"
PORTS = "The proxy pool uses ports 9000 to 9999."
CACHE = "The build cache lives for 14 days."


def live(store: Remembrancer, user: str = "ada") -> None:
    """Something of everything for one person."""
    me = store.for_user(user, agent="helper")
    kept = me.remember(f"My {CANARY} sleeps in the blue shed behind the house.")
    moved = me.update(kept.memory.id, f"My {CANARY} sleeps in the green shed behind the house.")
    other = me.remember(f"I feed the {CANARY} at seven in the evening.")
    me.link(moved.memory.id, other.memory.id)
    me.append([{"role": "user", "content": f"The {CANARY} eats only fish, you know."}], "chat")
    me.learn(
        [{"role": "user", "content": f"I think the {CANARY} is not well today, is it?"}], "second"
    )
    me.delete(me.remember(f"The {CANARY} has a red collar.").memory.id)
    learn_in_doubt(me, f"The {CANARY} may have kittens.")
    me.recall(CANARY)
    store.flush()


def test_X4_no_byte_is_left_and_others_keep_theirs(open_memory: Open, place: str) -> None:
    store = open_memory("assistant")
    live(store)
    bob = store.for_user("bob")
    bob.remember("My rowing boat lies at the north jetty.")
    before = bytes_of(place)
    assert CANARY.encode() in before

    receipt = store.erase("ada")

    after = bytes_of(place)
    owner = store.for_user("ada").principal.owner
    for trace in (CANARY, owner.id):
        assert trace.encode() not in after
    assert receipt.clean
    assert receipt.sought > 10
    assert receipt.removed["facts"] >= 3
    assert receipt.removed["turns"] == 2
    assert all(one.bytes > 0 or one.place == "rows" for one in receipt.searched)
    assert owner not in store.owners()
    assert [one.content for one in bob.list().items] == ["My rowing boat lies at the north jetty."]
    assert not store.for_user("ada").list().items


def test_X4_a_receipt_is_signed_and_can_be_kept(open_memory: Open) -> None:
    store = open_memory("assistant")
    live(store)

    receipt = store.erase("ada")

    assert store.verify_receipt(parse_receipt(receipt.to_json()))
    assert not store.verify_receipt(replace(receipt, sought=1))
    assert not store.verify_receipt(replace(receipt, user="bob"))
    assert CANARY not in receipt.to_json()


def test_X4_the_dry_run_counts_and_changes_nothing(open_memory: Open) -> None:
    store = open_memory("assistant")
    live(store)
    store.for_user("ada").propose(PORTS)

    there = store.inventory("ada")

    assert there.rows["turns"] == 2
    assert (there.contributions, there.team_facts) == (1, 1)
    assert store.inventory("ada") == there
    assert store.for_user("ada").recall(CANARY)
    assert store.inventory("nobody").empty


def test_X4_who_was_erased_is_nobody_and_may_begin_anew(open_memory: Open) -> None:
    store, other = open_memory("assistant"), open_memory("assistant")
    live(store)
    assert other.for_user("ada").recall(CANARY)  # in the memory of the other process

    store.erase("ada")

    assert not other.for_user("ada").recall(CANARY)
    assert not other.for_user("ada").list().items
    with pytest.raises(NotFound):
        store.erase("ada")
    other.for_user("ada").remember("I have moved to the coast.")
    for one in (store, other):
        (found,) = one.for_user("ada").recall("where do I live?")
        assert found.memory.content == "I have moved to the coast."


def test_X4_what_happens_by_itself_brings_nobody_back(open_memory: Open) -> None:
    store, other = open_memory("assistant"), open_memory("assistant")
    live(store)
    other.for_user("ada").recall(CANARY)  # a count that waits to be written

    store.erase("ada")
    other.flush()
    other.tick()

    owner = store.for_user("ada").principal.owner
    assert owner not in other.owners()
    with pytest.raises(UnknownPerson), other._store.open_writer(owner, create=False):
        pass


def test_A22_what_others_have_said_too_stays_with_the_team(open_memory: Open) -> None:
    store = open_memory("assistant")
    ada, bob = store.for_user("ada"), store.for_user("bob")
    for fact, people in ((PORTS, (ada, bob)), (CACHE, (ada,))):
        for person in people:
            person.propose(fact)
    believed = {one.fact.content: one for one in store.review().list().items}

    receipt = store.erase("ada")

    (left,) = store.review().list().items
    assert left.fact.content == PORTS
    assert left.contributors == 1
    assert left.fact.confidence <= believed[PORTS].fact.confidence
    assert receipt.removed["team_contributions"] == 2
    assert receipt.removed["team_facts"] == 1


def test_A22_only_what_was_told_to_the_team_can_be_erased(open_memory: Open) -> None:
    store = open_memory("assistant")
    live(store)
    ada = store.for_user("ada")
    ada.propose(CACHE)
    before = ada.list().items

    receipt = store.erase("ada", contributions_only=True)

    assert not store.review().list().items
    assert ada.list().items == before
    assert receipt.contributions_only
    assert receipt.removed == {"team_contributions": 1, "team_facts": 1}
    assert receipt.clean
    assert store.erase("ada").removed.get("team_facts") is None


@pytest.mark.feature("A2")
def test_A22_what_is_learned_while_everything_is_forgotten_is_dropped(
    open_memory: Open, model: ModelEndpoint, models: dict[str, Any]
) -> None:
    store = open_memory("assistant", models=models)
    me = store.for_user("ada")
    model.default = says({"operations": [], "facts": []}, delay=0.5)
    said = f"Remember this for the team: {CACHE}"
    turns = [{"role": "user", "content": said}, {"role": "assistant", "content": "I will."}]
    me.learn(turns, "monday")
    assert soon(lambda: bool(model.requests))

    me.forget_everything()  # The scan can meet a proposal before it is withdrawn.
    me.append([{"role": "user", "content": "Hello again."}], "monday")
    store.flush()

    assert not me.list().items
    assert [one.content for one in me.turns("monday")] == ["Hello again."]
    assert not store.review().list().items


@pytest.mark.feature("A2")
def test_A22_an_interrupted_forgetting_is_finished_and_takes_nothing_that_came_later(
    open_memory: Open, clock: ManualClock, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = open_memory("assistant")
    live(store)
    me = store.for_user("ada")
    me.propose(CACHE)
    key = store.create_key("ada", tenant=me.principal.owner.tenant)
    monkeypatch.setattr("remembrancer.erasure.erase.withdraw_contributions", fail)
    with pytest.raises(RuntimeError):
        me.forget_everything()
    monkeypatch.undo()
    me.remember("I have moved to the coast.")
    clock.advance(timedelta(minutes=11))

    store.run_job("tidy")
    store.run_job("tidy")

    assert [one.content for one in me.list().items] == ["I have moved to the coast."]
    assert not store.review().list().items
    assert store.principal_of(key.secret) is not None
    assert not place.startswith("/") or CANARY.encode() not in bytes_of(place)
    assert me.forget_everything().clean
    assert not me.list().items


def fail(*_: object) -> None:
    raise RuntimeError


@pytest.mark.feature("A2")
def test_X4_backups_keep_the_account_of_who_forgets_everything(
    open_memory: Open, tmp_path: Path
) -> None:
    store = open_memory("assistant", store={"path": str(tmp_path / "memory")})
    live(store)
    store.create_key("ada", tenant=store.for_user("ada").principal.owner.tenant)
    store.run_job("backup")
    (backup,) = (tmp_path / "memory" / "backups").glob("*.zip")

    receipt = store.for_user("ada").forget_everything()

    assert receipt.clean
    assert receipt.removed["backups"] == 1
    kept = bytes_below(backup.parent)
    assert CANARY.encode() not in kept
    assert b'"keys"' in kept
    assert store.verify_backup(backup).people == 0


def test_X4_backups_are_rewritten_without_them(open_memory: Open, tmp_path: Path) -> None:
    store = open_memory("assistant", store={"path": str(tmp_path / "memory")})
    live(store)
    bob = store.for_user("bob")
    bob.remember("My rowing boat lies at the north jetty.")
    for person in (store.for_user("ada"), bob):
        person.propose(PORTS)
        person.remember("We meet at the lighthouse on the first of May.")
    store.for_user("ada").propose(CACHE)
    store.run_job("backup")
    (backup,) = (tmp_path / "memory" / "backups").glob("*.zip")
    assert CANARY.encode() in bytes_below(backup.parent)

    receipt = store.erase("ada")

    assert receipt.clean
    assert receipt.removed["backups"] == 1
    rest = bytes_below(backup.parent)
    assert CANARY.encode() not in rest
    assert CACHE.encode() not in rest
    assert PORTS.encode() in rest
    assert b"rowing boat" in rest
    assert store.verify_backup(backup).people == 1


def test_X4_a_backup_from_before_brings_nobody_back(open_memory: Open, tmp_path: Path) -> None:
    store = open_memory("assistant")
    live(store)
    bob = store.for_user("bob")
    bob.remember("My rowing boat lies at the north jetty.")
    for person in (store.for_user("ada"), bob):
        person.propose(PORTS)
    store.for_user("ada").propose(CACHE)
    kept_elsewhere = tmp_path / "elsewhere.zip"
    store.backup(kept_elsewhere)
    store.erase("ada")

    arrived = store.restore_backup(kept_elsewhere, replace=True)

    assert arrived.erased >= 1, "others of the same server may have been erased too"
    owner = store.for_user("ada").principal.owner
    assert owner not in store.owners()
    assert not store.for_user("ada").list().items
    assert [one.content for one in bob.list().items] == ["My rowing boat lies at the north jetty."]
    assert [(one.fact.content, one.contributors) for one in store.review().list().items] == [
        (PORTS, 1)
    ]


def test_A20_whoever_looks_at_a_person_sees_numbers_and_is_seen(open_memory: Open) -> None:
    store = open_memory("assistant")
    live(store)
    review = store.review("eve", capabilities=["users:view"])
    assert review.people() == ("ada",)

    there = review.person("ada")

    assert there.rows["turns"] == 2
    assert CANARY not in repr(there)
    (latest, *_) = store.for_user("ada").activity().items
    assert (latest.action, latest.note) == ("viewed", "by eve, in numbers")
    with pytest.raises(NotFound):
        review.person("nobody")
    assert review.people() == ("ada",)
    with pytest.raises(NotAllowed):
        store.review("eve", capabilities=[])
